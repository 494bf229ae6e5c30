"""Confidences and candidates: the probabilities of entities, given all valid sequences.

An entity of one word has the probability of all u with its type. An entity of several words has the probability that
its span is a node, times the probability of its type among the names, by the mean of the names' scores at the gaps of
the node: the gaps of its span that are in no other entity inside it.

The valid sequences are a Markov chain. The forward-backward algorithm is the loop of the search with sums of weights in
place of the maxima of scores: a sequence weighs the product of its labels' probabilities, with the sum over all names
that fit instead of the best name. The posterior of a span is the share of the sequences in which the span is a node.
It takes one more forward pass over the gaps of the span:

    ways to the gap before the span  x  ways through the gaps inside  x  ways from the gap after the span to the end

Candidates are all entities whose probability is at least a floor. From every word, the pass through the gaps inside
continues while nodes that begin there are open with at least that probability. There are at most depth / floor such
nodes, so with depths this is linear in the words. Spans above one half nest; a candidate has the gaps to itself that
are in none of them inside it.

depth_posterior.py and tetra_posterior.py implement `Posterior`, the part that depends on the encoding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Floats, Ints
from nestag.decoding.entities import EntityTable, LabelTypes, as_table
from nestag.decoding.repair import nodes_of
from nestag.decoding.scores import (
    FORBIDDEN,
    LEAST_WEIGHT,
    Scores,
    TimeSteps,
    comparable,
    label_weights,
    softmax,
    with_missing,
)

SMALLEST = np.finfo(np.float64).tiny  # what is divided by instead of 0
STATES = 2**18  # how many numbers of states are computed at once
LEAST = 1e-3  # spans with a lower probability are never candidates; there are too many of them


class Spans(NamedTuple):
    """Spans of two words or more, and the gaps that each has to itself."""

    start: Ints
    end: Ints
    gaps: Ints  # those of all spans, one span after the other
    first: Ints  # the place in `gaps` of the first gap of each span; every span has one

    @property
    def sizes(self) -> Ints:
        """Return how many gaps each has."""
        return np.diff(self.first, append=len(self.gaps))


class Posterior(ABC):
    """The posterior of the valid sequences of some sentences; arrays are in the order of the slots.

    A `state` has the weight of the ways through the gaps of spans so far; the spans are its last axis. Words and gaps
    are numbered through the batch, and a gap has the number of the word before it.
    """

    levels: int  # how many spans around each other can be nodes at most
    span_states: int  # how many numbers a state has for each span
    named_root: Floats  # for each sentence, the probability that its root has types and is not a node

    def __init__(self, scores: Scores, types: Bools, sizes: Ints, states: int) -> None:
        """Lay out the first words of each sentence; `types` says which c has which type."""
        self._scores, self._types, self._sentence = scores, types, scores.sentence
        self._blocks, self._word = TimeSteps.of(scores.first, sizes, states)
        self._slot = np.zeros(len(scores.n), dtype=np.int64)  # of each word
        self._slot[self._word] = np.arange(len(self._word))
        self._n = with_missing(label_weights(scores.n[self._word]), LEAST_WEIGHT)
        self._c = label_weights(scores.c[self._word])
        self._opens, self._closes = np.zeros((2, len(scores.n) + 1), dtype=bool)
        self._opens[scores.first], self._closes[scores.first + scores.lengths] = True, True

    @abstractmethod
    def enter(self, start: Ints, longest: int) -> Floats:
        """Return the state at the first gap of spans with at most so many gaps."""

    @abstractmethod
    def advance(self, state: Floats, gap: Ints) -> Floats:
        """Return the state at a gap from the state at the gap before."""

    @abstractmethod
    def close(self, state: Floats, start: Ints, end: Ints) -> Floats:
        """Return the probability that spans are nodes, from the state at their last gaps."""

    @abstractmethod
    def open_probability(self, state: Floats, start: Ints, gap: Ints) -> Floats:
        """Return the expected number of nodes with types that begin at a word and have the gap inside."""

    @abstractmethod
    def rate_types(self, spans: Spans, probability: Floats) -> Floats:
        """Return the probability of each type at spans that are nodes with these probabilities: spans x types."""

    def _groups(self, rows: Ints) -> list[Ints]:
        """Split the rows of spans so that the states of a group stay in the CPU's cache."""
        size = max(1, STATES // self.span_states)
        return np.split(rows, range(size, len(rows), size))

    def span_probabilities(self, start: Ints, end: Ints) -> Floats:
        """Return the probability that each span is a node below the root, or the root itself for 4tg."""
        probability = np.zeros(len(start))
        order = np.argsort(start - end, kind="stable")  # the longest first
        for rows in self._groups(order):
            begin, gaps = start[rows], (end - start)[rows] - 1
            longest = int(gaps.max(initial=0))
            open_still = len(rows) - np.searchsorted(gaps[::-1], np.arange(1, longest), side="right")
            state = self.enter(begin, longest)
            last = state.copy()
            for passed, count in enumerate(open_still.tolist(), start=1):
                last[..., :count] = state = self.advance(state[..., :count], begin[:count] + passed)
            probability[rows] = self.close(last, begin, end[rows])
        return np.clip(probability, 0, 1)

    def likely_spans(self, start: Ints, stop: Ints, floor: float) -> tuple[Ints, Ints, Floats]:
        """Return the spans that begin at these words, end by `stop` and are nodes with at least this probability."""
        likely = [(start[:0], stop[:0], np.zeros(0))]
        for rows in self._groups(np.arange(len(start))):
            begin, limit = start[rows], stop[rows]
            end = begin + 2
            state = self.enter(begin, int((limit - begin).max(initial=0)))
            while begin.size:
                probability = np.clip(self.close(state, begin, end), 0, 1)
                open_still = self.open_probability(state, begin, end - 2) >= floor
                emits, continues = open_still & (probability >= floor), open_still & (end < limit)
                likely.append((begin[emits], end[emits], probability[emits]))
                begin, limit, end = begin[continues], limit[continues], end[continues] + 1
                state = self.advance(state[..., continues], end - 2)
        start, end, probability = (np.concatenate(column) for column in zip(*likely, strict=True))
        return start, end, probability


def rate_entities(labels: LabelTypes, scores: Scores, table: EntityTable, posterior: Posterior) -> Floats:
    """Return the probability of each entity of a table; the posterior has every sentence with entities of two words."""
    offset = scores.first[table.sentence]
    start, end = table.start + offset, table.end + offset
    words, longer = np.flatnonzero(end - start == 1), np.flatnonzero(end - start > 1)
    rated = np.zeros(len(start))
    if words.size:
        types = word_types(labels, scores.u[start[words]])
        rated[words] = types[np.arange(len(words)), table.type[words]]
    if longer.size:
        start, end = start[longer], end[longer]
        new = np.append(True, (start[1:] != start[:-1]) | (end[1:] != end[:-1]))
        spans, level = nested_spans(scores, start[new], end[new])
        probability = posterior.span_probabilities(spans.start, spans.end) * (level <= posterior.levels)
        rated[longer] = posterior.rate_types(spans, probability)[np.cumsum(new) - 1, table.type[longer]]
    return np.clip(rated, 0, 1)


def rate_by_labels(scores: Scores, table: EntityTable) -> Floats:
    """Return for each entity the geometric mean, over its words and heads, of the highest label probability."""
    heads = (softmax(comparable(head).T) for head in (scores.n, scores.c, scores.u))
    highest = np.mean([np.log(head.max(axis=1, initial=0)) for head in heads], axis=0)  # of each word
    sums = np.append(0.0, np.cumsum(highest))
    offset = scores.first[table.sentence]
    mean = (sums[table.end + offset] - sums[table.start + offset]) / (table.end - table.start)
    probability: Floats = np.clip(np.exp(mean), 0, 1)
    return probability


def nested_spans(scores: Scores, start: Ints, end: Ints) -> tuple[Spans, Ints]:
    """Return different nested spans in canonical order, and how many spans are around each, itself included."""
    words = len(scores.n)
    depth = np.cumsum(np.bincount(start, minlength=words) - np.bincount(end - 1, minlength=words)) + 1
    depth[scores.last] = 0
    nodes = nodes_of(depth)
    order = np.lexsort((-nodes.end, nodes.start))
    gap = np.repeat(np.argsort(order), nodes.sizes)
    gaps, first = nodes.gaps[np.argsort(gap, kind="stable")], np.append(0, np.cumsum(nodes.sizes[order]))[:-1]
    return Spans(start, end, gaps, first), nodes.depth[order] - 1


def word_types(labels: LabelTypes, u: Floats) -> Floats:
    """Return the probability of each type at words, by all u with it that can be written: words x types."""
    writable = comparable(u)
    writable[~labels.u_writable] = FORBIDDEN
    types: Floats = softmax(writable.T) @ labels.u
    return types


def find_candidates(labels: LabelTypes, scores: Scores, posterior: Posterior, floor: float) -> EntityTable:
    """Return the entities that are at least as probable as the floor; the posterior has every sentence."""
    least = max(floor / 2, LEAST)  # an entity over a sentence may be half in a node's name, half in the root's
    spans, probability = _likely_spans(scores, posterior, least)
    longer, single = posterior.rate_types(spans, probability), word_types(labels, scores.u)
    span, span_type = np.nonzero((longer >= floor) & (longer > 0))
    word, word_type = np.nonzero((single >= floor) & (single > 0))
    start, end = np.append(spans.start[span], word), np.append(spans.end[span], word + 1)
    confidence = np.clip(np.append(longer[span, span_type], single[word, word_type]), 0, 1)
    return as_table(start, end, np.append(span_type, word_type), labels.types, scores.lengths, confidence)


def _likely_spans(scores: Scores, posterior: Posterior, floor: float) -> tuple[Spans, Floats]:
    """Return the spans that can have likely entities, in canonical order, and their probabilities."""
    stop = (scores.first + scores.lengths)[scores.sentence]
    start = np.flatnonzero(np.arange(len(stop)) < stop - 1)
    start, end, probability = posterior.likely_spans(start, stop[start], floor)
    named = scores.first[(posterior.named_root >= floor) & (scores.lengths > 1)]
    whole = np.setdiff1d(named, start[end == stop[start]])
    start, end = np.append(start, whole), np.append(end, stop[whole])
    probability = np.append(probability, posterior.span_probabilities(whole, stop[whole]))
    order = np.lexsort((-end, start))
    start, end, probability = start[order], end[order], probability[order]
    return _candidate_spans(len(stop), start, end, probability > 0.5), probability


def _candidate_spans(words: int, start: Ints, end: Ints, sure: Bools) -> Spans:
    """Return spans with the gaps that are in no smaller span among the sure ones."""
    sizes = end - start - 1
    owner = np.repeat(np.arange(len(start)), sizes)
    gap = np.arange(len(owner)) + np.repeat(start - (np.cumsum(sizes) - sizes), sizes)
    painted = np.flatnonzero(sure[owner])
    painted = painted[np.argsort(-sizes[owner[painted]], kind="stable")]  # the smallest last
    innermost = np.full(words, -1)  # the smallest sure span over each gap
    innermost[gap[painted]] = owner[painted]
    inner = innermost[gap]
    own = (inner < 0) | (start[inner] < start[owner]) | (end[inner] > end[owner]) | (sizes[inner] == sizes[owner])
    own |= (np.bincount(owner[own], minlength=len(start)) == 0)[owner]
    return Spans(start, end, gap[own], np.searchsorted(owner[own], np.arange(len(start))))
