"""Decode a batch of label ids or scores, with the decoder of its encoding.

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
from typing import Any, Generic, Literal, TypeVar
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from nestag.data.arrays import Bools, Floats, Ints
from nestag.decoding.depth import DepthRules, depth_rules, search_depths
from nestag.decoding.depth_posterior import DepthPosterior
from nestag.decoding.entities import (
    EntityTable,
    LabelTypes,
    as_table,
    entities_of,
    filter_entities,
    join_entities,
    label_types,
)
from nestag.decoding.posterior import Posterior, find_candidates, rate_by_labels, rate_entities
from nestag.decoding.repair import depth_steps, repair_depths, repair_marks
from nestag.decoding.scores import LabelBatch, Scores, Search, best_labels
from nestag.decoding.tetra import search_marks, tetra_rules
from nestag.decoding.tetra_posterior import TetraPosterior
from nestag.encodings import encoding
from nestag.encodings.base import Encoding, Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import TetraTagging
from nestag.encodings.vocabulary import LabelIds, Vocabulary
from nestag.errors import LabelError, UnknownNameError

# The best of the label sequences that describe a tree, or the paper's best label of each head, then repair.
LabelDecoding = Literal["constrained", "greedy"]
Decoding = Literal["spans", "constrained", "greedy"]  # of the span grid (spans.py), or of labels
DEFAULT = Search()
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


@decodes(DepthEncoding)
class DepthDecoder(Decoder[DepthEncoding]):
    """Decodes depths, however an encoding writes them."""

    def repair(self, labels: LabelBatch, naming: Naming) -> EntityTable:
        """Return the entities that any labels describe, by the paper's repair rules."""
        nodes = repair_depths(depth_steps(self.encoding, self.vocabulary), self.types, labels, naming)
        return entities_of(self.types, nodes, labels.u, labels.lengths)

    def search(self, scores: Scores, settings: Search) -> EntityTable:
        """Return the entities of the best valid labels."""
        nodes = search_depths(scores, self._rules(settings))
        return entities_of(self.types, nodes, _best_words(self.types, scores), scores.lengths)

    def posterior(self, scores: Scores, sentences: Bools, settings: Search) -> DepthPosterior:
        """Return the posterior over depths."""
        return DepthPosterior(self._rules(settings), self.types.c, scores, sentences)

    def _rules(self, settings: Search) -> DepthRules:
        return depth_rules(self.encoding, self.vocabulary, settings.deepest)


@decodes(TetraTagging)
class TetraDecoder(Decoder[TetraTagging]):
    """Decodes the marks of words and gaps."""

    def repair(self, labels: LabelBatch, naming: Naming) -> EntityTable:
        """Return the entities that any labels describe; every node has one name, so `naming` changes nothing."""
        return entities_of(self.types, repair_marks(self.vocabulary, labels), labels.u, labels.lengths)

    def search(self, scores: Scores, settings: Search) -> EntityTable:
        """Return the entities of the best valid labels."""
        nodes = search_marks(scores, tetra_rules(self.vocabulary), settings.deepest)
        return entities_of(self.types, nodes, _best_words(self.types, scores), scores.lengths)

    def posterior(self, scores: Scores, sentences: Bools, settings: Search) -> TetraPosterior:
        """Return the posterior over the heights of the stack."""
        return TetraPosterior(tetra_rules(self.vocabulary), self.types.c, scores, sentences, settings.deepest)


def _best_words(types: LabelTypes, scores: Scores) -> Ints:
    """Return the best u of each word among those that can be written, the first of equals."""
    writable = np.flatnonzero(types.u_writable)
    return writable[best_labels(scores.u[:, writable])] if writable.size else best_labels(scores.u)


def decode_batch(
    vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike, naming: Naming = "first"
) -> EntityTable:
    """Decode label ids by repair: one id per word and head, the sentences one after the other.

    >>> from nestag.data.sentence import Entity, Sentence
    >>> sentence = Sentence(["Lincoln", "slept"], [Entity(0, 1, "PER")])
    >>> vocabulary = Vocabulary.learn([sentence], "dyn")
    >>> decode_batch(vocabulary, *vocabulary.ids(vocabulary.encode(sentence)), [2]).to_lists()
    [(Entity(start=0, end=1, type='PER'),)]
    """
    return decoder_of(vocabulary).repair(LabelBatch.of(vocabulary, n, c, u, lengths), naming)


