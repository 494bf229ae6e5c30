"""Confidence intervals and significance tests: the bootstrap and approximate randomization.

`intervals` draws units (documents or sentences) with replacement and reports where a figure lies in 95 of 100 draws.
`compare` does the same for the difference between two systems on the same sentences, and swaps the answers of the two
systems at random (approximate randomization). The draws are the same in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Floats, Ints
from nestag.errors import DataError
from nestag.evaluation.result import MACRO, Comparison, Interval, Intervals, Score

Draws = NDArray[np.uint8]

COLUMNS = 4
"""What is counted: correct, predicted, gold and found, as in Score."""

DRAWS = 1_000
SWAPS = 10_000
AT_ONCE = 250
"""Draws made at once, to save memory."""

WITHIN = (2.5, 97.5)
"""The percentiles between which 95 of 100 draws lie."""


class Counts(NamedTuple):
    """The counts of a class in each unit: units x columns."""

    units: Ints
    rows: Ints


def intervals(figures: Iterable[tuple[str, Ints]], types: Collection[str], units: int) -> dict[str, Intervals]:
    """Return the interval of each figure, given its counts in each unit, and that of the mean over `types`."""
    draws = unit_draws(units)
    bounds: dict[str, Intervals] = {}
    sums, drawn = np.zeros((DRAWS, 3)), np.zeros((DRAWS, 1))
    for name, counts in figures:
        values = _figures(_draw(draws, counts))
        bounds[name] = _intervals(values)
        if name in types:
            sums += np.nan_to_num(values)
            drawn += ~np.isnan(values[:, 2:])  # F1 is NaN only in draws without the type
    return {**bounds, MACRO: _intervals(_shares(sums, drawn))}


def unit_draws(units: int) -> Draws:
    """Return how often each unit is drawn in each draw: draws x units."""
    rng = np.random.default_rng(0)
    times = np.zeros((DRAWS, units), dtype=np.uint8)  # a unit comes 256 times less than once in 10**500 draws
    for draw in range(DRAWS if units else 0):
        times[draw] = np.bincount(rng.integers(units, size=units), minlength=units)
    return times


def _draw(draws: Draws, counts: Ints) -> Floats:
    """Return the sums of counts in each draw: draws x columns."""
    some = np.flatnonzero(counts.any(axis=1))  # rare classes are in few units
    rows = counts[some].astype(np.float64)
    batches = (draws[first : first + AT_ONCE, some] for first in range(0, DRAWS, AT_ONCE))
    return np.concatenate([batch.astype(np.float64) @ rows for batch in batches])


def _figures(counts: Floats) -> Floats:
    """Return precision, recall and F1 of rows of counts."""
    correct, predicted, gold, found = counts.T
    f1 = _shares(2 * correct * found, correct * gold + found * predicted)  # as in Score
    f1[np.isnan(f1) & (predicted + gold > 0)] = 0  # there are entities, and none is correct
    return np.stack((_shares(correct, predicted), _shares(found, gold), f1), axis=1)


def _shares(part: Floats, whole: Floats) -> Floats:
    """Return shares; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _intervals(values: Floats) -> Intervals:
    """Return where 95 of 100 draws lie, ignoring NaN."""
    known = (column[~np.isnan(column)] for column in values.T)
    return Intervals(*(Interval(*np.percentile(c, WITHIN).tolist()) if len(c) else Interval(0.0, 0.0) for c in known))


def compare(first: Counts, second: Counts) -> Comparison:
    """Compare two systems by their counts over all entities of the same sentences.

    >>> units = np.arange(50)
    >>> right, wrong = (Counts(units, np.array([[c, 1, 1, c]] * 50)) for c in (1, 0))
    >>> compare(right, wrong).randomization < 0.001
    True
    """
    if not np.array_equal(first.units, second.units):
        raise DataError("the two predictions are not over the same sentences; give both for the same gold file")
    both = np.concatenate((first.rows, second.rows), axis=1)
    f1, other = (Score(*counts.rows.sum(axis=0).tolist()).f1 for counts in (first, second))
    drawn = _differences(_draw(unit_draws(len(both)), both))
    interval = Interval(*np.percentile(drawn, WITHIN).tolist())
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    as_large = int((np.abs(_swap(first, second)) >= abs(f1 - other) - 1e-12).sum())
    bootstrap = min(1.0, 2 * chance(beyond, DRAWS))
    return Comparison(f1, other, f1 - other, interval, bootstrap, chance(as_large, SWAPS))


def chance(times: int, draws: int) -> float:
    """Return the p value of an event seen `times` times in `draws` draws; never 0, since the observation counts too.

    >>> chance(0, 999)
    0.001
    """
    return (times + 1) / (draws + 1)


def _differences(sums: Floats) -> Floats:
    """Return the F1 of the first four counts minus that of the last four."""
    first, second = (np.nan_to_num(_figures(half)[:, 2]) for half in (sums[:, :COLUMNS], sums[:, COLUMNS:]))
    differences: Floats = first - second
    return differences


def _swap(first: Counts, second: Counts) -> Floats:
    """Return the differences when the answers in each unit are swapped at random."""
    rng = np.random.default_rng(0)
    change = (second.rows - first.rows).astype(float)
    total = np.concatenate((first.rows.sum(axis=0), second.rows.sum(axis=0))).astype(float)
    differences = []
    for _ in range(0, SWAPS, AT_ONCE):
        swapped = rng.integers(2, size=(AT_ONCE, len(change))) @ change
        differences.append(_differences(total + np.concatenate((swapped, -swapped), axis=1)))
    return np.concatenate(differences)
