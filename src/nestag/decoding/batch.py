"""Batches of label numbers -> entities, by the paper's repair rules.

The numbers come as three padded arrays (sentences x tokens) and a length for each sentence, as a tagger emits them;
what they mean stands in a vocabulary. The result equals decoding each sentence alone. How nodes are found differs by
encoding: levels.py for depths, and the machine of `4tg` over its marks; an encoding that offers neither is decoded
one sentence at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nestag.data import Entity
from nestag.decoding.levels import depth_nodes
from nestag.decoding.tables import Ints, tables_of
from nestag.encodings import encoding
from nestag.encodings.base import Encoding, Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import TetraTagging, constituents
from nestag.errors import LabelError
from nestag.vocabulary import LabelIds, Vocabulary


class Nodes(NamedTuple):
    """Nodes found in a batch whose sentences stand one after the other: spans, and the token whose c names each."""

    start: Ints
    end: Ints
    named_at: Ints


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

    def to_lists(self) -> list[tuple[Entity, ...]]:
        """The entities of each sentence."""
        names = [self.types[kind] for kind in self.type.tolist()]
        rows = zip(self.start.tolist(), self.end.tolist(), names, strict=True)
        entities = list(map(partial(tuple.__new__, Entity), rows))  # Entity(...) itself is a Python call for each row
        cuts = np.searchsorted(self.sentence, np.arange(self.sentences + 1)).tolist()
        return [tuple(entities[a:b]) for a, b in pairwise(cuts)]


def decode_batch(
    vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike, naming: Naming = "first"
) -> EntityTable:
    """The entities that a batch of label numbers describes.

    >>> from nestag.data import Sentence
    >>> sentence = Sentence(["Lincoln", "slept"], [Entity(0, 1, "PER")])
    >>> vocabulary = Vocabulary.learn([sentence], "dyn")
    >>> ids = vocabulary.ids(vocabulary.encode(sentence))
    >>> decode_batch(vocabulary, [ids.n], [ids.c], [ids.u], [2]).to_lists()
    [(Entity(start=0, end=1, type='PER'),)]
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    tables = tables_of(vocabulary)
    padded = _Padded.of(n, sizes)
    flat_n = padded.flat(n, len(vocabulary.n), "n")
    flat_c = padded.flat(c, len(vocabulary.c), "c")
    flat_u = padded.flat(u, len(vocabulary.u), "u")
    last = np.cumsum(sizes)[sizes > 0] - 1  # the last token of each sentence, whose n and c say nothing
    chosen = encoding(vocabulary.encoding)
    if isinstance(chosen, DepthEncoding):
        nodes = Nodes(*depth_nodes(tables.n_value[flat_n], tables.n_absolute[flat_n], flat_c, last, tables.c, naming))
    elif isinstance(chosen, TetraTagging):
        nodes = _tetra_nodes(vocabulary.n, flat_n, last)
    else:
        return _one_by_one(
            chosen, vocabulary, LabelIds(flat_n.tolist(), flat_c.tolist(), flat_u.tolist()), sizes, naming
        )
    words = np.flatnonzero(tables.u.width[flat_u])
    node, node_type = tables.c.expand(flat_c[nodes.named_at])
    word, word_type = tables.u.expand(flat_u[words])
    starts = np.concatenate([nodes.start[node], words[word]])
    ends = np.concatenate([nodes.end[node], words[word] + 1])
    return _table(starts, ends, np.concatenate([node_type, word_type]), tables.types, sizes)


class _Padded(NamedTuple):
    """Where the tokens stand in arrays of this shape."""

    shape: tuple[int, int]
    cells: Ints

    @classmethod
    def of(cls, like: ArrayLike, sizes: Ints) -> _Padded:
        rows, columns = len(sizes), np.shape(like)[-1] if np.ndim(like) else 0
        if sizes.size and not 0 <= sizes.min() <= sizes.max() <= columns:
            raise LabelError(f"lengths go from {sizes.min()} to {sizes.max()}; the arrays have {columns} columns")
        return cls((rows, columns), np.flatnonzero(np.arange(columns) < sizes[:, None]))

    def flat(self, ids: ArrayLike, table: int, head: str) -> Ints:
        """The numbers without their padding, one sentence after the other, or a LabelError naming the first bad one."""
        padded = np.asarray(ids)
        if padded.shape != self.shape or (padded.dtype.kind not in "iu" and padded.size):
            raise LabelError(f"{head} holds {padded.dtype} shaped {padded.shape}; give integers shaped {self.shape}")
        flat: Ints = padded.ravel()[self.cells].astype(np.int64, copy=False)
        if flat.size and not 0 <= flat.min() <= flat.max() < table:
            bad = np.flatnonzero((flat < 0) | (flat >= table))[0]
            row, column = divmod(int(self.cells[bad]), self.shape[1])
            raise LabelError(
                f"sentence {row}, label {column}: {head} is number {flat[bad]}; the vocabulary has 0 to {table - 1}"
            )
        return flat


def _tetra_nodes(marks: Sequence[object], flat_n: Ints, last: Ints) -> Nodes:
    """Run the machine over each sentence."""
    written = [str(mark) for mark in marks]
    tokens = [written[number] for number in flat_n.tolist()]
    found: list[tuple[int, int, int]] = []
    first = 0
    for end in (last + 1).tolist():
        found += [(start + first, stop + first, gap + first) for start, stop, gap in constituents(tokens[first:end])]
        first = end
    columns = np.array(found, dtype=np.int64).reshape(-1, 3)
    return Nodes(columns[:, 0], columns[:, 1], columns[:, 2])


def _table(start: Ints, end: Ints, kind: Ints, types: tuple[str, ...], sizes: Ints) -> EntityTable:
    """Entities at places in the whole batch -> a table with places in their sentences."""
    order = np.lexsort((kind, -end, start))  # sentences stand one after the other, so start sorts them too
    sentence = np.repeat(np.arange(len(sizes)), sizes)[start[order]]
    offset = (np.cumsum(sizes) - sizes)[sentence]
    return EntityTable(sentence, start[order] - offset, end[order] - offset, kind[order], types, len(sizes))


def _one_by_one(chosen: Encoding, vocabulary: Vocabulary, ids: LabelIds, sizes: Ints, naming: Naming) -> EntityTable:
    """Decode each sentence alone, for encodings without a faster way."""
    rows = {kind: row for row, kind in enumerate(vocabulary.types)}
    found: list[tuple[int, int, int]] = []
    first = 0
    for size in sizes.tolist():
        labels = vocabulary.labels(LabelIds(*(part[first : first + size] for part in ids)))
        entities = chosen.decode(labels, naming).entities()
        found += [(entity.start + first, entity.end + first, rows[entity.type]) for entity in entities]
        first += size
    columns = np.array(found, dtype=np.int64).reshape(-1, 3)
    return _table(columns[:, 0], columns[:, 1], columns[:, 2], vocabulary.types, sizes)
