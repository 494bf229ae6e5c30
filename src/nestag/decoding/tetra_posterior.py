"""The posterior of 4tg: how probable it is that a span is a node, over all valid sequences of marks.

The Markov chain is over the height of the stack. Let the height be h before the span. Its first word is pushed, and
then there are two ways for the span to be a node:

    left child    the height stays above h after every gap, and the last word fills the slot of h + 1
    right child   a gap L takes the subtree into the slot of h; from then on the height is h or more, and the
                  last word is the first to fill the slot of h

The ways inside have the same weight whatever h is, except for the bound on the height. So there is one number for each
of the two, which is multiplied by the ways to h before and from h after. The whole sentence is always a node: the root.

A name is rated by its score at the first gap of a span and its helper's scores at the others. If the span ends where
the span around it ends, it may also be a helper, which is rated against the names.
"""

from __future__ import annotations

import numpy as np

from nestag.data.arrays import Bools, Floats, Ints
from nestag.decoding.posterior import SMALLEST, Posterior, Spans
from nestag.decoding.scores import (
    FORBIDDEN,
    LEAST_WEIGHT,
    MISSING,
    Scores,
    SequenceBlock,
    comparable,
    softmax,
    with_missing,
)
from nestag.decoding.tetra import HIGHEST, L_L, L_R, R_L, R_R, TetraRules, highest_stack

MOST = 1e6
"""The most weight inside a span; only ways higher than the highest stack, which no valid sequence has, have more."""


