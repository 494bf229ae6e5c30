"""Confidence thresholds that serve a goal best, found on sentences with their true entities, and calibration.

A lower threshold finds more entities and more wrong ones. Given every candidate with its probability, each threshold
has a precision, a recall and an F1, and a goal names one of them. Calibration compares confidences with results: of the
entities predicted with a confidence near p, the share p should be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.evaluation.result import Score, total

FEWEST = 20
"""True entities that a type needs for a threshold of its own; with fewer it would be a matter of luck."""


class Candidate(NamedTuple):
    """An entity that a model holds possible: its type, how probable it is, and whether it is true."""

    type: str
    confidence: float
    right: bool


@dataclass(frozen=True)
class Goal:
    """What is wanted: the best F1, or the best of the other figure where one has at least a given value."""

    precision: float | None = None
    recall: float | None = None

    def __str__(self) -> str:
        if self.precision is not None:
            return f"precision of at least {100 * self.precision:g} %"
        return f"recall of at least {100 * self.recall:g} %" if self.recall is not None else "best F1"


class Point(NamedTuple):
    """A threshold, and the counts of the entities that are at least as probable."""

    threshold: float
    score: Score


@dataclass(frozen=True)
class Curve:
    """Precision and recall at every threshold, from the surest candidate to the least sure."""

    thresholds: NDArray[np.float64]  # falling
    predicted: NDArray[np.int64]
    right: NDArray[np.int64]
    gold: int

    @classmethod
    def of(cls, candidates: Iterable[Candidate], gold: int) -> Curve:
        """The curve of candidates; `gold` counts all true entities, found or not.

        >>> curve = Curve.of([Candidate("PER", 0.9, True), Candidate("PER", 0.4, False)], gold=2)
        >>> curve.point(0).score.precision, curve.point(1).score.precision
        (1.0, 0.5)
        """
        rows = list(candidates)
        sure = np.array([row.confidence for row in rows], dtype=np.float64)
        right = np.array([row.right for row in rows], dtype=np.int64)
        order = np.argsort(-sure, kind="stable")
        sure, right = sure[order], np.cumsum(right[order])
        last = np.flatnonzero(np.append(sure[:-1] != sure[1:], [True] * bool(len(sure))))  # equals stand together
        return cls(sure[last], last + 1, right[last], gold)

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def precision(self) -> NDArray[np.float64]:
        """At each threshold."""
        return self.right / np.maximum(1, self.predicted)

    @property
    def recall(self) -> NDArray[np.float64]:
        """At each threshold."""
        return self.right / max(1, self.gold)

    @property
    def f1(self) -> NDArray[np.float64]:
        """At each threshold."""
        return 2 * self.right / np.maximum(1, self.predicted + self.gold)

    def point(self, place: int) -> Point:
        """The threshold of that place."""
        score = Score.of(int(self.right[place]), int(self.predicted[place]), self.gold)
        return Point(float(self.thresholds[place]), score)

    def best_point(self, goal: Goal, floor: float = 0.0) -> Point | None:
        """The threshold that serves the goal; None if none does.

        It lies half-way to the next candidate below, or to `floor`, below which nothing is known.
        """
        value, allowed = self._judged_by(goal)
        if not allowed.any():
            return None
        return self._between_candidates(int(np.argmax(np.where(allowed, value, -1.0))), floor)

    def nearest(self, goal: Goal, floor: float = 0.0) -> Point | None:
        """The threshold that serves the goal, or else comes nearest to it; None if there are no candidates."""
        if not len(self):
            return None
        figure = self.precision if goal.precision is not None else self.recall
        last = len(self) - 1 - int(np.argmax(figure[::-1]))  # of equals, the one that finds most
        return self.best_point(goal, floor) or self._between_candidates(last, floor)

    def _judged_by(self, goal: Goal) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What should be large, and where the goal is kept."""
        if goal.precision is not None:
            return self.recall, self.precision >= goal.precision
        if goal.recall is not None:
            return self.precision, self.recall >= goal.recall
        return self.f1, np.ones(len(self), dtype=bool)

    def _between_candidates(self, place: int, floor: float) -> Point:
        below = float(self.thresholds[place + 1]) if place + 1 < len(self) else min(floor, self.thresholds[place])
        found = self.point(place)
        return found._replace(threshold=_between(below, found.threshold))

    def limits(self) -> str:
        """The highest precision and recall that any threshold reaches, in words."""
        if not len(self):
            return "the model finds nothing"
        return f"precision goes up to {100 * self.precision.max():.2f} %, recall to {100 * self.recall.max():.2f} %"

    def at(self, threshold: float) -> Point:
        """The counts at a threshold."""
        place = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        score = self.point(place).score if place >= 0 else Score.of(0, 0, self.gold)
        return Point(threshold, score)


