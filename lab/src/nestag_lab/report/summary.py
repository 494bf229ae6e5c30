"""What was run: the first lines of a report, and the best score of each setup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from nestag.inspect.tables import duration
from nestag_lab.experiment.result import RESULT, RunResult
from nestag_lab.paper.runs import size_of
from nestag_lab.report.groups import Method, best_way, decodings, encodings, f1, of_way, setups, title_of


class Fact(NamedTuple):
    """A line of the summary."""

    name: str
    text: str


class BestMethod(NamedTuple):
    """The best encoding and decoding of a setup, by mean F1."""

    title: str
    way: Method
    mean: float
    deviation: float
    seeds: int


class Times(NamedTuple):
    """When the first and the last run were finished."""

    first: datetime
    last: datetime


def times(folder: str | Path) -> Times | None:
    """Taken from the files of the results; None if there are none."""
    found = sorted(file.stat().st_mtime for file in Path(folder).glob(f"runs/*/*/*/*/*/{RESULT}"))
    return Times(*(datetime.fromtimestamp(found[place], UTC) for place in (0, -1))) if found else None


def facts(results: Sequence[RunResult], when: Times | None) -> list[Fact]:
    """What was run, where, with what and when."""
    found = [
        Fact("runs", f"{len(results):,}"),
        Fact("corpora", _names(result.key.corpus for result in results)),
        Fact("encoders", ", ".join(_encoders(results))),
        Fact("encodings", ", ".join(encodings(results))),
        Fact("decodings", ", ".join(decodings(results))),
        Fact("recipes", _names(result.key.recipe for result in results)),
        Fact("seeds", ", ".join(map(str, sorted({result.key.seed for result in results})))),
        Fact("trained on", _names(result.device for result in results)),
        Fact("training time", f"{duration(sum(result.seconds for result in results))} in all"),
        Fact("versions", ", ".join(_versions(results))),
    ]
    if when:
        found.append(Fact("finished", _when(when)))
    return found


def best_methods(results: Sequence[RunResult], split: str) -> list[BestMethod]:
    """The best of each setup."""
    found = []
    groups = setups(results)
    for setup, runs in groups.items():
        way = best_way(runs, split)
        spread = f1(of_way(runs, split, way)) if way else None
        if way and spread:
            found.append(BestMethod(title_of(setup, groups), way, spread.mean, spread.deviation or 0.0, spread.seeds))
    return found


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def _encoders(results: Sequence[RunResult]) -> list[str]:
    """Each encoder with the size of its models."""
    names = sorted({result.key.encoder for result in results})
    return [
        f"{name} ({size_of([result.parameters for result in results if result.key.encoder == name])} parameters)"
        for name in names
    ]


def _versions(results: Sequence[RunResult]) -> list[str]:
    """Every library with all versions that were used."""
    found: dict[str, set[str]] = {}
    for result in results:
        for library, version in result.versions.items():
            found.setdefault(library, set()).add(version)
    return [f"{library} {' and '.join(sorted(versions))}" for library, versions in sorted(found.items())]


def _when(when: Times) -> str:
    first, last = (f"{time:%Y-%m-%d %H:%M}" for time in when)
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"
