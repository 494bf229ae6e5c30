"""The weights of the ways through long sentences, part by part (parts.py), the largest of each word brought to 1.

Along a long sentence products underflow and sums lose their last digits. So the weights of each root are divided, at
every word, by the sum of them (for the best: by the best), and what they were divided by is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.machine import DepthMachine, Moves, backward, forward
from nestag.decoding.depth.parts import SentenceParts
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.semiring import MAX_PLUS, SUM_PRODUCT, UNDERFLOW, Semiring

BEFORE = 16
"""Words before each part (behind it, from the end on) with which it is begun, so that the guess is nearly forgotten."""

SAME = 1e-10
"""How far weights may be apart, as shares of them (for the best: how far scores), and still be the same."""


class LongWeights:
    """What is known of the words of long sentences from one side: of the ways to them, or from them to the end."""

    def __init__(self, moves: Moves, machine: DepthMachine, semiring: Semiring) -> None:
        """The moves are those of the words of these sentences alone; `semiring` is MAX_PLUS or SUM_PRODUCT."""
        assert semiring in (MAX_PLUS, SUM_PRODUCT)
        self.moves, self.machine, self.semiring = moves, machine, semiring
        words = moves.n.shape[1]
        self.total = np.zeros((*machine.c_row.shape, 0))
        """Of each root, depth and word, as a share of all depths, or beside the best."""
        self.divisor = np.zeros((len(machine.roots), words))
        """By what the weights of each root were divided at each word and not before it, as a logarithm."""

    @classmethod
    def to(cls, parts: SentenceParts, moves: Moves, machine: DepthMachine, semiring: Semiring) -> LongWeights:
        """The weights of all ways to each word; the lanes of parts begin with a guess, that depth 1 came before."""
        weights = cls(moves, machine, semiring)

        first = np.maximum(parts.first - BEFORE, parts.start)

        def run(here: Moves, lanes: Lanes, rows: Ints) -> Floats:
            return forward(here, machine, lanes, semiring, (first > parts.start)[rows])

        weights.total = weights._side_by_side(parts, first, parts.last, run)
        whole = weights._divided(weights.total)
        weights.divisor[:, 1:] = np.diff(whole, axis=1)
        weights.divisor[:, parts.first] = whole[:, parts.first]
        parts.settle(weights._forward)
        return weights

    @classmethod
    def onward(cls, parts: SentenceParts, moves: Moves, machine: DepthMachine, semiring: Semiring) -> LongWeights:
        """The weights of all ways from each word to the end; lanes end with a guess, as if the sentence ended there."""
        weights = cls(moves, machine, semiring)

        def run(here: Moves, lanes: Lanes, _: Ints) -> Floats:
            return backward(here, machine, lanes, semiring)

        weights.total = weights._side_by_side(parts, parts.first, np.minimum(parts.last + BEFORE, parts.stop), run)
        weights._divided(weights.total)
        parts.settle(weights._backward, back=True)
        return weights

    def _side_by_side(
        self, parts: SentenceParts, first: Ints, last: Ints, run: Callable[[Moves, Lanes, Ints], Floats]
    ) -> Floats:
        """The weights of parts, whose lanes have these first and last words, at all words in order."""
        slot = np.zeros(self.moves.n.shape[1], dtype=np.int64)
        found, at = [], 0
        for rows, lanes in blocks(first, last - first + 1, self.machine.n_row.size):
            found.append(run(self.moves.at(lanes.word), lanes, rows))
            part = rows[lanes.lane]
            own = np.flatnonzero((lanes.word >= parts.first[part]) & (lanes.word <= parts.last[part]))
            slot[lanes.word[own]] = at + own
            at += len(lanes.word)
        return np.concatenate(found, axis=2).take(slot, axis=2)

    def _forward(self, words: Ints) -> Bools:
        reached = self.total.take(words - 1, axis=2)
        ways = self.semiring.advance(reached, self.machine.steps_of(self.moves.at(words)))
        return self._keep(words, self.semiring.times(ways, self._names(words), out=ways))

    def _backward(self, words: Ints) -> Bools:
        following = self.semiring.times(self.total.take(words + 1, axis=2), self._names(words + 1))
        steps = self.machine.steps_of(self.moves.at(words + 1)).swapaxes(0, 1)
        return self._keep(words, self.semiring.advance(following, steps))

    def _names(self, words: Ints) -> Floats:
        """The weights of names by root and depth: roots x depths x words."""
        return self.moves.c.take(words, axis=1).take(self.machine.c_row, axis=0)

    def _keep(self, words: Ints, weights: Floats) -> Bools:
        """Keep the weights of words; returns which of them are new."""
        self.divisor[:, words] = self._divided(weights)
        before = self.total.take(words, axis=2)
        self.total[:, :, words] = weights
        allowed = SAME + 1e-14 * np.abs(before) if self.semiring is MAX_PLUS else SAME * before
        changed: Bools = np.logical_or.reduce(np.abs(weights - before) > allowed, axis=(0, 1))
        return changed

    def _divided(self, weights: Floats) -> Floats:
        """Divide weights (roots x depths x words) by their sums, whose logarithms are returned: roots x words."""
        whole = self.semiring.sum(weights, 1)
        if self.semiring is MAX_PLUS:
            weights -= whole[:, None]
            return whole
        weights /= np.maximum(whole, UNDERFLOW)[:, None]
        logarithm: Floats = np.log(np.maximum(whole, UNDERFLOW))
        return logarithm