class Thresholds(NamedTuple):
    """The threshold for all types, those of single types, and one for the types that have none of their own."""

    overall: Point
    types: dict[str, Point]
    others: Point

    @property
    def together(self) -> Score:
        """The counts if each type has its threshold."""
        return total([*(point.score for point in self.types.values()), self.others.score])


def find_thresholds(
    candidates: Iterable[Candidate], gold: Mapping[str, int], goal: Goal, *, by_type: bool = True, floor: float = 0.0
) -> Thresholds | None:
    """The thresholds that serve a goal, overall and by type; None if the goal is out of reach.

    A type that cannot reach the goal alone comes as near as it can; types with few true entities share a threshold. If
    all of them together miss the goal, or serve it worse than one threshold for all, there are none of single types.
    """
    rows = list(candidates)
    overall = Curve.of(rows, sum(gold.values())).best_point(goal, floor)
    if overall is None:
        return None
    alone = Thresholds(overall, {}, overall)
    found = _by_type(rows, gold, goal, floor, overall) if by_type else alone
    return found if _serves(found.together, goal, overall.score) else alone


def _by_type(
    rows: Sequence[Candidate], gold: Mapping[str, int], goal: Goal, floor: float, overall: Point
) -> Thresholds:
    curves = {
        kind: Curve.of([row for row in rows if row.type == kind], count)
        for kind, count in sorted(gold.items())
        if count >= FEWEST
    }
    own = {kind: point for kind, curve in curves.items() if (point := curve.nearest(goal, floor))}
    missing = sum(count for kind, count in gold.items() if kind not in own)
    others = Curve.of([row for row in rows if row.type not in own], missing)
    return Thresholds(overall, own, others.nearest(goal, floor) or others.at(overall.threshold))


def _serves(score: Score, goal: Goal, overall: Score) -> bool:
    """Whether a goal is kept, and what should be large is no smaller than with one threshold for all."""
    if goal.precision is not None:
        return score.precision >= goal.precision and score.recall >= overall.recall
    if goal.recall is not None:
        return score.recall >= goal.recall and score.precision >= overall.precision
    return score.f1 >= overall.f1


def _between(below: float, here: float) -> float:
    """A threshold between two confidences with few digits; it keeps what is here and drops what is below."""
    middle = (below + here) / 2
    short = round(middle, 4)
    return short if below < short <= here else middle


BINS = 10


class Bin(NamedTuple):
    """The entities of one tenth of confidence."""

    entities: int = 0
    right: int = 0
    confidence: float = 0.0  # the sum of it

    @property
    def mean(self) -> float:
        """The mean confidence."""
        return self.confidence / self.entities if self.entities else 0.0

    @property
    def share(self) -> float:
        """The share of entities that are right."""
        return self.right / self.entities if self.entities else 0.0


@dataclass(frozen=True)
class Calibration:
    """A reliability diagram in ten bins, with the expected calibration error and the Brier score."""

    bins: tuple[Bin, ...]
    brier: float  # the mean square of the distance from what was true

    @property
    def entities(self) -> int:
        """How many entities were rated."""
        return sum(found.entities for found in self.bins)

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of confidence from the share that is right."""
        return fsum(abs(found.confidence - found.right) for found in self.bins) / max(1, self.entities)


class Rated(NamedTuple):
    """The confidence of a predicted entity, and whether it is correct."""

    confidence: float
    right: bool


def calibration(rated: Iterable[Rated]) -> Calibration:
    """Sort entities into tenths of confidence.

    >>> found = calibration([Rated(0.95, True), Rated(0.95, False), Rated(0.25, False)])
    >>> round(found.error, 3), found.bins[9].share
    (0.383, 0.5)
    """
    bins = [Bin()] * BINS
    squares = 0.0
    for confidence, right in rated:
        place = min(BINS - 1, int(confidence * BINS))
        old = bins[place]
        bins[place] = Bin(old.entities + 1, old.right + right, old.confidence + confidence)
        squares += (confidence - right) ** 2
    count = sum(found.entities for found in bins)
    return Calibration(tuple(bins), squares / max(1, count))
