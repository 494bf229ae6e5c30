"""The entity types that each c and each u of a vocabulary stands for, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.tree import in_order
from nestag.vocabulary import Vocabulary


class Chains(NamedTuple):
    """The types of each entry of a table: `types[first[i] : first[i] + width[i]]`."""

    first: Ints
    width: Ints
    types: Ints
    root: Bools
    """Whether the entry is a name of the root."""
    writable: Bools
    """Whether an encoding can write it: each type once, in the vocabulary's order."""

    def expand(self, entries: Ints) -> tuple[Ints, Ints]:
        """For each type of each entry: which of the entries it belongs to, and the type."""
        width = self.width[entries]
        owner = np.repeat(np.arange(len(entries)), width)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(width) - width, width)
        return owner, self.types[self.first[entries][owner] + within]

    def members(self, types: int) -> Floats:
        """Which entry has which type, as 0 and 1: entries x types."""
        entry, kind = self.expand(np.arange(len(self.first)))
        members = np.zeros((len(self.first), types))
        members[entry, kind] = 1
        return members


class TypeChains(NamedTuple):
    """The types of a vocabulary's c and u, as rows of `types`."""

    c: Chains
    u: Chains
    types: tuple[str, ...]


@lru_cache(maxsize=8)
def chains_of(vocabulary: Vocabulary) -> TypeChains:
    """The types of a vocabulary's c and u."""
    types = vocabulary.types
    rows = {kind: row for row, kind in enumerate(types)}
    names = [tuple(rows[kind] for kind in name.entities) for name in vocabulary.c]
    unary = [tuple(rows[kind] for kind in chain) for chain in vocabulary.u]
    order = vocabulary.order
    c = _chains(names, [name.root for name in vocabulary.c], [is_in_order(name.types, order) for name in vocabulary.c])
    u = _chains(unary, [False] * len(unary), [is_in_order(chain, order) for chain in vocabulary.u])
    return TypeChains(c, u, types)


def is_in_order(types: tuple[str, ...], order: tuple[str, ...]) -> bool:
    """Whether a chain has each type once, in the vocabulary's order, as trees have it."""
    return in_order(types, order) == types


def _chains(entries: Sequence[tuple[int, ...]], root: list[bool], writable: list[bool]) -> Chains:
    unique = [tuple(dict.fromkeys(entry)) for entry in entries]
    width = np.array([len(entry) for entry in unique], dtype=np.int64)
    types = np.array([kind for entry in unique for kind in entry], dtype=np.int64)
    return Chains(np.cumsum(width) - width, width, types, np.array(root, dtype=bool), np.array(writable, dtype=bool))
