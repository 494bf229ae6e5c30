"""A vocabulary as arrays, so that whole batches can be looked up at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.encodings import encoding
from nestag.encodings.depth import DepthEncoding
from nestag.vocabulary import Vocabulary

Ints = NDArray[np.int64]


class Chains(NamedTuple):
    """The types that each entry of a table stands for: `types[first[i] : first[i] + width[i]]`."""

    first: Ints
    width: Ints
    types: Ints
    root: NDArray[np.bool_]

    def expand(self, entries: Ints) -> tuple[Ints, Ints]:
        """For each type of each entry: which of the entries it belongs to, and the type."""
        width = self.width[entries]
        owner = np.repeat(np.arange(len(entries)), width)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(width) - width, width)
        return owner, self.types[self.first[entries][owner] + within]

    def members(self, types: int) -> NDArray[np.float64]:
        """Which entry holds which type, as 0 and 1: entries x types."""
        entry, kind = self.expand(np.arange(len(self.first)))
        holds = np.zeros((len(self.first), types))
        holds[entry, kind] = 1
        return holds


class Tables(NamedTuple):
    """A vocabulary as arrays."""

    n_value: Ints
    n_absolute: NDArray[np.bool_]
    c: Chains
    u: Chains
    types: tuple[str, ...]


@lru_cache(maxsize=8)
def tables_of(vocabulary: Vocabulary) -> Tables:
    """The vocabulary as arrays."""
    value, absolute = _depths(vocabulary)
    rows = {kind: row for row, kind in enumerate(vocabulary.types)}
    names = [tuple(rows[kind] for kind in name.entities) for name in vocabulary.c]
    unary = [tuple(rows[kind] for kind in types) for types in vocabulary.u]
    return Tables(
        value,
        absolute,
        _chains(names, [name.root for name in vocabulary.c]),
        _chains(unary, [False] * len(unary)),
        vocabulary.types,
    )


def _depths(vocabulary: Vocabulary) -> tuple[Ints, NDArray[np.bool_]]:
    """What each n adds to the depth before it, or the depth itself where that one does not matter."""
    chosen = encoding(vocabulary.encoding)
    if not isinstance(chosen, DepthEncoding):
        return np.zeros(len(vocabulary.n), dtype=np.int64), np.zeros(len(vocabulary.n), dtype=bool)
    after_root, after_one = ([chosen.next_depth(before, n) for n in vocabulary.n] for before in (0, 1))
    value = np.array(after_root, dtype=np.int64)
    return value, value == np.array(after_one)


def _chains(entries: Sequence[tuple[int, ...]], root: list[bool]) -> Chains:
    unique = [tuple(dict.fromkeys(entry)) for entry in entries]
    width = np.array([len(entry) for entry in unique], dtype=np.int64)
    types = np.array([kind for entry in unique for kind in entry], dtype=np.int64)
    return Chains(np.cumsum(width) - width, width, types, np.array(root, dtype=bool))
