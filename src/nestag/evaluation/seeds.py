"""Means over runs that differ by their seeds alone: the one place where they are computed."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, stdev
from typing import NamedTuple


class OverSeeds(NamedTuple):
    """The values of several runs, at least one, with their mean and deviation."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean."""
        return fmean(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation, None with a single run."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(self.values)

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ± {self.deviation:.2f}"


def over_seeds(values: Iterable[float]) -> OverSeeds | None:
    """A value over seeds, None if there are no runs.

    >>> print(over_seeds([75, 76]), over_seeds([75]), over_seeds([]))
    75.50 ± 0.71 75.00 None
    """
    known = tuple(values)
    return OverSeeds(known) if known else None
