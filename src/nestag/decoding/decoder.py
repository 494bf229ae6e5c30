"""The decoder of an encoding: what it can do with a whole batch, and what it does by default.

    repair         label ids -> entities; by default, each sentence is decoded alone
    search         scores -> entities of the best legal labels; by default there is none
    probabilities  how probable each entity is; by default, the mean probability of the labels chosen at its words
    candidates     every entity that is probable enough; by default, of those that decoding finds

A new encoding needs none of it to be trained and used. One that wants more subclasses `Decoder`:

    @decodes(MyEncoding)
    class MyDecoder(Decoder[MyEncoding]):
        def search(self, scores, settings): ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np

from nestag.arrays import Floats
from nestag.decoding.chains import chains_of
from nestag.decoding.entities import EntityTable, as_table, filter_entities
from nestag.decoding.scores import LabelBatch, Scores, Search, comparable, softmax
from nestag.encodings import encoding
from nestag.encodings.base import Encoding, Naming
from nestag.vocabulary import LabelIds, Vocabulary

E = TypeVar("E", bound=Encoding)


class Decoder(Generic[E]):
    """Decodes batches of one vocabulary."""

    def __init__(self, encoding: E, vocabulary: Vocabulary) -> None:
        self.encoding = encoding
        self.vocabulary = vocabulary
        self.chains = chains_of(vocabulary)

    def repair(self, labels: LabelBatch, naming: Naming) -> EntityTable:
        """The entities that any labels describe; the same as decoding each sentence alone."""
        types = {kind: row for row, kind in enumerate(self.chains.types)}
        ids = LabelIds(labels.n.tolist(), labels.c.tolist(), labels.u.tolist())
        found: list[tuple[int, int, int]] = []
        first = 0
        for length in labels.lengths.tolist():
            sentence = self.vocabulary.labels(LabelIds(*(part[first : first + length] for part in ids)))
            entities = self.encoding.decode(sentence, naming).entities()
            found += [(start + first, end + first, types[kind]) for start, end, kind in entities]
            first += length
        start, end, kind = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return as_table(start, end, kind, self.chains.types, labels.lengths)

    def search(self, scores: Scores, settings: Search) -> EntityTable | None:
        """The entities of the best legal labels; None if the encoding has no search."""
        return None

    def probabilities(self, scores: Scores, table: EntityTable, settings: Search) -> Floats:
        """For each entity the geometric mean, over its words and heads, of the highest label probability."""
        heads = (softmax(comparable(head).T) for head in (scores.n, scores.c, scores.u))
        highest = np.mean([np.log(head.max(axis=1, initial=0)) for head in heads], axis=0)  # of each word
        sums = np.concatenate([[0.0], np.cumsum(highest)])
        offset = scores.first[table.sentence]
        probability: Floats = np.exp(
            (sums[table.end + offset] - sums[table.start + offset]) / (table.end - table.start)
        )
        return probability

    def candidates(self, scores: Scores, settings: Search, floor: float) -> EntityTable:
        """The entities that are at least as probable as the floor; by default, of those that decoding finds."""
        table = self.search(scores, settings)
        if table is None:
            table = self.repair(scores.chosen(), "first")
        rated = table._replace(confidence=np.clip(self.probabilities(scores, table, settings), 0, 1))
        return filter_entities(rated, floor)


_DECODERS: dict[type, type[Decoder[Any]]] = {Encoding: Decoder}
D = TypeVar("D", bound=type[Decoder[Any]])


def decodes(family: type) -> Callable[[D], D]:
    """Make a class the decoder of an encoding and of its subclasses."""

    def register(decoder: D) -> D:
        _DECODERS[family] = decoder
        _decoder.cache_clear()
        return decoder

    return register


def decoder_of(vocabulary: Vocabulary) -> Decoder[Any]:
    """The decoder of a vocabulary: that of its encoding, or of the nearest base class that has one."""
    return _decoder(encoding(vocabulary.encoding), vocabulary)


@lru_cache(maxsize=8)
def _decoder(chosen: Encoding, vocabulary: Vocabulary) -> Decoder[Any]:
    family = next(base for base in type(chosen).__mro__ if base in _DECODERS)
    return _DECODERS[family](chosen, vocabulary)
