"""The spans of a table's entities, for decoders that rate spans: which there are, and how they lie in each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.candidates import word_probabilities
from nestag.decoding.chains import TypeChains
from nestag.decoding.entities import EntityTable
from nestag.decoding.nodes import Nodes, nodes_of
from nestag.decoding.scores import Scores


class Spans(NamedTuple):
    """Different spans of two words or more, as nodes of a tree."""

    nodes: Nodes
    whole: Bools
    """Whether each is a whole sentence."""
    sentence: Ints
    with_parent: Bools
    """Whether each ends where the one around it ends."""


def rate_entities(
    chains: TypeChains, scores: Scores, table: EntityTable, rate_spans: Callable[[Spans], Floats]
) -> Floats:
    """The probability of each entity; `rate_spans` gives those of all types at spans of several words.

    An entity of one word has the probability of all u with its type.
    """
    offset = scores.first[table.sentence]
    start, end = table.start + offset, table.end + offset
    words = np.flatnonzero(end - start == 1)
    longer = np.flatnonzero(end - start > 1)
    rated = np.zeros(len(start))
    rated[words] = _word_probabilities(chains, scores, start[words], table.type[words])
    if longer.size:
        spans, row = _distinct(scores, start[longer], end[longer])
        rated[longer] = rate_spans(spans)[row, table.type[longer]]
    return rated


def _word_probabilities(chains: TypeChains, scores: Scores, word: Ints, kind: Ints) -> Floats:
    """The probability of all u with the type that can be written, at each word."""
    if not word.size:
        return np.zeros(0)
    types = word_probabilities(chains, scores.at(word)) @ chains.u.members(len(chains.types))
    probability: Floats = types[np.arange(len(word)), kind]
    return probability


def _distinct(scores: Scores, start: Ints, end: Ints) -> tuple[Spans, Ints]:
    """The spans of entities in canonical order, and which of them each entity has."""
    new = np.concatenate([[True], (start[1:] != start[:-1]) | (end[1:] != end[:-1])])
    words = len(scores.n)
    change = np.bincount(start[new], minlength=words) - np.bincount(end[new] - 1, minlength=words)
    depth = np.cumsum(change) + 1
    depth[scores.last] = 0
    nodes = nodes_of(depth)
    place = np.lexsort((-nodes.end, nodes.start))  # the nodes in the entities' order
    sentence = np.searchsorted(np.cumsum(scores.lengths), nodes.start, side="right")
    whole = nodes.end - nodes.start == scores.lengths[sentence]
    return Spans(nodes, whole, sentence, depth[nodes.end - 1] < nodes.above), place[np.cumsum(new) - 1]


class Selected(NamedTuple):
    """Some sentences of a batch, and the spans that lie in them."""

    scores: Scores
    spans: Bools
    """Which of the spans given."""
    start: Ints
    end: Ints


def select_sentences(scores: Scores, sentences: Bools, start: Ints, end: Ints) -> Selected:
    """Some of the sentences, and their spans at the places these then have."""
    some = scores.select(sentences)
    sentence = np.searchsorted(np.cumsum(scores.lengths), start, side="right")
    mine = sentences[sentence]
    shift = (scores.first[sentences] - some.first)[(np.cumsum(sentences) - 1)[sentence[mine]]]
    return Selected(some, mine, start[mine] - shift, end[mine] - shift)
