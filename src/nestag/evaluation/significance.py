"""Confidence intervals and significance: the bootstrap, and approximate randomization.

`intervals` draws as many groups of sentences as there are, with replacement, and reports where a figure lies in 95 of
100 draws. `compare` does the same for the difference of two systems on the same sentences, and swaps the two systems'
answers at random (approximate randomization). Documents are drawn where they are known, else sentences, which then
count as independent. The draws are the same in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Floats, Ints
from nestag.errors import DataError
from nestag.evaluation.counts import COLUMNS, Counts
from nestag.evaluation.result import MACRO, Comparison, Interval, Intervals, Score

Draws = NDArray[np.uint8]

DRAWS = 1_000
SWAPS = 10_000
AT_ONCE = 250
"""Draws made at once; more would only cost memory."""

WITHIN = (2.5, 97.5)
"""The percentiles between which 95 of 100 draws lie."""


def intervals(figures: Mapping[str, Ints], types: Collection[str], groups: int) -> dict[str, Intervals]:
    """The interval of each figure, given its counts in each group, and of the mean over those of types."""
    draws = unit_draws(groups)
    found: dict[str, Intervals] = {}
    sums, there = np.zeros((DRAWS, 3)), np.zeros((DRAWS, 1))
    for name, counts in figures.items():
        values = _figures(_draw(draws, counts))
        found[name] = _intervals(values)
        if name in types:
            sums += np.nan_to_num(values)
            there += ~np.isnan(values[:, 2:])  # F1 is nothing only where a draw does not have the type
    return {**found, MACRO: _intervals(_shares(sums, there))}


def unit_draws(groups: int) -> Draws:
    """How often each group is drawn in each draw: draws x groups."""
    rng = np.random.default_rng(0)
    times = np.zeros((DRAWS, groups), dtype=np.uint8)  # a group comes 256 times less than once in 10**500 draws
    for draw in range(DRAWS if groups else 0):
        times[draw] = np.bincount(rng.integers(groups, size=groups), minlength=groups)
    return times


def _draw(draws: Draws, counts: Ints) -> Floats:
    """The sums of counts in each draw: draws x columns."""
    some = np.flatnonzero(counts.any(axis=1))  # of rare classes, few groups have any
    rows = counts[some].astype(np.float64)
    sums = np.zeros((DRAWS, counts.shape[1]))
    for first in range(0, DRAWS, AT_ONCE):
        sums[first : first + AT_ONCE] = draws[first : first + AT_ONCE, some].astype(np.float64) @ rows
    return sums


def _figures(counts: Floats) -> Floats:
    """Precision, recall and F1 of rows of counts."""
    correct, predicted, gold, found = counts.T
    f1 = _shares(2 * correct * found, correct * gold + found * predicted)  # as in Score
    f1[np.isnan(f1) & (predicted + gold > 0)] = 0  # there are entities, and none is right
    return np.stack((_shares(correct, predicted), _shares(found, gold), f1), axis=1)


def _shares(part: Floats, whole: Floats) -> Floats:
    """Shares; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _intervals(values: Floats) -> Intervals:
    return Intervals(*map(_interval, values.T))


def _interval(values: Floats) -> Interval:
    """Where 95 of 100 draws lie, of those that have anything to take a share of."""
    known = values[~np.isnan(values)]
    low, high = np.percentile(known, WITHIN).tolist() if len(known) else (0.0, 0.0)
    return Interval(low, high)


def compare(first: Counts, second: Counts) -> Comparison:
    """Compare two systems by their counts over all entities of the same sentences.

    >>> groups = np.arange(50)
    >>> right, wrong = (Counts(groups, np.array([[c, 1, 1, c]] * 50)) for c in (1, 0))
    >>> compare(right, wrong).randomization < 0.001
    True
    """
    if not np.array_equal(first.groups, second.groups):
        raise DataError("the two predictions are not over the same sentences; give both for the same gold file")
    both = np.concatenate((first.rows, second.rows), axis=1)
    one, two = (Score(*counts.sums()).f1 for counts in (first, second))
    drawn = _differences(_draw(unit_draws(len(both)), both))
    low, high = np.percentile(drawn, WITHIN).tolist()
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    swapped = np.abs(_swap(first, second))
    as_large = int((swapped >= abs(one - two) - 1e-12).sum())
    return Comparison(
        one, two, one - two, Interval(low, high), min(1.0, 2 * chance(beyond, DRAWS)), chance(as_large, SWAPS)
    )


def chance(times: int, draws: int) -> float:
    """The p value of what came so often in so many draws: never 0, for what was seen is a draw as well.

    >>> chance(0, 999)
    0.001
    """
    return (times + 1) / (draws + 1)


def _differences(sums: Floats) -> Floats:
    """F1 of the first four counts minus that of the last four."""
    first, second = (np.nan_to_num(_figures(half)[:, 2]) for half in (sums[:, :COLUMNS], sums[:, COLUMNS:]))
    found: Floats = first - second
    return found


def _swap(first: Counts, second: Counts) -> Floats:
    """The differences that arise when each group's answers are swapped or not, by chance."""
    rng = np.random.default_rng(0)
    change = (second.rows - first.rows).astype(float)
    total = np.concatenate((first.rows.sum(axis=0), second.rows.sum(axis=0))).astype(float)
    found = []
    for _ in range(0, SWAPS, AT_ONCE):
        moved = rng.integers(2, size=(AT_ONCE, len(change))) @ change
        found.append(_differences(total + np.concatenate((moved, -moved), axis=1)))
    return np.concatenate(found)
