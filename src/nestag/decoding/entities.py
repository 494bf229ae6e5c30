"""The output of decoding: a table of entities, and the entity types that labels stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Floats, Ints
from nestag.data.sentence import Entity
from nestag.data.tree import in_order
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError, UnknownNameError

EntityTypes = tuple[str, ...]  # of a vocabulary, by name


class EntityTable(NamedTuple):
    """The entities of a batch as columns, by sentence and then in canonical order."""

    sentence: Ints
    start: Ints
    end: Ints
    type: Ints  # a row of `types`
    types: EntityTypes
    sentences: int  # how many sentences the batch has, those without entities included
    confidence: Floats | None = None  # how probable each entity is, from 0 to 1, if that was asked for

    def to_lists(self) -> list[tuple[Entity, ...]]:
        """Return the entities of each sentence."""
        names = [self.types[kind] for kind in self.type.tolist()]
        rows = zip(self.start.tolist(), self.end.tolist(), names, strict=True)
        entities = list(map(partial(tuple.__new__, Entity), rows))  # Entity(...) itself is a Python call for each row
        cuts = np.searchsorted(self.sentence, np.arange(self.sentences + 1)).tolist()
        return [tuple(entities[a:b]) for a, b in pairwise(cuts)]

    def at(self, rows: Bools) -> EntityTable:
        """Select some of the entities."""
        confidence = None if self.confidence is None else self.confidence[rows]
        sentence, start, end, kind = (column[rows] for column in self[:4])
        return EntityTable(sentence, start, end, kind, self.types, self.sentences, confidence)


class LabelTypes(NamedTuple):
    """The entity types that the labels of a vocabulary stand for."""

    types: EntityTypes
    c: Bools  # whether each c has each type: names x types
    u: Bools  # whether each u has each type
    root: Bools  # whether each c is a name of the root
    c_writable: Bools  # whether an encoding can write each c: each type once, in the vocabulary's order
    u_writable: Bools


@lru_cache(maxsize=8)
def label_types(vocabulary: Vocabulary) -> LabelTypes:
    """Return the types of a vocabulary's labels."""
    types, names, u = vocabulary.types, vocabulary.c, vocabulary.u

    def bools(values: Iterable[bool]) -> Bools:
        return np.fromiter(values, dtype=bool)

    return LabelTypes(
        types,
        bools(kind in name.entities for name in names for kind in types).reshape(len(names), len(types)),
        bools(kind in chain for chain in u for kind in types).reshape(len(u), len(types)),
        bools(name.root for name in names),
        bools(in_order(name.types, vocabulary.order) == name.types for name in names),
        bools(in_order(chain, vocabulary.order) == chain for chain in u),
    )


class NamedNodes(NamedTuple):
    """Nodes of a batch by their words, and the c that names each."""

    start: Ints
    end: Ints
    c: Ints


def entities_of(types: LabelTypes, nodes: NamedNodes, u: Ints, lengths: Ints) -> EntityTable:
    """Return the entities that named nodes and the u of all words stand for."""
    words = np.flatnonzero(np.logical_or.reduce(types.u, axis=1)[u])
    node, node_type = np.nonzero(types.c[nodes.c])
    word, word_type = np.nonzero(types.u[u[words]])
    start, end = np.append(nodes.start[node], words[word]), np.append(nodes.end[node], words[word] + 1)
    return as_table(start, end, np.append(node_type, word_type), types.types, lengths)


def as_table(
    start: Ints, end: Ints, kind: Ints, types: EntityTypes, lengths: Ints, confidence: Floats | None = None
) -> EntityTable:
    """Return entities at words of the whole batch as a table with words of their sentences; equal ones merge."""
    order = np.lexsort((kind, -end, start))  # start sorts the sentences, too
    start, end, kind = start[order], end[order], kind[order]
    again = (start[1:] == start[:-1]) & (end[1:] == end[:-1]) & (kind[1:] == kind[:-1])
    if again.any():
        new = np.append(True, ~again)
        order, start, end, kind = order[new], start[new], end[new], kind[new]
    sentence = np.repeat(np.arange(len(lengths)), lengths)[start]
    offset = (np.cumsum(lengths) - lengths)[sentence]
    confidence = None if confidence is None else confidence[order]
    return EntityTable(sentence, start - offset, end - offset, kind, types, len(lengths), confidence)


def join_entities(tables: Sequence[EntityTable]) -> EntityTable:
    """Join the tables of batches that follow each other; there is at least one.

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
    """Return the entities that are at least as probable as the threshold, or as that of their type if it has one.

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