def decode_scores(
    vocabulary: Vocabulary,
    n: ArrayLike,
    c: ArrayLike,
    u: ArrayLike,
    lengths: ArrayLike,
    decoding: LabelDecoding = "constrained",
    naming: Naming = "first",
    confidence: bool = False,
    search: Search = DEFAULT,
) -> EntityTable:
    """Decode scores: words x labels for each head, the sentences one after the other.

    Only greedy decoding uses `naming`: in constrained decoding, a node takes the name with the highest sum over its
    gaps. An encoding without a search is decoded greedily, with a warning.

    >>> from nestag.data.sentence import Entity, Sentence
    >>> sentence = Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE")])
    >>> vocabulary = Vocabulary.learn([sentence], "rel")
    >>> n, c, u = (np.eye(len(table))[ids] for table, ids in zip(
    ...     (vocabulary.n, vocabulary.c, vocabulary.u), vocabulary.ids(vocabulary.encode(sentence))))
    >>> decode_scores(vocabulary, n, c, u, [3]).to_lists()
    [(Entity(start=0, end=2, type='GPE'),)]
    """
    if decoding not in ("constrained", "greedy"):
        raise UnknownNameError(f"no decoding is called {decoding!r}; there are constrained and greedy")
    pieces = Scores.of(vocabulary, n, c, u, lengths).pieces()
    return join_entities([_decode(vocabulary, piece, decoding, naming, confidence, search) for piece in pieces])


def _decode(
    vocabulary: Vocabulary, scores: Scores, decoding: LabelDecoding, naming: Naming, confidence: bool, search: Search
) -> EntityTable:
    decoder, table = decoder_of(vocabulary), None
    if decoding == "constrained" and (table := decoder.search(scores, search)) is None:
        # Python shows a warning of one text and place once
        warn(f"encoding {vocabulary.encoding!r} has no search for the best valid labels; decoding is greedy")  # noqa: B028
    if table is None:
        table = decoder.repair(scores.chosen(), naming)
    return table._replace(confidence=confidences(vocabulary, scores, table, search)) if confidence else table


def confidences(vocabulary: Vocabulary, scores: Scores, table: EntityTable, search: Search) -> Floats:
    """Return the probability of each entity of a table, from 0 to 1, given the scores it was decoded from.

    The scores are divided by the temperature first. It does not matter how the entities were decoded.
    """
    return decoder_of(vocabulary).probabilities(scores.divide_by(search.temperature), table, search)


def node_probabilities(vocabulary: Vocabulary, scores: Scores, table: EntityTable, search: Search) -> Floats:
    """Return the probability that the span of each entity is a node of the tree, whatever its type; 1 for one word."""
    probability = np.ones(len(table.start))
    longer = np.flatnonzero(table.end - table.start > 1)
    sentence, first = table.sentence[longer], scores.first
    chosen = np.isin(np.arange(len(scores.lengths)), sentence)
    posterior = decoder_of(vocabulary).posterior(scores.divide_by(search.temperature), chosen, search)
    if posterior is None:
        return probability
    start, end = table.start[longer] + first[sentence], table.end[longer] + first[sentence]
    whole = end - start == scores.lengths[sentence]
    probability[longer] = posterior.span_probabilities(start, end) + whole * posterior.named_root[sentence]
    return probability


def candidate_entities(
    vocabulary: Vocabulary,
    n: ArrayLike,
    c: ArrayLike,
    u: ArrayLike,
    lengths: ArrayLike,
    *,
    floor: float = 0.01,
    search: Search = DEFAULT,
) -> EntityTable:
    """Return every entity whose probability is at least the floor, even if the best labels do not contain it.

    Takes scores as `decode_scores` does, and divides them by `search.temperature`. Entities with a probability below
    one half may cross each other, since they need not come from the same tree.

    >>> from nestag.data.sentence import Entity, Sentence
    >>> vocabulary = Vocabulary.learn([Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE")])], "abs")
    >>> n = np.log([[0.4, 0.6], [0.9, 0.1], [0.9, 0.1]])
    >>> c = np.log([[0.4, 0.6], [0.9, 0.1], [0.9, 0.1]])
    >>> table = candidate_entities(vocabulary, n, c, np.zeros((3, 1)), [3])
    >>> table.to_lists(), table.confidence.round(2).tolist()
    ([(Entity(start=0, end=2, type='GPE'),)], [0.68])
    """
    if not 0 <= floor <= 1:
        raise LabelError(f"floor is {floor}; give a probability from 0 to 1")
    pieces = Scores.of(vocabulary, n, c, u, lengths).pieces()
    decoder = decoder_of(vocabulary)
    return join_entities([decoder.candidates(piece.divide_by(search.temperature), search, floor) for piece in pieces])
