"""How probable it is that a span is a node of the binary tree, for 4tg.

As for depths (spans.py), the legal sequences of marks are a Markov chain, here over the height of the stack. Let the
height be h before the span. Its first word is put on the stack, and then there are two ways for the span to be a node:

    left child    the height stays above h after every gap, and the last word fills the slot of h + 1
    right child   a gap L takes what was there into the slot of h; from then on the height is h or more, and the
                  last word is the first to fill the slot of h

What happens inside has the same weight whatever h is, but for the bound on the height, so one number for each way is
multiplied with the ways to h before and from h after. The whole sentence is always a node: the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.decoding.legal_tetra import L_L, L_R, R_L, R_R, L, forward_heights, highest_stack, tetra_moves
from nestag.decoding.scores import FORBIDDEN, Floats, Lanes, Scores, blocks, log_sum
from nestag.decoding.tables import Ints
from nestag.vocabulary import Vocabulary


class HeightChain(NamedTuple):
    """The weights of all legal sequences of a batch, as logarithms; heights count from 0."""

    moves: Floats
    before: Floats
    """Of all ways to a height and token."""
    after: Floats
    """Of all ways from there to the end."""
    whole: Floats
    """Of all sequences of each sentence."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, scores: Scores, c: Floats, deepest: int | None) -> HeightChain:
        """Run forward and backward over all sentences, `c` being the comparable scores of names."""
        moves = tetra_moves(vocabulary, scores, c, log_sum)
        highest = highest_stack(int(scores.sizes.max(initial=0)), deepest)
        before, after = (np.full((highest + 2, len(scores.n)), FORBIDDEN) for _ in range(2))
        whole = np.zeros(len(scores.sizes))
        for rows, lanes in blocks(scores.first, np.maximum(scores.sizes - 1, 0), highest + 2):
            here, last = moves.take(lanes.token, axis=1), moves[L, lanes.token[lanes.end] + 1]
            before[:, lanes.token] = total = forward_heights(here, lanes, highest, log_sum)
            after[:, lanes.token] = _backward(here, last, lanes, highest)
            whole[rows] = total[1, lanes.end] + last
        return cls(moves, before, after, whole)


def _backward(moves: Floats, last: Floats, lanes: Lanes, highest: int) -> Floats:
    """The weight of all ways from each height and slot to the end."""
    total = np.full((highest + 2, lanes.offset[-1]), FORBIDDEN)
    total[1, lanes.end] = last
    stay = log_sum(moves[[R_L, L_R]], 0)
    offset = lanes.offset
    for before, a, b in zip(offset[-3::-1], offset[-2::-1], offset[::-1], strict=False):
        here = total[:, a:b]
        ways = np.stack([here[2:] + moves[R_R, a:b], here[1:-1] + stay[a:b], here[:-2] + moves[L_L, a:b]])
        total[1:-1, before : before + b - a] = log_sum(ways, 0)
    return total


class Ways(NamedTuple):
    """The weight inside each span, up to its last word, if it is a left and if it is a right child."""

    left: Floats
    right: Floats


def tetra_span_probabilities(chain: HeightChain, scores: Scores, start: Ints, end: Ints) -> Floats:
    """How probable each span of two tokens or more is a node, from 0 to 1."""
    probability = np.zeros(len(start))
    sentence = np.searchsorted(np.cumsum(scores.sizes), start, side="right")
    opens = start == scores.first[sentence]
    closes = end == scores.first[sentence] + scores.sizes[sentence]
    height = np.arange(len(chain.before))[:, None]
    for rows, lanes in blocks(start, end - start - 1, 2 * len(chain.before)):
        reached = np.where(opens[rows], np.where(height, FORBIDDEN, 0), chain.before[:, start[rows] - 1])
        ways = _inside(chain.moves, lanes, len(chain.before) - 2)
        inner = _within(chain, reached, ways, end[rows] - 1)
        at_end = reached[1] + ways.right + chain.moves[L, end[rows] - 1]
        weight = np.where(closes[rows], at_end, inner) - chain.whole[sentence[rows]]
        probability[rows] = np.exp(np.minimum(weight, 0))
    probability[opens & closes] = 1
    return probability


def _within(chain: HeightChain, reached: Floats, ways: Ways, side: Ints) -> Floats:
    """The weight of all sequences with each span, if a gap follows it, that after token `side`."""
    after = chain.after[:, side]
    gap = np.logaddexp(after[1:] + chain.moves[L_R, side], after[:-1] + chain.moves[L_L, side])
    return log_sum(np.concatenate([reached[:-1] + ways.left + gap, reached[1:] + ways.right + gap]), 0)


def _inside(all_moves: Floats, lanes: Lanes, highest: int) -> Ways:
    """Run through all spans; heights count from h - 1, so that those under h stay forbidden."""
    moves = all_moves.take(lanes.token, axis=1)
    offset = lanes.offset
    top = min(highest, len(offset) // 2 + 1)
    total = np.full((2, top + 3, offset[-1]), FORBIDDEN)  # left and right child x heights x slots
    total[0, 2, : offset[1]] = moves[R_R, : offset[1]]
    total[1, 1, : offset[1]] = moves[R_L, : offset[1]]
    stay = log_sum(moves[[R_L, L_R]], 0)
    for before, a, b in zip(offset, offset[1:], offset[2:], strict=False):
        reached = total[:, :, before : before + b - a]
        ways = [reached[:, 1:-2] + moves[R_R, a:b], reached[:, 2:-1] + stay[a:b], reached[:, 3:] + moves[L_L, a:b]]
        total[:, 2:-1, a:b] = log_sum(np.stack(ways), 0)
        at_slot = [reached[1, 1] + moves[R_L, a:b], reached[1, 2] + moves[L_L, a:b], reached[0, 2] + moves[L_L, a:b]]
        total[1, 1, a:b] = log_sum(np.stack(at_slot), 0)
    return Ways(total[0, 2, lanes.end], total[1, 1, lanes.end])
