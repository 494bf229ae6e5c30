"""Runs an experiment from its grid to its summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from nestag.formats.files import writing
from nestag.inspect.tables import duration
from nestag_lab.experiment.facts import read_facts
from nestag_lab.experiment.grid import Grid, load_grid
from nestag_lab.experiment.plan import ExperimentPlan, plan_of
from nestag_lab.experiment.result import Key, RunResult, read_results, write_wanted
from nestag_lab.experiment.runner import Ended, TaskOutcome, Watch, run_plan
from nestag_lab.experiment.spec import GRID, make_folder

Tell = Callable[[str], None]
"""Where lines for a person go."""


@dataclass(frozen=True)
class Request:
    """The arguments of an experiment."""

    grid: str  # a file
    folder: str  # of the experiment
    at_once: int = 1  # concurrent runs
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
    ended = run_plan(plan, request.at_once, request.cpu, _reporter(len(plan.finished), len(plan.specs), tell))
    for line in closing(ended):
        tell(line)
    return Conducted(130 if ended.stopped else 1 if ended.failures or ended.taken else 0, plan.results())


def print_estimate(request: Request, tell: Tell) -> None:
    """Print how many runs there are and how long they may take; nothing is run."""
    plan = plan_of(load_grid(request.grid), request.folder, request.only)
    tell(standing(plan))
    seconds = [time for time in expected_seconds(plan) if time is not None]
    if seconds:
        tell(
            f"{len(seconds)} of them take about {duration(sum(seconds))}, one after another, as finished runs here did"
        )
    if unknown := len(plan.left) - len(seconds):
        tell(f"no estimate for {unknown}: no run with the same corpus, encoder and recipe is finished")


def expected_seconds(plan: ExperimentPlan) -> list[float | None]:
    """Return how long each run that is left takes: the mean of those that differ in encoding and seed alone."""
    taken: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for result in read_results(plan.root) if plan.root.is_dir() else []:
        taken[_kind(result.key)].append(result.seconds)
    return [fmean(taken[_kind(spec.key)]) if _kind(spec.key) in taken else None for spec in plan.left]


def _kind(key: Key) -> tuple[str, str, str]:
    return key.corpus, key.encoder, key.recipe


def _keep(grid: Grid, root: Path) -> None:
    """Copy the grid into the folder of the experiment, and the runs it asks for."""
    make_folder(root)
    text = Path(grid.source).read_text(encoding="utf-8")
    with writing(root / GRID) as stream:
        stream.write(text)
    write_wanted((spec.key for spec in grid.runs(root)), root)


def standing(plan: ExperimentPlan) -> str:
    """Return the state of an experiment, in one line."""
    interrupted, total = len(plan.interrupted), len(plan.specs)
    return (
        f"{total} run{'s' * (total != 1)}: {len(plan.finished)} finished, {interrupted} interrupted,"
        f" {len(plan.left) - interrupted} to begin"
    )


def _reporter(done: int, total: int, tell: Tell) -> Watch:
    """Return what prints a line for each task that ends, with its number."""
    numbers = count(done + 1)

    def report(outcome: TaskOutcome | None) -> None:
        if outcome is None:
            tell("stopping: runs save their state; interrupt again to stop at once")
            return
        if outcome.how == "finished" and outcome.task.facts:
            for line in _findings(outcome.task.facts):
                tell(line)
        if outcome.how == "stopped" or (outcome.how == "finished" and not outcome.result):
            return
        number = f"{next(numbers)}/{total} " if outcome.task.spec and outcome.how != "taken" else ""
        tell(f"{number}{outcome.task.title}: {_how(outcome)} ({duration(outcome.seconds)})")

    return report


def _findings(file: Path) -> list[str]:
    """Return the warnings from reading a corpus."""
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
    """Return the lines printed at the end."""
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
