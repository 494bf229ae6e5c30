"""How probable entities are, for 4tg, by marks first and names then; exact marginals are in marginals.py.

As for depths, the legal sequences of marks are a Markov chain, here over the height of the stack. Let the height be h
before the span. Its first word is put on the stack, and then there are two ways for the span to be a node:

    left child    the height stays above h after every gap, and the last word fills the slot of h + 1
    right child   a gap L takes what was there into the slot of h; from then on the height is h or more, and the
                  last word is the first to fill the slot of h

What happens inside has the same weight whatever h is, but for the bound on the height, so one number for each way is
multiplied with the ways to h before and from h after. The whole sentence is always a node: the root.

An entity of several words is as probable as its span is a node, times the probability of its type, given the gaps that
belong to its span and to no entity inside it: each name is rated by its score at the first gap and its helper's at the
others, summed (or their mean), as one of all names; those with the type are added up. If the span ends where the one
around it ends, it may also be but a helper, which is rated against the names.

A span with more entities around it than the search is high has probability 0: no legal sequence has them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Floats, Ints
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.nodes import Nodes, summed
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores, Search, comparable, softmax
from nestag.decoding.semiring import LOG_SUM_EXP, SUM_PRODUCT, UNDERFLOW, Semiring
from nestag.decoding.spans import Spans, select_sentences
from nestag.decoding.tetra.joint import repeated
from nestag.decoding.tetra.names import bases_of
from nestag.decoding.tetra.search import (
    HIGHEST,
    L_L,
    L_R,
    R_L,
    R_R,
    L,
    forward_heights,
    highest_stack,
    next_heights,
    rising_staying_falling,
    tetra_moves,
)
from nestag.vocabulary import Vocabulary


def rate_spans(vocabulary: Vocabulary, members: Floats, scores: Scores, spans: Spans, search: Search) -> Floats:
    """How probable each type is at each span: spans x types; `members` says which c has which type."""
    nodes = spans.nodes
    probability = node_probabilities(vocabulary, scores, nodes.start, nodes.end, search.deepest)
    probability *= nodes.depth <= (search.deepest or HIGHEST) + 1
    bases = bases_of(vocabulary)
    named, helper = _opened_or_not(comparable(scores.c), nodes, bases.row[:-1], bases.helper[:-1], search)
    fits = np.where(spans.whole[:, None], bases.root[:-1], bases.below[:-1])
    may_help = spans.with_parent & ~spans.whole
    named[~fits] = FORBIDDEN
    helper[~may_help] = FORBIDDEN
    share = softmax(np.concatenate([named, helper], axis=1))[:, : named.shape[1]] * fits
    rated: Floats = probability[:, None] * (share @ members[bases.row[:-1]])
    return rated


def _opened_or_not(c: Floats, nodes: Nodes, base: Ints, helper: Ints, search: Search) -> tuple[Floats, Floats]:
    """The scores of each base if it opens at a node, and if the node is but its helper: nodes x bases."""
    rows = np.concatenate([c, np.full((1, c.shape[1]), MISSING)])
    helping = summed(rows, nodes.gaps, nodes.first, helper)
    opener = rows[:, nodes.gaps[nodes.first]].T
    opening = helping - opener[:, helper] + opener[:, base]
    if search.pooling == "sum":
        return opening, helping
    return opening / nodes.sizes[:, None], helping / nodes.sizes[:, None]


def node_probabilities(vocabulary: Vocabulary, scores: Scores, start: Ints, end: Ints, deepest: int | None) -> Floats:
    """How probable each span of two words or more is a node, from 0 to 1."""
    chain = HeightChain.of(SUM_PRODUCT, vocabulary, scores, deepest)
    probability = _node_probabilities(chain, scores, start, end)
    lost = (chain.whole < UNDERFLOW) & (scores.lengths > 1)
    if lost.any():
        again = select_sentences(scores, lost, start, end)
        chain = HeightChain.of(LOG_SUM_EXP, vocabulary, again.scores, deepest)
        probability[again.spans] = _node_probabilities(chain, again.scores, again.start, again.end)
    return probability


class HeightChain(NamedTuple):
    """The weights of all legal sequences of a batch; heights count from 0."""

    semiring: Semiring
    moves: Floats
    before: Floats
    """Of all ways to a height and word."""
    after: Floats
    """Of all ways from there to the end."""
    whole: Floats
    """Of all sequences of each sentence."""

    @classmethod
    def of(
        cls, semiring: Semiring, vocabulary: Vocabulary, scores: Scores, deepest: int | None, joint: bool = False
    ) -> HeightChain:
        """Run forward and backward over all sentences; if `joint`, the c of the last word counts, too."""
        c = semiring.labels(scores.c)
        moves = tetra_moves(vocabulary, scores, repeated(c, scores, semiring) if joint else c, semiring)
        highest = highest_stack(int(scores.lengths.max(initial=0)), deepest)
        before, after = (np.full((highest + 2, len(scores.n)), semiring.zero) for _ in range(2))
        whole = np.full(len(scores.lengths), semiring.one)
        for rows, lanes in blocks(scores.first, np.maximum(scores.lengths - 1, 0), highest + 2):
            here, last = moves.take(lanes.word, axis=1), moves[L, lanes.word[lanes.end] + 1]
            before[:, lanes.word] = total = forward_heights(here, lanes, highest, semiring)
            after[:, lanes.word] = _backward(here, last, lanes, highest, semiring)
            whole[rows] = semiring.times(total[1, lanes.end], last)
        return cls(semiring, moves, before, after, whole)


def _backward(moves: Floats, last: Floats, lanes: Lanes, highest: int, semiring: Semiring) -> Floats:
    """The weight of all ways from each height and slot to the end."""
    total = np.full((highest + 2, lanes.offset[-1]), semiring.zero)
    total[1, lanes.end] = last
    steps = rising_staying_falling(moves, semiring)[::-1]
    for before, a, b in lanes.steps_back():
        total[1:-1, before : before + b - a] = next_heights(total[:, a:b], steps[:, a:b], semiring)
    return total


class Ways(NamedTuple):
    """The weight inside each span, up to its last word, if it is a left and if it is a right child."""

    left: Floats
    right: Floats


def _node_probabilities(chain: HeightChain, scores: Scores, start: Ints, end: Ints) -> Floats:
    probability = np.zeros(len(start))
    semiring = chain.semiring
    sentence = np.searchsorted(np.cumsum(scores.lengths), start, side="right")
    opens = start == scores.first[sentence]
    closes = end == scores.first[sentence] + scores.lengths[sentence]
    empty = semiring.where(np.arange(len(chain.before)) == 0)[:, None]
    for rows, lanes in blocks(start, end - start - 1, 2 * len(chain.before)):
        reached = np.where(opens[rows], empty, chain.before[:, start[rows] - 1])
        ways = _inside(chain, lanes)
        inner = _within(chain, reached, ways, end[rows] - 1)
        at_end = semiring.times(semiring.times(reached[1], ways.right), chain.moves[L, end[rows] - 1])
        weight = np.where(closes[rows], at_end, inner)
        probability[rows] = semiring.share(weight, chain.whole[sentence[rows]])
    probability[opens & closes] = 1
    return probability


def _within(chain: HeightChain, reached: Floats, ways: Ways, side: Ints) -> Floats:
    """The weight of all sequences with each span, if a gap follows it, that after the word `side`."""
    times, plus, after = chain.semiring.times, chain.semiring.plus, chain.after[:, side]
    gap = plus(times(after[1:], chain.moves[L_R, side]), times(after[:-1], chain.moves[L_L, side]))
    child = plus(times(reached[:-1], ways.left), times(reached[1:], ways.right))
    return chain.semiring.sum(times(child, gap), 0)


def _inside(chain: HeightChain, lanes: Lanes) -> Ways:
    """Run through all spans; heights count from h - 1, so that those under h stay forbidden."""
    semiring, times = chain.semiring, chain.semiring.times
    moves = chain.moves.take(lanes.word, axis=1)
    offset = lanes.offset
    top = min(len(chain.before) - 2, len(offset) // 2 + 1)
    total = np.full((2, top + 3, offset[-1]), semiring.zero)  # left and right child x heights x slots
    total[0, 2, : offset[1]] = moves[R_R, : offset[1]]
    total[1, 1, : offset[1]] = moves[R_L, : offset[1]]
    steps = rising_staying_falling(moves, semiring)
    for before, a, b in lanes.steps():
        reached = total[:, :, before : before + b - a]
        total[:, 2:-1, a:b] = next_heights(reached[:, 1:], steps[:, a:b], semiring)
        fall = times(semiring.sum(reached[:, 2], 0), moves[L_L, a:b])
        total[1, 1, a:b] = semiring.plus(times(reached[1, 1], moves[R_L, a:b]), fall)
    return Ways(total[0, 2, lanes.end], total[1, 1, lanes.end])
