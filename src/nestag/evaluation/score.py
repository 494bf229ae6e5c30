"""Scores: strict precision, recall and F1 over sets of (span, type)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from statistics import fmean, pstdev
from typing import NamedTuple

from nestag.data import Entity


class Score(NamedTuple):
    """Counts of a group of entities, and what follows from them; a share of nothing is 0.

    `correct` counts on the side of the prediction and `found` on the side of gold. They differ only in groups that an
    entity belongs to by what stands around it: it may lie at depth 1 in the prediction and at 0 in gold.

    >>> Score.of(correct=3, predicted=4, gold=6).f1
    0.6
    """

    correct: int = 0  # entities predicted in the group that are gold
    predicted: int = 0  # entities predicted in the group
    gold: int = 0  # entities of the group
    found: int = 0  # entities of the group that were predicted

    @classmethod
    def of(cls, correct: int, predicted: int, gold: int) -> Score:
        """The score of a group that an entity belongs to wherever it stands."""
        return cls(correct, predicted, gold, correct)

    @property
    def precision(self) -> float:
        """Of the entities predicted, the share that is right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Of the entities there are, the share that was found."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, rounded once, so that equal ones are equal."""
        both = self.correct * self.gold + self.found * self.predicted
        return 2 * self.correct * self.found / both if both else 0.0


def total(scores: Iterable[Score]) -> Score:
    """Groups put together.

    >>> total([Score.of(1, 2, 3), Score.of(4, 5, 6)])
    Score(correct=5, predicted=7, gold=9, found=5)
    """
    return Score(*map(sum, zip(Score(), *scores, strict=True)))


class Means(NamedTuple):
    """Precision, recall and F1 as means over types (macro averages)."""

    precision: float
    recall: float
    f1: float


def macro(types: Mapping[str, Score]) -> Means:
    """The mean over all types, whether of gold or only predicted.

    >>> macro({"A": Score.of(1, 1, 1), "B": Score.of(0, 1, 1)}).f1
    0.5
    """
    scores = types.values() or (Score(),)
    return Means(fmean(s.precision for s in scores), fmean(s.recall for s in scores), fmean(s.f1 for s in scores))


class Spread(NamedTuple):
    """How F1 differs between types, as the paper's table of types says it."""

    best_type: str
    worst_type: str
    mean: float
    deviation: float  # of all types, not of a sample


def spread(types: Mapping[str, Score]) -> Spread | None:
    """The best and worst type, and mean and deviation of F1 over the gold types; None if there are none.

    >>> spread({"A": Score.of(1, 1, 1), "B": Score.of(0, 1, 1), "C": Score.of(0, 1, 0)})
    Spread(best_type='A', worst_type='B', mean=0.5, deviation=0.5)
    """
    found = {kind: types[kind].f1 for kind in sorted(types) if types[kind].gold}
    if not found:
        return None
    values = found.values()
    return Spread(max(found, key=found.__getitem__), min(found, key=found.__getitem__), fmean(values), pstdev(values))


def by_type(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> dict[str, Score]:
    """The score of each type, sentence by sentence; order and duplicates do not matter."""
    correct: Counter[str] = Counter()
    guesses: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for right, guessed in zip(map(set, gold), map(set, predicted), strict=True):
        correct.update(entity.type for entity in right & guessed)
        guesses.update(entity.type for entity in guessed)
        wanted.update(entity.type for entity in right)
    return {kind: Score.of(correct[kind], guesses[kind], wanted[kind]) for kind in sorted(wanted | guesses)}


def score(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> Score:
    """The score of all types together.

    >>> score([[Entity(0, 1, "A"), Entity(0, 2, "B")]], [[Entity(0, 2, "B")]]).recall
    0.5
    """
    return total(by_type(gold, predicted).values())
