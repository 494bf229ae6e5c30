"""Differences between models and decoding methods, with intervals and significance tests.

Each bootstrap draw takes seeds and documents (or sentences) with replacement, the same for both models, and computes
the mean difference in F1. The interval therefore covers both other seeds and other test sets. The p value is from
approximate randomization: the predictions for whole documents or sentences are swapped between the models, for all
seeds together. `holm` corrects for the number of comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Floats, Ints
from nestag.evaluation.evaluator import FEWEST_DOCUMENTS
from nestag.evaluation.result import Interval
from nestag.evaluation.significance import AT_ONCE, DRAWS, SWAPS, WITHIN, chance, unit_draws
from nestag.inspect.tables import Figure, Row, Section, Table
from nestag_lab.experiment.pack import Pack
from nestag_lab.experiment.result import Key
from nestag_lab.experiment.spec import GREEDY, WAYS
from nestag_lab.paper.runs import in_order

COLUMNS = ("first", "second", "of", "seeds", "drawn", "difference", "low", "high", "p", "p corrected")


class ComparedModel(NamedTuple):
    """A model and how it is decoded."""

    corpus: str
    encoder: str
    recipe: str
    encoding: str
    way: str


class Compared(NamedTuple):
    """Two models and their difference."""

    first: ComparedModel
    second: ComparedModel
    found: Difference
    documents: bool  # whether documents were drawn


def differences_table(pack: Pack) -> Table:
    """Return the differences between constrained and greedy decoding, and between dyn and rel."""
    compared = list(comparisons(pack))
    corrected = holm([one.found.p for one in compared])
    sections: dict[str, list[Row]] = {}
    for one, p in zip(compared, corrected, strict=True):
        sections.setdefault(f"{one.first.corpus}: {one.first.encoder}, {one.first.recipe}", []).append(_row(one, p))
    parts = tuple(Section(title, tuple(rows)) for title, rows in sections.items())
    return Table("Differences in F1 on test", COLUMNS, parts, NOTE)


NOTE = (
    "F1 of the first minus F1 of the second, in points: the mean over seeds ± sample deviation, with a 95% bootstrap"
    " interval over seeds and documents (sentences if there are fewer than five documents). p is from approximate"
    " randomization over the same units. The corrected p is Holm's over all rows of this table. A large p does not mean"
    " that two models are equal; the interval shows how far apart they may be."
)


def comparisons(pack: Pack) -> Iterator[Compared]:
    """Yield all comparisons, in a fixed order."""
    setups = sorted({(key.corpus, key.encoder, key.recipe) for key in pack.counts})
    for setup in setups:
        keys = [key for key in pack.counts if (key.corpus, key.encoder, key.recipe) == setup]
        encodings = in_order(key.encoding for key in keys)
        for encoding in encodings:
            for over in GREEDY:
                yield from _compared(
                    pack, ComparedModel(*setup, encoding, "constrained"), ComparedModel(*setup, encoding, over)
                )
        for way in WAYS:
            yield from _compared(pack, ComparedModel(*setup, "dyn", way), ComparedModel(*setup, "rel", way))


def _compared(pack: Pack, first: ComparedModel, second: ComparedModel) -> Iterator[Compared]:
    """Compare two models, if they have runs with equal seeds."""
    seeds = sorted(_seeds(pack, first) & _seeds(pack, second))
    if not seeds:
        return
    gold = pack.gold[first.corpus]
    counts = [_counts(pack, side, seeds) for side in (first, second)]
    documents = len(np.unique(gold.documents)) >= FEWEST_DOCUMENTS
    if documents:
        counts = [one.by_document(gold.documents) for one in counts]
    yield Compared(first, second, difference(*counts), documents)


def _seeds(pack: Pack, side: ComparedModel) -> set[int]:
    model = (side.corpus, side.encoder, side.encoding, side.recipe)
    return {key.seed for key, ways in pack.counts.items() if key[:4] == model and side.way in ways}


def _counts(pack: Pack, side: ComparedModel, seeds: Sequence[int]) -> UnitCounts:
    """Return the counts of a side, one row a seed."""
    keys = [Key(side.corpus, side.encoder, side.encoding, side.recipe, seed) for seed in seeds]
    found = [pack.counts[key][side.way] for key in keys]
    correct, predicted = (np.stack([one[part] for one in found]) for part in range(2))
    return UnitCounts(correct, predicted, pack.gold[side.corpus].gold)


def _row(one: Compared, corrected: float) -> Row:
    first, second, found = one.first, one.second, one.found
    ways = first.way != second.way
    names = (first.way, second.way, first.encoding) if ways else (first.encoding, second.encoding, first.way)
    drawn = f"{found.units:,} {'documents' if one.documents else 'sentences'}"
    deviation = None if found.deviation is None else 100 * found.deviation
    mean = Figure(100 * found.mean, deviation, found.seeds, "+.2f")
    ends = (Figure(100 * end, form="+.2f") for end in found.interval)
    return (*names, found.seeds, drawn, mean, *ends, Figure(found.p, form=".4f"), Figure(corrected, form=".4f"))


class UnitCounts(NamedTuple):
    """The counts of a model in every document or sentence, one row a seed."""

    correct: Ints  # seeds x units
    predicted: Ints  # seeds x units
    gold: Ints  # units

    def f1(self) -> Floats:
        """Return the F1 of each seed."""
        return _f1(self.correct.sum(axis=1), self.predicted.sum(axis=1), self.gold.sum())

    def by_document(self, documents: Ints) -> UnitCounts:
        """Return the counts by document; documents are numbered from 0."""
        count = int(documents.max(initial=-1)) + 1
        return UnitCounts(*(_grouped(values, documents, count) for values in self))


class Difference(NamedTuple):
    """How much better one model is than another, in F1."""

    mean: float  # over seeds
    deviation: float | None  # of a sample, None with one seed
    interval: Interval
    p: float  # never 0
    seeds: int
    units: int  # documents or sentences drawn


def difference(first: UnitCounts, second: UnitCounts) -> Difference:
    """Compare two models with the same seeds on the same documents or sentences.

    >>> gold = np.ones(40, dtype=int)
    >>> right, wrong = (UnitCounts(np.full((2, 40), c), np.ones((2, 40), dtype=int), gold) for c in (1, 0))
    >>> difference(right, wrong).p < 0.001
    True
    """
    gaps = first.f1() - second.f1()
    drawn = _drawn(first, second)
    low, high = np.percentile(drawn, WITHIN).tolist()
    as_large = int((np.abs(_swapped(first, second)) >= abs(gaps.mean()) - 1e-12).sum())
    deviation = float(gaps.std(ddof=1)) if len(gaps) > 1 else None
    return Difference(
        float(gaps.mean()), deviation, Interval(low, high), chance(as_large, SWAPS), len(gaps), len(first.gold)
    )


def holm(chances: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(chances)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = highest
    return corrected


def _drawn(first: UnitCounts, second: UnitCounts) -> Floats:
    """Return the mean difference over the seeds of each draw."""
    seeds, units = first.correct.shape
    chosen = np.random.default_rng(1).integers(seeds, size=(DRAWS, seeds))
    times = unit_draws(units).astype(np.float64)  # draws x units
    gold = (times @ first.gold)[:, None]
    one, two = (_f1(times @ counts.correct.T, times @ counts.predicted.T, gold) for counts in (first, second))
    found: Floats = np.take_along_axis(one - two, chosen, axis=1).mean(axis=1)
    return found


def _swapped(first: UnitCounts, second: UnitCounts) -> Floats:
    """Return the mean differences after random swaps of the answers to each unit."""
    rng = np.random.default_rng(0)
    gold = first.gold.sum()
    changed = (first.correct != second.correct) | (first.predicted != second.predicted)
    some = changed.any(axis=0)  # swapping equal answers changes nothing
    moves = [(two - one)[:, some].T.astype(float) for one, two in zip(first[:2], second[:2], strict=True)]
    found = []
    for _ in range(0, SWAPS, AT_ONCE):
        swap = rng.integers(2, size=(AT_ONCE, int(some.sum()))).astype(float)
        correct, predicted = (swap @ move for move in moves)  # swaps x seeds
        one = _f1(first.correct.sum(axis=1) + correct, first.predicted.sum(axis=1) + predicted, gold)
        two = _f1(second.correct.sum(axis=1) - correct, second.predicted.sum(axis=1) - predicted, gold)
        found.append((one - two).mean(axis=1))
    return np.concatenate(found)


def _f1(correct: NDArray[Any], predicted: NDArray[Any], gold: Any) -> Floats:
    """Return F1, or 0 if there is nothing to find and nothing found."""
    whole: Floats = (predicted + gold).astype(np.float64)
    return np.divide(2.0 * correct, whole, out=np.zeros_like(whole), where=whole > 0)


def _grouped(values: Ints, documents: Ints, count: int) -> Ints:
    """Return the sums over the sentences of each document, along the last axis."""
    sums = np.zeros((count, *values.shape[:-1]), dtype=np.int64)
    np.add.at(sums, documents, np.moveaxis(values, -1, 0))
    return np.moveaxis(sums, 0, -1)
