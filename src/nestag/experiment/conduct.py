"""An experiment from its grid to its last line, for whoever starts it: the command line, or `python -m`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from nestag.corpora.files import writing
from nestag.errors import InputError
from nestag.experiment.estimate import Estimate, estimate
from nestag.experiment.grid import load_grid
from nestag.experiment.plan import Plan, plan_of
from nestag.experiment.result import Result
from nestag.experiment.runner import Ended, Outcome, run_plan

GRID = "grid.toml"
Tell = Callable[[str], None]
"""Where lines for a person go."""


@dataclass(frozen=True)
class Wish:
    """What is asked for."""

    grid: str  # a file
    folder: str  # of the experiment
    at_once: int = 1  # runs side by side
    cpu: bool = False  # whether to leave GPUs alone
    only: str = ""  # words that the titles of runs must have


class Conducted(NamedTuple):
    """What came of it."""

    code: int  # 0 all went well, 1 something failed, 130 it was stopped
    results: list[Result]


def conduct(wish: Wish, tell: Tell) -> Conducted:
    """Do what is left of an experiment; a line is told for each run that ends."""
    plan = plan_of(load_grid(wish.grid), wish.folder, wish.only)
    _keep_grid(wish)
    tell(standing(plan))
    watch = _Counting(len(plan.finished), len(plan.specs), tell)
    ended = run_plan(plan, wish.at_once, wish.cpu, watch)
    for line in closing(ended):
        tell(line)
    return Conducted(130 if ended.stopped else 1 if ended.failures else 0, plan.results())


def foretell(wish: Wish, tell: Tell) -> None:
    """Tell how many runs there are and how long they may take; nothing is done."""
    plan = plan_of(load_grid(wish.grid), wish.folder, wish.only)
    tell(standing(plan))
    if not plan.left:
        return
    found = estimate(plan, wish.cpu)
    tell(f"about {duration(found.seconds)} of training, one run after another: {_basis(found)}")
    if wish.at_once > 1:
        least = duration(found.seconds / wish.at_once)
        tell(f"{wish.at_once} at once take {least} at the very least: runs side by side slow each other")


def _basis(found: Estimate) -> str:
    """What an estimate is based on, in words."""
    ways = {"as finished runs here took": found.from_runs, "by timing a few steps": found.from_probes}
    return "; ".join(f"{', '.join(map(' '.join, kinds))} {way}" for way, kinds in ways.items() if kinds)


def _keep_grid(wish: Wish) -> None:
    """Copy the grid into the folder of the experiment."""
    try:
        Path(wish.folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror}); choose another", wish.folder) from None
    text = Path(wish.grid).read_text(encoding="utf-8")
    with writing(Path(wish.folder) / GRID) as stream:
        stream.write(text)


def standing(plan: Plan) -> str:
    """Where an experiment stands, in one line."""
    interrupted, total = len(plan.interrupted), len(plan.specs)
    return (
        f"{total} run{'s' * (total != 1)}: {len(plan.finished)} finished, {interrupted} interrupted,"
        f" {len(plan.left) - interrupted} to begin"
    )


class _Counting:
    """A line for each task that ends, with its number."""

    def __init__(self, done: int, total: int, tell: Tell) -> None:
        self.done, self.total, self.tell = done, total, tell

    def __call__(self, outcome: Outcome) -> None:
        if outcome.how == "stopped" or (outcome.how == "finished" and not outcome.result):
            return
        self.done += outcome.task.spec is not None
        number = f"{self.done}/{self.total} " if outcome.task.spec else ""
        self.tell(f"{number}{outcome.task.title}: {_how(outcome)} ({duration(outcome.seconds)})")


def _how(outcome: Outcome) -> str:
    if outcome.result:
        return f"test F1 {100 * _best_known(outcome.result):.2f}"
    return f"FAILED: {outcome.reason}" if outcome.how == "failed" else "another process is doing it"


def _best_known(result: Result) -> float:
    """F1 on test with legal decoding, or with the one there is."""
    found = result.evaluations["test"]
    return (found.get("legal") or next(iter(found.values()))).overall.f1


def closing(ended: Ended) -> list[str]:
    """What is to be said at the end."""
    lines = [
        f"failed: {outcome.task.title}: {outcome.reason}; see {outcome.task.log.parent}" for outcome in ended.failures
    ]
    if ended.failures:
        lines.append("the same command tries them again, once what was wrong is mended")
    if ended.stopped:
        lines.append("stopped; every run has saved itself, and the same command goes on where they stopped")
    return lines


class Mean(NamedTuple):
    """F1 on test of the runs that differ by their seeds alone."""

    corpus: str
    encoder: str
    encoding: str
    recipe: str
    decoding: str
    seeds: int
    f1: float  # in percent
    deviation: float | None  # of a sample; None of one


def means(results: Sequence[Result]) -> list[Mean]:
    """F1 on test over seeds, in a fixed order."""
    found: dict[tuple[str, str, str, str, str], list[float]] = defaultdict(list)
    for result in results:
        for decoding, evaluation in result.evaluations["test"].items():
            found[(*result.key[:4], decoding)].append(100 * evaluation.overall.f1)
    return [
        Mean(*names, len(values), fmean(values), stdev(values) if len(values) > 1 else None)
        for names, values in sorted(found.items())
    ]


def duration(seconds: float) -> str:
    """A time in words, the two largest units of it.

    >>> duration(3.24), duration(123), duration(7_380)
    ('3 s', '2 min 3 s', '2 h 3 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"
