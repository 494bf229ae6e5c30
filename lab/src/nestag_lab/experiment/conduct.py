"""Runs an experiment from its grid to its summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nestag.evaluation.result import over_seeds
from nestag.formats.files import writing
from nestag.inspect.tables import duration
from nestag_lab.experiment.estimate import Estimate, estimate
from nestag_lab.experiment.facts import read_facts
from nestag_lab.experiment.grid import Grid, load_grid
from nestag_lab.experiment.outcome import Ended, TaskOutcome
from nestag_lab.experiment.plan import ExperimentPlan, plan_of
from nestag_lab.experiment.result import RunResult, write_wanted
from nestag_lab.experiment.runner import Observer, run_plan
from nestag_lab.experiment.spec import make_folder

GRID = "grid.toml"
Tell = Callable[[str], None]
"""Where lines for a person go."""


@dataclass(frozen=True)
class Request:
    """The arguments of an experiment."""

    grid: str  # a file
    folder: str  # of the experiment
    at_once: int = 1  # runs side by side
    cpu: bool = False  # whether to leave GPUs alone
    only: str = ""  # words that the titles of runs must have


class Conducted(NamedTuple):
    """The outcome of an experiment."""

    code: int  # 0 all is finished, 1 something failed or is done elsewhere, 130 it was stopped
    results: list[RunResult]


def conduct(request: Request, tell: Tell) -> Conducted:
    """Run what is left of an experiment, with a line of progress for each run."""
    grid = load_grid(request.grid)
    plan = plan_of(grid, request.folder, request.only)
    _keep(grid, plan.root)
    tell(standing(plan))
    ended = run_plan(plan, request.at_once, request.cpu, _Counting(len(plan.finished), len(plan.specs), tell))
    for line in closing(ended):
        tell(line)
    return Conducted(130 if ended.stopped else 1 if ended.failures or ended.taken else 0, plan.results())


def print_estimate(request: Request, tell: Tell) -> None:
    """Print how many runs there are and how long they may take; nothing is run."""
    plan = plan_of(load_grid(request.grid), request.folder, request.only)
    tell(standing(plan))
    if not plan.left:
        return
    found = estimate(plan, request.cpu)
    tell(f"about {duration(found.seconds)}, one run after another: {_basis(found)}")
    side_by_side = min(request.at_once, len(plan.left))
    if side_by_side > 1:
        least = duration(found.seconds / side_by_side)
        tell(f"{side_by_side} at once take {least} at the very least: runs side by side slow each other")


def _basis(found: Estimate) -> str:
    """What an estimate is based on, in words."""
    ways = {"as finished runs here took": found.from_runs, "by timing a few steps": found.from_probes}
    return "; ".join(f"{', '.join(map(' '.join, kinds))} {way}" for way, kinds in ways.items() if kinds)


def _keep(grid: Grid, root: Path) -> None:
    """Copy the grid into the folder of the experiment, and the runs it asks for."""
    make_folder(root)
    text = Path(grid.source).read_text(encoding="utf-8")
    with writing(root / GRID) as stream:
        stream.write(text)
    write_wanted((spec.key for spec in grid.runs(root)), root)


def standing(plan: ExperimentPlan) -> str:
    """Where an experiment stands, in one line."""
    interrupted, total = len(plan.interrupted), len(plan.specs)
    return (
        f"{total} run{'s' * (total != 1)}: {len(plan.finished)} finished, {interrupted} interrupted,"
        f" {len(plan.left) - interrupted} to begin"
    )


class _Counting(Observer):
    """A line for each task that ends, with its number."""

    def __init__(self, done: int, total: int, tell: Tell) -> None:
        self.done, self.total, self.tell = done, total, tell

    def ended(self, outcome: TaskOutcome) -> None:
        """Tell how it ended, unless there is nothing to say."""
        if outcome.how == "finished" and outcome.task.facts:
            for line in _findings(outcome.task.facts):
                self.tell(line)
        if outcome.how == "stopped" or (outcome.how == "finished" and not outcome.result):
            return
        number = ""
        if outcome.task.spec and outcome.how != "taken":
            self.done += 1
            number = f"{self.done}/{self.total} "
        self.tell(f"{number}{outcome.task.title}: {_how(outcome)} ({duration(outcome.seconds)})")

    def stopping(self) -> None:
        """Say why stopping takes a moment."""
        self.tell("stopping: runs save where they are; interrupt once more not to wait for that")


def _findings(file: Path) -> list[str]:
    """What reading a corpus set aside, widened or merged."""
    facts = read_facts(file)
    return [f"{facts.corpus} {split}: {line}" for split, lines in facts.findings.items() for line in lines]


def _how(outcome: TaskOutcome) -> str:
    if outcome.result:
        return f"test F1 {100 * _best_known(outcome.result):.2f}"
    return f"FAILED: {outcome.reason}" if outcome.how == "failed" else "another process is doing it"


def _best_known(result: RunResult) -> float:
    """F1 on test with constrained decoding, or with the one there is."""
    found = result.evaluations["test"]
    return (found.get("constrained") or next(iter(found.values()))).overall.f1


def closing(ended: Ended) -> list[str]:
    """The lines printed at the end."""
    lines = [
        f"failed: {outcome.task.title}: {outcome.reason}; see {outcome.task.log.parent}" for outcome in ended.failures
    ]
    if ended.failures:
        lines.append("fix the cause, then run the same command to try them again")
    lines += [f"not finished: {outcome.task.title}: another process is doing it" for outcome in ended.taken]
    if ended.taken:
        lines.append("run the same command later to see their results")
    if ended.stopped:
        lines.append("stopped; the same command resumes each run from its last checkpoint")
    return lines


class Mean(NamedTuple):
    """F1 on test of the runs that differ by their seeds alone, in percent."""

    corpus: str
    encoder: str
    encoding: str
    recipe: str
    decoding: str
    seeds: int
    f1: float
    deviation: float | None  # of a sample; None with a single seed


def means(results: Sequence[RunResult]) -> list[Mean]:
    """F1 on test over seeds, in a fixed order."""
    values: dict[tuple[str, str, str, str, str], list[float]] = defaultdict(list)
    for result in results:
        for decoding, evaluation in result.evaluations["test"].items():
            values[(*result.key[:4], decoding)].append(100 * evaluation.overall.f1)
    found = {names: over_seeds(same) for names, same in sorted(values.items())}
    return [Mean(*names, one.seeds, one.mean, one.deviation) for names, one in found.items() if one]
