"""Entities of many sentences as arrays, with how deep each lies and whether it is flat, outer or inner.

The tokens of all sentences are counted through, so entities of different sentences never touch and one sweep over the
arrays serves them all. Where entities nest, an entity lies as deep as there are entities open where it begins;
sentences whose entities cross are few and are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Ints
from nestag.data import Entity
from nestag.diagnosis.statistics import depths_of

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
