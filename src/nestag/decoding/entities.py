"""A table of entities: what a whole batch is decoded to, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.data import Entity
from nestag.decoding.chains import TypeChains
from nestag.errors import LabelError, UnknownNameError


class EntityTable(NamedTuple):
    """The entities of a batch as columns, by sentence and then in canonical order."""

    sentence: Ints
    start: Ints
    end: Ints
    type: Ints
    """A row of `types`."""
    types: tuple[str, ...]
    sentences: int
    """How many sentences the batch has, those without entities included."""
    confidence: Floats | None = None
    """How probable each entity is, from 0 to 1, if that was asked for."""

    def to_lists(self) -> list[tuple[Entity, ...]]:
        """The entities of each sentence."""
        names = [self.types[kind] for kind in self.type.tolist()]
        rows = zip(self.start.tolist(), self.end.tolist(), names, strict=True)
        entities = list(map(partial(tuple.__new__, Entity), rows))  # Entity(...) itself is a Python call for each row
        cuts = np.searchsorted(self.sentence, np.arange(self.sentences + 1)).tolist()
        return [tuple(entities[a:b]) for a, b in pairwise(cuts)]

    def at(self, rows: Bools) -> EntityTable:
        """Some of the entities."""
        confidence = None if self.confidence is None else self.confidence[rows]
        sentence, start, end, kind = (column[rows] for column in self[:4])
        return EntityTable(sentence, start, end, kind, self.types, self.sentences, confidence)


class NamedNodes(NamedTuple):
    """Nodes of a batch whose sentences stand one after the other, and the c that names each."""

    start: Ints
    end: Ints
    c: Ints


class Replacement(NamedTuple):
    """Other nodes for some sentences of a batch."""

    sentences: Bools
    nodes: NamedNodes


def replaced(nodes: NamedNodes, by: Replacement, lengths: Ints) -> NamedNodes:
    """The nodes with those of some sentences replaced."""
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    kept = ~by.sentences[sentence[nodes.start]]
    return NamedNodes(*(np.concatenate([old[kept], new]) for old, new in zip(nodes, by.nodes, strict=True)))


def entities_of(chains: TypeChains, nodes: NamedNodes, u: Ints, lengths: Ints) -> EntityTable:
    """The entities that named nodes and the u of all words stand for."""
    words = np.flatnonzero(chains.u.width[u])
    node, node_type = chains.c.expand(nodes.c)
    word, word_type = chains.u.expand(u[words])
    starts = np.concatenate([nodes.start[node], words[word]])
    ends = np.concatenate([nodes.end[node], words[word] + 1])
    return as_table(starts, ends, np.concatenate([node_type, word_type]), chains.types, lengths)


def as_table(start: Ints, end: Ints, kind: Ints, types: tuple[str, ...], lengths: Ints) -> EntityTable:
    """Entities at places in the whole batch -> a table with places in their sentences; equal ones merge."""
    order = np.lexsort((kind, -end, start))  # sentences stand one after the other, so start sorts them too
    start, end, kind = start[order], end[order], kind[order]
    again = (start[1:] == start[:-1]) & (end[1:] == end[:-1]) & (kind[1:] == kind[:-1])
    if again.any():
        new = np.concatenate([[True], ~again])
        start, end, kind = start[new], end[new], kind[new]
    sentence = np.repeat(np.arange(len(lengths)), lengths)[start]
    offset = (np.cumsum(lengths) - lengths)[sentence]
    return EntityTable(sentence, start - offset, end - offset, kind, types, len(lengths))


def join_entities(tables: Sequence[EntityTable]) -> EntityTable:
    """The tables of batches that follow each other as one; there is at least one.

    >>> rows = np.array([0, 1])
    >>> table = EntityTable(rows * 0, rows, rows + 1, rows, ("DNA", "RNA"), 1)
    >>> join_entities([table, table]).sentence.tolist()
    [0, 0, 1, 1]
    """
    first = np.cumsum([0, *(table.sentences for table in tables)])
    sentence = np.concatenate([table.sentence + offset for table, offset in zip(tables, first, strict=False)])
    start, end, kind = (np.concatenate(column) for column in zip(*(table[1:4] for table in tables), strict=True))
    rated = [table.confidence for table in tables if table.confidence is not None]
    confidence = np.concatenate(rated) if len(rated) == len(tables) else None
    return EntityTable(sentence, start, end, kind, tables[0].types, int(first[-1]), confidence)


def filter_entities(
    table: EntityTable, threshold: float = 0.0, by_type: Mapping[str, float] | None = None
) -> EntityTable:
    """The entities that are at least as probable as the threshold, or as that of their type where it has one.

    >>> rows = np.array([0, 1])
    >>> table = EntityTable(rows * 0, rows, rows + 1, rows, ("DNA", "RNA"), 1, np.array([0.9, 0.4]))
    >>> filter_entities(table, 0.5).to_lists()
    [(Entity(start=0, end=1, type='DNA'),)]
    >>> len(filter_entities(table, 0.5, {"RNA": 0.3, "DNA": 0.3}).type)
    2
    """
    if table.confidence is None:
        raise LabelError("the table has no confidences; decode the scores with confidence=True")
    least = np.full(len(table.types), threshold, dtype=np.float64)
    rows = {kind: row for row, kind in enumerate(table.types)}
    for kind, own in (by_type or {}).items():
        if kind not in rows:
            raise UnknownNameError(f"no type is called {kind!r}; there are {', '.join(table.types)}")
        least[rows[kind]] = own
    return table.at(table.confidence >= least[table.type])