class TetraPosterior(Posterior):
    """The posterior over heights of some sentences; heights count from 0.

    Weights are divided by their sum at every word, as those of depths are. The last word of a sentence has no slot.
    """

    def __init__(self, rules: TetraRules, types: Bools, scores: Scores, sentences: Bools, deepest: int | None) -> None:
        """Run forward and backward over some sentences; `types` says which c has which type."""
        lengths = np.where(sentences, scores.lengths, 0)
        self._highest = highest_stack(int(lengths.max(initial=0)), deepest)
        super().__init__(scores, types, np.maximum(lengths - 1, 0), self._highest + 2)
        self._rules, self.levels, self.span_states = rules, deepest or HIGHEST, 2 * self._highest + 6
        self.named_root = np.zeros(len(lengths))  # the whole sentence is a node
        bases, names = (self._c[rows].sum(axis=0) for rows in (rules.base[:-1], rules.any))
        self._opening = bases / np.maximum(names, LEAST_WEIGHT)  # how probable it is that a right child is not a helper
        self._moves = _mark_weights(rules, self._n, self._c)
        self._before, self._after = np.zeros((2, self._highest + 2, self._n.shape[1]))
        for block in self._blocks:
            _forward(self._before[:, block.own], self._moves[:, block.own], block)  # this divides the moves, too
            _backward(self._after[:, block.own], self._moves[:, block.own], block)
        self._whole = np.maximum(np.einsum("hs,hs->s", self._before, self._after), SMALLEST)

    def enter(self, start: Ints, longest: int) -> Floats:
        """Return the state at the first gap: left and right child x heights from h - 1 on x spans."""
        top = min(self._highest, (longest + 1) // 2 + 1)
        state = np.zeros((2, top + 3, len(start)))
        slot = self._slot[start]
        state[0, 2], state[1, 1] = self._moves[R_R, slot], self._moves[R_L, slot]
        return state

    def advance(self, state: Floats, gap: Ints) -> Floats:
        """Return the state at a gap from the state at the gap before."""
        moves = self._moves[:, self._slot[gap]]
        onward = np.zeros_like(state)
        onward[:, 2:-1] = _next_heights(state[:, 1:], moves)
        onward[1, 1] = state[1, 1] * moves[R_L] + (state[0, 2] + state[1, 2]) * moves[L_L]
        return np.minimum(onward, MOST, out=onward)

    def close(self, state: Floats, start: Ints, end: Ints) -> Floats:
        """Return the probability of nodes, from the ways to close them with the last word."""
        reached, opens, closes = self._reached(start), self._opens[start], self._closes[end]
        slot = self._slot[end - np.where(closes, 2, 1)]  # the last word of a sentence has no gap
        left, right = state[0, 2], state[1, 1]
        after = self._after[:, slot]
        gap = after[1:] * self._moves[L_R, slot] + after[:-1] * self._moves[L_L, slot]
        inner = ((reached[:-1] * left + reached[1:] * right) * gap).sum(axis=0)
        probability: Floats = np.where(closes, reached[1] * right * after[1], inner) / self._whole[slot]
        probability[opens & closes] = 1
        return probability

    def open_probability(self, state: Floats, start: Ints, gap: Ints) -> Floats:
        """Return the probability that a constituent begins at a word and has the gap inside; helpers do not count."""
        ways, reached, after = np.zeros(len(start)), self._reached(start), self._after[:, self._slot[gap]]
        weights = state[0] + state[1] * self._opening[self._slot[start]]
        for above in range(min(len(weights) - 1, len(after))):  # how far the height is above h
            ways += weights[above + 1] * (reached[: len(after) - above] * after[above:]).sum(axis=0)
        ways /= self._whole[self._slot[gap]]
        return ways

    def _reached(self, start: Ints) -> Floats:
        """Return the weight of the ways to each height before spans."""
        opens = self._opens[start]
        empty = np.arange(len(self._before))[:, None] == 0
        return np.where(opens, empty, self._before[:, self._slot[np.where(opens, start, start - 1)]])

    def rate_types(self, spans: Spans, probability: Floats) -> Floats:
        """Return the probability of each type: spans x types."""
        rules = self._rules
        base, helper = rules.base[:-1], rules.helper[:-1]
        if not base.size or not spans.first.size:
            return np.zeros((len(probability), self._types.shape[1]))
        c = with_missing(comparable(self._scores.c[spans.gaps]), MISSING)
        helping = np.add.reduceat(c[helper], spans.first, axis=1).T  # spans x bases
        opener = c[:, spans.first].T
        naming = (helping - opener[:, helper] + opener[:, base]) / spans.sizes[:, None]
        helping /= spans.sizes[:, None]
        whole = self._opens[spans.start] & self._closes[spans.end]
        fits = np.where(whole[:, None], rules.root[:-1], rules.below[:-1])
        naming[~fits] = FORBIDDEN
        helping[whole | ~self._ends_with_parent(spans)] = FORBIDDEN
        share = softmax(np.concatenate([naming, helping], axis=1))[:, : len(base)] * fits
        rated: Floats = probability[:, None] * (share @ self._types[base])
        return rated

    def _ends_with_parent(self, spans: Spans) -> Bools:
        """Return whether each span ends where another span around it, or the sentence, ends."""
        earliest = np.full(len(self._closes), len(self._closes))  # the start of the largest span with each end
        np.minimum.at(earliest, spans.end, spans.start)
        return self._closes[spans.end] | (earliest[spans.end] < spans.start)


def _mark_weights(rules: TetraRules, n: Floats, c: Floats) -> Floats:
    """Return the weight of each of the first four marks with all names that fit: marks x slots."""
    moves: Floats = n[rules.n_row]
    moves[[R_R, L_R]] *= np.maximum(c[rules.base[:-1]].sum(axis=0), LEAST_WEIGHT)
    moves[[R_L, L_L]] *= np.maximum(c[rules.any].sum(axis=0), LEAST_WEIGHT)
    return moves


def _next_heights(reached: Floats, moves: Floats) -> Floats:
    """Return the weight of all ways to the inner heights, one step after those reached."""
    total: Floats = reached[..., :-2, :] * moves[R_R]
    total += reached[..., 1:-1, :] * (moves[R_L] + moves[L_R])
    total += reached[..., 2:, :] * moves[L_L]
    return total


def _forward(total: Floats, moves: Floats, block: SequenceBlock) -> None:
    """Fill in the weights of all ways to each height and slot; divide the moves so that these sum to 1."""
    moves[:, block.begin] /= moves[R_R, block.begin]
    total[1, block.begin] = 1
    for before, here in block.forward():
        ways = _next_heights(total[:, before], moves[:, here])
        scale = ways.sum(axis=0)
        moves[:, here] /= scale
        total[1:-1, here] = ways / scale


def _backward(total: Floats, moves: Floats, block: SequenceBlock) -> None:
    """Fill in the weights of all ways from each height and slot to the end; they sum to 1."""
    total[1, block.end] = 1
    for before, here in block.backward():
        ways = _next_heights(total[::-1, here], moves[:, here])[::-1]
        total[1:-1, before] = ways / ways.sum(axis=0)
