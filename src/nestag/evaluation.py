"""Scores: strict precision, recall and F1 over sets of (span, type)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from nestag.data import Entity


class Score(NamedTuple):
    """Counts, and what follows from them; a share of nothing is 0.

    >>> Score(correct=3, predicted=4, gold=6).f1
    0.6
    """

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        """Of the entities predicted, the share that is right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Of the entities there are, the share that was found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.correct / (self.predicted + self.gold) if self.predicted + self.gold else 0.0


def by_type(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> dict[str, Score]:
    """The score of each type, sentence by sentence; order and duplicates do not matter."""
    correct: Counter[str] = Counter()
    guesses: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for right, guessed in zip(map(set, gold), map(set, predicted), strict=True):
        correct.update(entity.type for entity in right & guessed)
        guesses.update(entity.type for entity in guessed)
        wanted.update(entity.type for entity in right)
    return {kind: Score(correct[kind], guesses[kind], wanted[kind]) for kind in sorted(wanted | guesses)}


def score(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> Score:
    """The score of all types together.

    >>> score([[Entity(0, 1, "A"), Entity(0, 2, "B")]], [[Entity(0, 2, "B")]]).recall
    0.5
    """
    types = by_type(gold, predicted).values()
    return Score(*(sum(counts) for counts in zip(*types, strict=True))) if types else Score()
