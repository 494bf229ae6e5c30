"""Calibration: of the entities predicted with a confidence near p, the share p should be right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

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
        return sum(abs(found.confidence - found.right) for found in self.bins) / max(1, self.entities)


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
