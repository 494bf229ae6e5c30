"""Entities of many sentences as arrays, and their counts in little memory: by class, and by group of sentences.

All tokens of a chunk of sentences are numbered, so entities of different sentences never touch and one sweep over the
arrays serves them all. Where entities nest, the depth of an entity is the number of entities open where it begins.
Sentences whose entities cross are few and are looked at one by one.

Intervals come from drawing sentences again and again. A million of them need not be kept for that: each goes to one of
`GROUPS` groups by its words, and groups are drawn. A corpus of a few thousand sentences has nearly a group for each; in
larger ones the difference cannot be seen. With very many classes, groups are merged in pairs to bound memory.

Sentences of one document are alike, so documents are drawn where they are known and there are enough of them: each
group remembers its document, and the groups of a document are merged. A group that two documents share, by chance or
because a sentence is in both, counts for one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Bools, Ints
from nestag.data.sentence import Entity
from nestag.inspect.statistics import depths_of

NEVER = np.iinfo(np.int64).max
"""An end after all others."""


class TypeNames:
    """Type names by number, and where each stands among them in alphabetic order."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._ranks: Ints = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.numbers)

    def number(self, types: Sequence[str]) -> Ints:
        """The number of each type; new ones get new numbers."""
        for name in set(types).difference(self.numbers):
            self.numbers[name] = len(self.numbers)
        return np.array([self.numbers[name] for name in types], dtype=np.int64)

    def ranks(self) -> Ints:
        """The alphabetic place of each type, by its number."""
        if len(self._ranks) < len(self.numbers):
            ordered = [self.numbers[name] for name in sorted(self.numbers)]
            self._ranks = np.empty(len(ordered), dtype=np.int64)
            self._ranks[ordered] = np.arange(len(ordered))
        return self._ranks


class Listed(NamedTuple):
    """The entities of sentences one after the other, and the same as arrays: sentence, start, end, number of type."""

    entities: list[Entity]
    sentence: Ints
    start: Ints
    end: Ints
    type: Ints

    @classmethod
    def of(cls, sets: Sequence[Collection[Entity]], names: TypeNames) -> Listed:
        """List the entities of each sentence."""
        entities = list(chain.from_iterable(sets))
        sentence = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
        start, end, kind = zip(*entities, strict=True) if entities else ((), (), ())
        return cls(
            entities, sentence, np.array(start, dtype=np.int64), np.array(end, dtype=np.int64), names.number(kind)
        )


class SpanArrays(NamedTuple):
    """Entities in canonical order, each once."""

    entities: list[Entity]  # as given, so `entities[order[i]]` is the i-th here
    order: Ints
    sentence: Ints
    length: Ints
    type: Ints  # its number
    key: Ints  # the same for the same entity of the same sentence
    depth: Ints
    outer: Bools  # whether it holds another and is in none

    def also_in(self, others: SpanArrays) -> Bools:
        """Which of these entities are among others."""
        ended = np.append(others.key, -1)  # so that what sorts after all of them is not found
        found: Bools = ended[self.places_in(others)] == self.key
        return found

    def places_in(self, others: SpanArrays) -> Ints:
        """Where each of these entities stands among others that hold it."""
        return np.searchsorted(others.key, self.key)


def spans_of(listed: Listed, starts: Ints, names: TypeNames) -> SpanArrays:
    """The entities as arrays; `starts[i]` is where sentence i starts, and `starts[-1]` where the last one ends.

    The names must know all types that are to be compared, so that equal entities get equal keys.
    """
    entities = listed.entities
    start, end = listed.start + starts[listed.sentence], listed.end + starts[listed.sentence]
    key, order = np.unique(_keys(start, end, listed.type, int(starts[-1]), names), return_index=True)
    start, end, sentence = start[order], end[order], listed.sentence[order]
    depth = _depths(start, end)
    for one in crossing(start, end, sentence):
        places = np.flatnonzero(sentence == one)
        depth[places] = depths_of([entities[order[place]] for place in places])
    outer = (depth == 0) & _holding(end)
    return SpanArrays(entities, order, sentence, end - start, listed.type[order], key, depth, outer)


def _keys(start: Ints, end: Ints, kind: Ints, tokens: int, names: TypeNames) -> Ints:
    """One number for span and type; in its order an entity comes before those it contains."""
    types = max(1, len(names))
    assert (tokens + 1) ** 2 * types < 2**63, "too many tokens to be counted through"
    ranks = names.ranks()[kind] if len(kind) else kind
    return (start * (tokens + 1) + tokens - end) * types + ranks


def _depths(start: Ints, end: Ints) -> Ints:
    """How deep each lies, of entities in canonical order that nest.

    A pair over the same tokens in no other entity begins at depth 1 (see statistics.depths_of), and so all within it
    lies one deeper.
    """
    opened: Ints = np.arange(len(start)) - np.searchsorted(np.sort(end), start, side="right")
    top = opened == 0
    paired = (start == np.append(start[1:], -1)) & (end == np.append(end[1:], -1))
    depth: Ints = opened + paired[top][np.cumsum(top) - 1]
    return depth


def _holding(end: Ints) -> Bools:
    """Whether each contains a later one, of entities in canonical order: one of those ends where it does or before."""
    earliest = np.minimum.accumulate(end[::-1])[::-1]  # end of an entity and all later ones
    found: Bools = np.append(earliest[1:], NEVER) <= end
    return found


def crossing(start: Ints, end: Ints, sentence: Ints) -> Ints:
    """The sentences in which entities, given in canonical order, cross.

    Where they nest, the entity that ends is always the last one opened that has not ended yet. So as many are open
    when it ends as when it began, and the first that breaks this shows.
    """
    count = np.arange(len(start))
    before = count - np.searchsorted(np.sort(end), start, side="right")
    ended = np.empty_like(count)
    ended[np.lexsort((-count, end))] = count
    after = np.searchsorted(start, end, side="left") - ended - 1
    return np.unique(sentence[before != after])


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
