"""Counts of a large corpus in little memory: by class of entity and by group of sentences.

To know how far a figure can be trusted one draws sentences again and again. A million of them need not be kept for
that: each goes to one of `GROUPS` groups by its words, and groups are drawn. A corpus of a few thousand sentences has
nearly a group for each; in larger ones it makes no difference that can be seen. Where there are very many classes,
groups are put together two by two, so that memory stays within bounds.

Sentences of one document are alike, so documents are drawn where they are known and there are enough of them: each
group remembers its document, and the groups of a document are put together. A group that two documents share, by
chance or because a sentence is in both, counts for one of them.
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

UNKNOWN = 2**32
"""The number of a document that has no name."""

FEWEST_DOCUMENTS = 5
"""Of fewer documents, drawing them says nothing; then sentences are drawn."""

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


def document_number(name: str) -> int:
    """A number for a document; `UNKNOWN` if it has no name."""
    return crc32(name.encode("utf-8", "surrogatepass")) if name else UNKNOWN


class Counts(NamedTuple):
    """The counts of a class in the documents or groups of sentences that there are: groups x columns."""

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
        self._document: Ints = np.full(GROUPS, UNKNOWN)

    def see(self, groups: Ints, documents: Ints | None = None) -> None:
        """Note that there are sentences of these groups, and the numbers of their documents."""
        places = groups % len(self._there)
        self._there[places] = True
        if documents is not None:
            np.minimum.at(self._document, places, documents)

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
        np.minimum(self._document, other._document.reshape(-1, size).min(axis=0), out=self._document)

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
        self._document = np.minimum(self._document[:size], self._document[size:])

    @property
    def documents(self) -> int:
        """How many documents are drawn; 0 if sentences are."""
        found = len(np.unique(self._document[self._there & (self._document != UNKNOWN)]))
        return found if found >= FEWEST_DOCUMENTS else 0

    def classes(self) -> Mapping[Class, Counts]:
        """The counts of each class that was named."""
        groups = np.flatnonzero(self._there)
        rows = {member: self._counts[place, groups].astype(np.int64) for member, place in self._places.items()}
        if not self.documents:
            return {member: Counts(groups, counts) for member, counts in rows.items()}
        document = self._document[groups]
        units = np.where(document == UNKNOWN, UNKNOWN + 1 + groups, document)
        names, unit = np.unique(units, return_inverse=True)
        return {member: Counts(names, _summed(counts, unit, len(names))) for member, counts in rows.items()}


def _summed(rows: Ints, unit: Ints, units: int) -> Ints:
    """The sums of the rows of each unit."""
    sums = np.zeros((units, COLUMNS), dtype=np.int64)
    np.add.at(sums, unit, rows)
    return sums


def _folded(counts: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Counts with so many groups: those of equal numbers modulo the size are put together."""
    folded: NDArray[np.int32] = counts.reshape(len(counts), counts.shape[1] // size, size, COLUMNS).sum(
        axis=1, dtype=np.int32
    )
    return folded
