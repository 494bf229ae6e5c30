"""Batches of label numbers -> entities, by the paper's repair rules.

The numbers come as three padded arrays (sentences x tokens) and a length for each sentence, as a tagger emits them;
what they mean stands in a vocabulary. The result equals decoding each sentence alone. How nodes are found differs by
encoding: levels.py for depths, and the machine of `4tg` over its marks; an encoding that offers neither is decoded
one sentence at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nestag.decoding.entities import EntityTable, Named, as_table, table_of
from nestag.decoding.levels import depth_nodes
from nestag.decoding.padding import Padding
from nestag.decoding.tables import Ints, tables_of
from nestag.encodings import encoding
from nestag.encodings.base import Encoding, Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import TetraTagging, run
from nestag.vocabulary import LabelIds, Vocabulary


class Nodes(NamedTuple):
    """Nodes found in a batch whose sentences stand one after the other: spans, and the token whose c names each."""

    start: Ints
    end: Ints
    named_at: Ints


def decode_batch(
    vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike, naming: Naming = "first"
) -> EntityTable:
    """The entities that a batch of label numbers describes.

    >>> from nestag.data import Entity, Sentence
    >>> sentence = Sentence(["Lincoln", "slept"], [Entity(0, 1, "PER")])
    >>> vocabulary = Vocabulary.learn([sentence], "dyn")
    >>> ids = vocabulary.ids(vocabulary.encode(sentence))
    >>> decode_batch(vocabulary, [ids.n], [ids.c], [ids.u], [2]).to_lists()
    [(Entity(start=0, end=1, type='PER'),)]
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    padding = Padding.of(np.shape(n)[-1] if np.ndim(n) else 0, sizes)
    numbers = Numbers(
        padding.numbers(n, len(vocabulary.n), "n"),
        padding.numbers(c, len(vocabulary.c), "c"),
        padding.numbers(u, len(vocabulary.u), "u"),
    )
    return decode_numbers(vocabulary, numbers, sizes, naming)


class Numbers(NamedTuple):
    """The label numbers of a batch without padding, one sentence after the other."""

    n: Ints
    c: Ints
    u: Ints


def decode_numbers(vocabulary: Vocabulary, numbers: Numbers, sizes: Ints, naming: Naming) -> EntityTable:
    """The entities that label numbers without padding describe."""
    tables = tables_of(vocabulary)
    n, c, u = numbers
    last = np.cumsum(sizes)[sizes > 0] - 1  # the last token of each sentence, whose n and c say nothing
    chosen = encoding(vocabulary.encoding)
    if isinstance(chosen, DepthEncoding):
        nodes = Nodes(*depth_nodes(tables.n_value[n], tables.n_absolute[n], c, last, tables.c, naming))
    elif isinstance(chosen, TetraTagging):
        nodes = _tetra_nodes(vocabulary.n, n, last)
    else:
        return _one_by_one(chosen, vocabulary, LabelIds(n.tolist(), c.tolist(), u.tolist()), sizes, naming)
    return table_of(tables, Named(nodes.start, nodes.end, c[nodes.named_at]), u, sizes)


def _tetra_nodes(marks: Sequence[object], flat_n: Ints, last: Ints) -> Nodes:
    """Run the machine over each sentence."""
    written = [str(mark) for mark in marks]
    tokens = [written[number] for number in flat_n.tolist()]
    starts: list[int] = []
    ends: list[int] = []
    first = 0
    for end in (last + 1).tolist():
        nodes = run(tokens[first:end])
        starts += nodes.start
        ends += nodes.end
        first = end
    named_at = np.flatnonzero(ends)
    shift = np.concatenate([np.zeros(1, dtype=np.int64), last + 1])[np.searchsorted(last, named_at)]
    start, stop = (np.array(places, dtype=np.int64)[named_at] + shift for places in (starts, ends))
    return Nodes(start, stop, named_at)


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
    return as_table(columns[:, 0], columns[:, 1], columns[:, 2], vocabulary.types, sizes)
