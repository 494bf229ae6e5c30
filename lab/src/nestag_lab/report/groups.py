"""Runs that belong together: what a figure or a list of mistakes is about, always in the same order.

Encodings are in the order of the paper, decodings from greedy to constrained, everything else by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from nestag.evaluation.result import Evaluation, Group
from nestag.inspect.tables import Figure, over_seeds
from nestag_lab.experiment.result import RunResult
from nestag_lab.experiment.spec import WAYS
from nestag_lab.paper.runs import in_order

DECODINGS = WAYS
SPLITS = ("test", "dev")


class RunGroup(NamedTuple):
    """Runs of one corpus that differ only in encoding and seed."""

    corpus: str
    encoder: str
    recipe: str


class Method(NamedTuple):
    """How a model writes its labels and how they are read."""

    encoding: str
    decoding: str


def setups(results: Iterable[RunResult]) -> dict[RunGroup, list[RunResult]]:
    """Return the runs of each setup, by name."""
    found: dict[RunGroup, list[RunResult]] = {}
    for result in sorted(results, key=lambda result: result.key):
        key = result.key
        found.setdefault(RunGroup(key.corpus, key.encoder, key.recipe), []).append(result)
    return {setup: found[setup] for setup in sorted(found)}


def title_of(setup: RunGroup, others: Collection[RunGroup]) -> str:
    """Return the name of a setup: its corpus, and whatever else distinguishes it from the others.

    >>> title_of(RunGroup("genia", "minilm", "default"), [RunGroup("genia", "minilm", "paper")])
    'genia · default'
    """
    together = [setup, *others]
    names = [name for place, name in enumerate(setup) if place and len({other[place] for other in together}) > 1]
    return " · ".join([setup.corpus, *names])


def ordered(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return the distinct names, those in `first` at the beginning.

    >>> ordered(["x", "constrained", "greedy-first", "x"], DECODINGS)
    ['greedy-first', 'constrained', 'x']
    """
    return sorted(set(names), key=lambda name: (first.index(name) if name in first else len(first), name))


def encodings(results: Iterable[RunResult]) -> list[str]:
    """Return the encodings of these runs."""
    return list(in_order(result.key.encoding for result in results))


def decodings(results: Iterable[RunResult]) -> list[str]:
    """Return the decodings of these runs."""
    return ordered((way for result in results for found in result.evaluations.values() for way in found), DECODINGS)


def splits(results: Iterable[RunResult]) -> list[str]:
    """Return the splits that these runs were evaluated on."""
    return ordered((split for result in results for split in result.evaluations), SPLITS)


def of_way(results: Iterable[RunResult], split: str, way: Method) -> list[Evaluation]:
    """Return the evaluations of an encoding and decoding, one for each seed."""
    own = (one.evaluations.get(split, {}).get(way.decoding) for one in results if one.key.encoding == way.encoding)
    return [found for found in own if found is not None]


def ways(results: Sequence[RunResult], split: str) -> list[Method]:
    """Return every encoding and decoding that was evaluated."""
    found = [Method(encoding, decoding) for encoding in encodings(results) for decoding in decodings(results)]
    return [way for way in found if of_way(results, split, way)]


def f1(evaluations: Iterable[Evaluation]) -> Figure | None:
    """F1 in percent over seeds, None if there are no runs."""
    return over_seeds(100 * one.overall.f1 for one in evaluations)


def part_f1(evaluations: Iterable[Evaluation], breakdown: str, group: Group) -> Figure | None:
    """F1 in percent of a group of depths or lengths over seeds; None if gold has none of it."""
    scores = [group.score(getattr(one, breakdown)) for one in evaluations]
    return over_seeds(100 * score.f1 for score in scores if score.gold)


def best_way(results: Sequence[RunResult], split: str) -> Method | None:
    """Return the encoding and decoding of the highest mean F1, the first of equals; None if nothing was evaluated."""
    means = {way: spread.value for way in ways(results, split) if (spread := f1(of_way(results, split, way)))}
    return max(means, key=means.__getitem__) if means else None
