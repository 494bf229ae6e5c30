"""Counts of a large corpus in little memory: by class of entity and by group of sentences.

To know how far a figure can be trusted one draws sentences again and again. A million of them need not be kept for
that: each goes to one of `GROUPS` groups by its words, and groups are drawn. A corpus of a few thousand sentences has
nearly a group for each; in larger ones it makes no difference that can be seen. Where there are very many classes,
groups are put together two by two, so that memory stays within bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from nestag.arrays import Ints

GROUPS = 2**14
CELLS = 2**21
"""Classes times groups, at most."""

COLUMNS = 4
"""What is counted: correct, predicted, gold, found, as in Score."""

ONE = np.int32(1)
"""Of the kind that is counted in: any other is thirty times slower to add."""

Class = tuple[str, str | int]
"""A breakdown and one of its classes."""


def group_of(tokens: Sequence[str]) -> int:
    """The group of a sentence: the same for the same words, wherever they stand.

    >>> group_of(["the", "USA"]) == group_of(("the", "USA")) != group_of(["the", "UK"])
    True
    """
    return crc32("\x1f".join(tokens).encode("utf-8", "surrogatepass")) % GROUPS


class Counts(NamedTuple):
    """The counts of a class in the groups of sentences that there are: groups x columns."""

    groups: Ints
    rows: Ints

    def sums(self) -> list[int]:
        """The counts over all groups."""
        found: list[int] = self.rows.sum(axis=0).tolist()
        return found


class GroupCounts:
    """How often each class was met in each group of sentences."""

    def __init__(self) -> None:
        self._places: dict[Class, int] = {}
        self._counts = np.zeros((8, GROUPS, COLUMNS), dtype=np.int32)
        self._there = np.zeros(GROUPS, dtype=bool)

    def see(self, groups: Ints) -> None:
        """Note that there are sentences of these groups."""
        self._there[groups % len(self._there)] = True

    def add(self, breakdown: str, members: Sequence[str | int], numbers: Ints, groups: Ints, column: int) -> None:
        """Count entities, each by the number of its class among `members` and by its group."""
        known = self._known([(breakdown, member) for member in members])
        size = self._counts.shape[1]
        cell = known[numbers] * size + groups % size
        np.add.at(self._counts.reshape(-1), cell * COLUMNS + column, ONE)

    def join(self, other: GroupCounts) -> None:
        """Merge other counts."""
        known = self._known(list(other._places))
        while other._counts.shape[1] < self._counts.shape[1]:
            self._fold()
        size = self._counts.shape[1]
        self._counts[known] += _folded(other._counts[: len(known)], size)
        self._there |= other._there.reshape(-1, size).any(axis=0)

    def _known(self, classes: Sequence[Class]) -> Ints:
        """The place of each class; there is room for new ones."""
        places = self._places
        found = [places.setdefault(one, len(places)) for one in classes]
        while len(places) > len(self._counts):
            if 2 * len(self._counts) * self._counts.shape[1] > CELLS and self._counts.shape[1] > 1:
                self._fold()
            self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)))
        return np.array(found, dtype=np.int64)

    def _fold(self) -> None:
        """Halve the number of groups by merging them in pairs."""
        size = self._counts.shape[1] // 2
        self._counts = _folded(self._counts, size)
        self._there = self._there[:size] | self._there[size:]

    def classes(self) -> Mapping[Class, Counts]:
        """The counts of each class that was named."""
        groups = np.flatnonzero(self._there)
        return {
            member: Counts(groups, self._counts[place, groups].astype(np.int64))
            for member, place in self._places.items()
        }


def _folded(counts: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Counts with so many groups: those of equal numbers modulo the size are put together."""
    folded: NDArray[np.int32] = counts.reshape(len(counts), counts.shape[1] // size, size, COLUMNS).sum(
        axis=1, dtype=np.int32
    )
    return folded
