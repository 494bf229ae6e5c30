"""The decoder of an encoding: what it can do with a whole batch, and what it does by default.

    repair      label ids -> entities; default: decode each sentence with the encoding
    search      scores -> entities of the best valid labels; default: none, decoding is greedy
    posterior   scores -> probabilities of nodes and types; default: none, the confidence of an entity is the mean
                probability of the best labels at its words, and only decoded entities are candidates

A new encoding works without any of these. To do better, subclass `Decoder`:

    @decodes(MyEncoding)
    class MyDecoder(Decoder[MyEncoding]):
        def search(self, scores, settings): ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np

from nestag.data.arrays import Bools, Floats
from nestag.decoding.entities import EntityTable, as_table, filter_entities, label_types
from nestag.decoding.posterior import Posterior, find_candidates, rate_by_labels, rate_entities
from nestag.decoding.scores import LabelBatch, Scores, Search
from nestag.encodings import encoding
from nestag.encodings.base import Encoding, Naming
from nestag.encodings.vocabulary import LabelIds, Vocabulary

E = TypeVar("E", bound=Encoding)


class Decoder(Generic[E]):
    """Decodes batches of one vocabulary."""

    def __init__(self, encoding: E, vocabulary: Vocabulary) -> None:
        self.encoding = encoding
        self.vocabulary = vocabulary
        self.types = label_types(vocabulary)

    def repair(self, labels: LabelBatch, naming: Naming) -> EntityTable:
        """Return the entities that any labels describe."""
        types = {kind: row for row, kind in enumerate(self.types.types)}
        all_labels = self.vocabulary.labels(LabelIds(labels.n.tolist(), labels.c.tolist(), labels.u.tolist()))
        rows: list[tuple[int, int, int]] = []
        first = 0
        for length in labels.lengths.tolist():
            entities = self.encoding.decode(all_labels[first : first + length], naming).entities()
            rows += [(start + first, end + first, types[kind]) for start, end, kind in entities]
            first += length
        start, end, kind = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return as_table(start, end, kind, self.types.types, labels.lengths)

    def search(self, scores: Scores, settings: Search) -> EntityTable | None:
        """Return the entities of the best valid labels; None if the encoding has no search."""
        return None

    def posterior(self, scores: Scores, sentences: Bools, settings: Search) -> Posterior | None:
        """Return the posterior of some sentences; None if the encoding has none."""
        return None

    def probabilities(self, scores: Scores, table: EntityTable, settings: Search) -> Floats:
        """Return the probability of each entity, from 0 to 1."""
        sentences = np.zeros(len(scores.lengths), dtype=bool)
        sentences[table.sentence[table.end - table.start > 1]] = True
        if (posterior := self.posterior(scores, sentences, settings)) is None:
            return rate_by_labels(scores, table)
        return rate_entities(self.types, scores, table, posterior)

    def candidates(self, scores: Scores, settings: Search, floor: float) -> EntityTable:
        """Return the entities that are at least as probable as the floor."""
        if (posterior := self.posterior(scores, scores.lengths > 1, settings)) is not None:
            return find_candidates(self.types, scores, posterior, floor)
        if (table := self.search(scores, settings)) is None:
            table = self.repair(scores.chosen(), "first")
        return filter_entities(table._replace(confidence=self.probabilities(scores, table, settings)), floor)


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
    """Return the decoder of a vocabulary: that of its encoding, or of the nearest base class that has one."""
    return _decoder(encoding(vocabulary.encoding), vocabulary)


@lru_cache(maxsize=8)
def _decoder(chosen: Encoding, vocabulary: Vocabulary) -> Decoder[Any]:
    family = next(base for base in type(chosen).__mro__ if base in _DECODERS)
    return _DECODERS[family](chosen, vocabulary)
