"""Confidence thresholds for a goal, chosen on sentences with gold entities, and calibration.

A lower threshold finds more entities and more wrong ones. Given every candidate with its confidence, each threshold has
a precision, a recall and an F1, and a goal names one of them.

Thresholds that are best on a small corpus are not best on the next one, so they are shrunk. The F1 of a threshold is
computed as if `PRIOR` more gold entities had been seen that agree with the confidences. The threshold of a type moves
towards the overall threshold, the more the fewer examples it has; types with fewer than `FEWEST` have none.

Calibration compares confidences with results: of the entities with a confidence near p, the share p should be correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Floats, Ints
from nestag.evaluation.result import Score, total

FEWEST = 50
"""Gold entities that a type needs for its own threshold."""

PRIOR = 2_000
TYPE_PRIOR = 1_000
"""Weights of confidences and of the overall threshold, in gold entities."""


class Candidate(NamedTuple):
    """An entity that a model considers possible: its type, its confidence, and whether it is in gold."""

    type: str
    confidence: float
    right: bool


@dataclass(frozen=True)
class Goal:
    """The best F1, or the best recall at a minimum precision, or the best precision at a minimum recall."""

    precision: float | None = None
    recall: float | None = None

    @property
    def bound(self) -> tuple[str, float]:
        """The figure that has a minimum, and its minimum."""
        if self.precision is not None:
            return "precision", self.precision
        return ("recall", self.recall) if self.recall is not None else ("f1", 0.0)

    @property
    def maximized(self) -> str:
        """The figure to maximize."""
        return {"precision": "recall", "recall": "precision", "f1": "f1"}[self.bound[0]]

    def __str__(self) -> str:
        figure, minimum = self.bound
        return "best F1" if figure == "f1" else f"{figure} of at least {100 * minimum:g}%"


class Point(NamedTuple):
    """A threshold, and the counts of the candidates that reach it."""

    threshold: float
    score: Score


@dataclass(frozen=True)
class Curve:
    """Precision and recall at every threshold, from the highest confidence to the lowest."""

    thresholds: Floats  # falling
    predicted: Ints
    right: Ints
    expected: Floats  # the sum of the confidences
    gold: int

    @classmethod
    def of(cls, candidates: Iterable[Candidate], gold: int) -> Curve:
        """Return the curve of candidates; `gold` counts all gold entities.

        >>> curve = Curve.of([Candidate("PER", 0.9, True), Candidate("PER", 0.4, False)], gold=2)
        >>> curve.point(0).score.precision, curve.point(1).score.precision
        (1.0, 0.5)
        """
        rows = sorted(candidates, key=lambda row: -row.confidence)
        confidence = np.array([row.confidence for row in rows], dtype=np.float64)
        right = np.cumsum(np.array([row.right for row in rows], dtype=np.int64))
        last = np.flatnonzero(np.append(confidence[:-1] != confidence[1:], [True] * bool(rows)))
        return cls(confidence[last], last + 1, right[last], np.cumsum(confidence)[last], gold)

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def precision(self) -> Floats:
        """The precision at each threshold."""
        return self.right / np.maximum(1, self.predicted)

    @property
    def recall(self) -> Floats:
        """The recall at each threshold."""
        return self.right / max(1, self.gold)

    @property
    def f1(self) -> Floats:
        """The F1 at each threshold."""
        return 2 * self.right / np.maximum(1, self.predicted + self.gold)

    @property
    def likely_f1(self) -> Floats:
        """The F1 to expect on other sentences at each threshold."""
        right = (self.gold * self.right + PRIOR * self.expected) / max(1, self.gold + PRIOR)
        return 2 * right / np.maximum(1, self.predicted + self.gold)

    def point(self, place: int) -> Point:
        """Return the threshold at a place."""
        score = Score.of(int(self.right[place]), int(self.predicted[place]), self.gold)
        return Point(float(self.thresholds[place]), score)

    def best_point(self, goal: Goal, floor: float = 0.0) -> Point | None:
        """Return the best threshold for the goal, None if no threshold reaches it.

        It lies half-way to the next candidate below, or to `floor`, the lowest confidence of candidates.
        """
        figure, minimum = goal.bound
        allowed = getattr(self, figure) >= minimum
        if not allowed.any():
            return None
        value = np.where(allowed, self.likely_f1 if goal.maximized == "f1" else getattr(self, goal.maximized), -1.0)
        best = np.flatnonzero(value == value.max())
        return self._between_candidates(int(best[-1 if goal.maximized == "precision" else 0]), floor)

    def nearest(self, goal: Goal, floor: float = 0.0) -> Point | None:
        """Return the best threshold for the goal, or the one nearest to it; None without candidates."""
        if not len(self):
            return None
        figure = getattr(self, goal.bound[0])
        last = len(self) - 1 - int(np.argmax(figure[::-1]))  # of equals, the one that finds most
        return self.best_point(goal, floor) or self._between_candidates(last, floor)

    def _between_candidates(self, place: int, floor: float) -> Point:
        """Return a place with a threshold of few digits that keeps its candidates and drops those below."""
        point = self.point(place)
        below = float(self.thresholds[place + 1]) if place + 1 < len(self) else min(floor, point.threshold)
        middle = (below + point.threshold) / 2
        short = round(middle, 4)
        return point._replace(threshold=short if below < short <= point.threshold else middle)

    def limits(self) -> str:
        """Return the highest precision and recall of any threshold, in words."""
        if not len(self):
            return "the model finds nothing"
        return f"precision goes up to {100 * self.precision.max():.2f}%, recall to {100 * self.recall.max():.2f}%"

    def at(self, threshold: float) -> Point:
        """Return the counts at a threshold."""
        place = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        score = self.point(place).score if place >= 0 else Score.of(0, 0, self.gold)
        return Point(threshold, score)


class Thresholds(NamedTuple):
    """The overall threshold, those of single types, and one for all other types."""

    overall: Point
    types: dict[str, Point]
    others: Point

    @property
    def together(self) -> Score:
        """The score with the thresholds of types."""
        return total([*(point.score for point in self.types.values()), self.others.score])


def find_thresholds(
    candidates: Iterable[Candidate], gold: Mapping[str, int], goal: Goal, *, by_type: bool = True, floor: float = 0.0
) -> Thresholds | None:
    """Return the best thresholds for a goal, overall and by type; None if the goal cannot be reached.

    There are no thresholds by type if together they miss the goal, or serve it worse than the overall threshold.
    """
    rows = list(candidates)
    overall = Curve.of(rows, sum(gold.values())).best_point(goal, floor)
    if overall is None:
        return None
    alone = Thresholds(overall, {}, overall)
    thresholds = _by_type(rows, gold, goal, floor, overall) if by_type else alone
    return thresholds if _serves(thresholds.together, goal, overall.score) else alone


def _by_type(
    rows: Sequence[Candidate], gold: Mapping[str, int], goal: Goal, floor: float, overall: Point
) -> Thresholds:
    types: dict[str, Point] = {}
    for kind, count in sorted(gold.items()):
        curve = Curve.of([row for row in rows if row.type == kind], count)
        best = curve.nearest(goal, floor) if count >= FEWEST else None
        if best:
            weight = count / (count + TYPE_PRIOR)
            types[kind] = curve.at(round(weight * best.threshold + (1 - weight) * overall.threshold, 4))
    left = sum(count for kind, count in gold.items() if kind not in types)
    others = Curve.of([row for row in rows if row.type not in types], left)
    return Thresholds(overall, types, others.at(overall.threshold))


def _serves(score: Score, goal: Goal, overall: Score) -> bool:
    """Return whether a score reaches the goal and is at least as good as the overall threshold."""
    (figure, minimum), maximized = goal.bound, goal.maximized
    return bool(getattr(score, figure) >= minimum and getattr(score, maximized) >= getattr(overall, maximized))


BINS = 10


class Bin(NamedTuple):
    """The entities of one tenth of confidence."""

    entities: int = 0
    right: int = 0
    confidence: float = 0.0  # the sum

    @property
    def mean(self) -> float:
        """The mean confidence."""
        return self.confidence / self.entities if self.entities else 0.0

    @property
    def share(self) -> float:
        """The share of entities that are correct."""
        return self.right / self.entities if self.entities else 0.0


@dataclass(frozen=True)
class Calibration:
    """A reliability diagram in ten bins, with the expected calibration error and the Brier score."""

    bins: tuple[Bin, ...]
    brier: float  # the mean squared difference between confidence and correctness

    @property
    def entities(self) -> int:
        """The number of entities."""
        return sum(tenth.entities for tenth in self.bins)

    @property
    def error(self) -> float:
        """The expected calibration error: the mean difference between confidence and the share that is correct."""
        return fsum(abs(tenth.confidence - tenth.right) for tenth in self.bins) / max(1, self.entities)


def calibration(candidates: Iterable[Candidate]) -> Calibration:
    """Sort predicted entities into tenths of confidence.

    >>> rows = [Candidate("PER", 0.95, True), Candidate("PER", 0.95, False), Candidate("GPE", 0.25, False)]
    >>> round(calibration(rows).error, 3), calibration(rows).bins[9].share
    (0.383, 0.5)
    """
    bins = [Bin()] * BINS
    squares = []
    for _, confidence, right in candidates:
        place = min(BINS - 1, int(confidence * BINS))
        old = bins[place]
        bins[place] = Bin(old.entities + 1, old.right + right, old.confidence + confidence)
        squares.append((confidence - right) ** 2)
    return Calibration(tuple(bins), fmean(squares) if squares else 0.0)
