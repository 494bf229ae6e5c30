"""Counts of a large corpus in little memory: by class of entity and by group of sentences.

To know how far a figure can be trusted one draws sentences again and again. A million of them need not be kept for
that: each goes to one of `GROUPS` groups by its words, and groups are drawn. A corpus of a few thousand sentences has
nearly a group for each; in larger ones it makes no difference that can be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

GROUPS = 2**14
COLUMNS = 4
"""What is counted: correct, predicted, gold, found, as in Score."""

PENDING = 2**20
"""Counts that wait to be put together, at least."""

Class = tuple[str, str | int]
"""A breakdown and one of its classes."""


def group_of(tokens: Sequence[str]) -> int:
    """The group of a sentence: the same for the same words, wherever they stand.

    >>> group_of(["the", "USA"]) == group_of(("the", "USA")) != group_of(["the", "UK"])
    True
    """
    return crc32("\x1f".join(tokens).encode("utf-8", "surrogatepass")) % GROUPS


class Tally:
    """How often each class was met in each group of sentences."""

    def __init__(self) -> None:
        self._classes: dict[Class, int] = {}
        self._keys: list[Ints] = []
        self._counts: list[Ints] = []
        self._waiting = 0
        self._kept = 0

    def add(self, breakdown: str, members: Sequence[str | int], numbers: Ints, groups: Ints, column: int) -> None:
        """Count entities, each by the number of its class among `members` and by its group."""
        known = np.array(
            [self._classes.setdefault((breakdown, member), len(self._classes)) for member in members], dtype=np.int64
        )
        if not len(numbers):
            return
        keys, counts = np.unique((known[numbers] * GROUPS + groups) * COLUMNS + column, return_counts=True)
        self._keys.append(keys)
        self._counts.append(counts)
        self._waiting += len(keys)
        if self._waiting > max(PENDING, self._kept):
            self._compact()

    def _compact(self) -> None:
        """Put equal keys together."""
        if not self._keys:
            return
        keys, inverse = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.bincount(inverse, weights=np.concatenate(self._counts)).astype(np.int64)
        self._keys, self._counts = [keys], [counts]
        self._kept, self._waiting = len(keys), 0

    def classes(self) -> Mapping[Class, Counts]:
        """The counts of each class that was named."""
        self._compact()
        keys = self._keys[0] if self._keys else np.zeros(0, dtype=np.int64)
        counts = self._counts[0] if self._counts else keys
        size = GROUPS * COLUMNS
        bounds = np.searchsorted(keys, np.arange(len(self._classes) + 1) * size)
        return {
            member: Counts.of(keys[first:last] - number * size, counts[first:last])
            for (member, number), first, last in zip(self._classes.items(), bounds, bounds[1:], strict=False)
        }


class Counts:
    """The counts of a class: a row for each group of sentences that has any."""

    def __init__(self, groups: Ints, rows: Ints) -> None:
        self.groups = groups
        self.rows = rows  # groups x columns

    @classmethod
    def of(cls, keys: Ints, counts: Ints) -> Counts:
        """From keys of group and column."""
        groups, places = np.unique(keys // COLUMNS, return_inverse=True)
        rows = np.zeros((len(groups), COLUMNS), dtype=np.int64)
        rows[places, keys % COLUMNS] = counts
        return cls(groups, rows)

    def __add__(self, other: Counts) -> Counts:
        groups, places = np.unique(np.concatenate((self.groups, other.groups)), return_inverse=True)
        rows = np.zeros((len(groups), COLUMNS), dtype=np.int64)
        np.add.at(rows, places, np.concatenate((self.rows, other.rows)))
        return Counts(groups, rows)

    def sums(self) -> list[int]:
        """The counts over all groups."""
        found: list[int] = self.rows.sum(axis=0).tolist()
        return found


NOTHING = Counts.of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
