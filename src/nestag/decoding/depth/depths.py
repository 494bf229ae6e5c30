"""The best legal depths of abs, rel and dyn, found exactly, every gap with the best name for it.

Sentences stand side by side and are searched from word to word. A long sentence would have few beside it, so its parts
stand side by side (parts.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.machine import DepthMachine, Moves, final, forward, moves_of
from nestag.decoding.depth.parts import SentenceParts, are_long, spread
from nestag.decoding.depth.weights import LongWeights
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import BEST


class BestDepths(NamedTuple):
    """The best sequence of depths of each sentence."""

    depth: Ints
    """After each word."""
    root: Ints
    """Of each sentence's root."""
    score: Floats
    """Of each sentence."""

    def select(self, sentences: Bools, lengths: Ints) -> BestDepths:
        """Those of some sentences."""
        return BestDepths(self.depth[np.repeat(sentences, lengths)], self.root[sentences], self.score[sentences])


def best_depths(scores: Scores, c: Floats, machine: DepthMachine) -> BestDepths:
    """The best depths, every gap with the best name for it."""
    moves = moves_of(scores, c, machine, BEST)
    depth = np.zeros(len(scores.n), dtype=np.int64)
    root = np.ones(len(scores.lengths), dtype=np.int64)
    score = np.zeros(len(scores.lengths))
    long = are_long(scores.lengths)
    if long.any():
        found = _best_of_long(moves, machine, scores.first[long], scores.lengths[long])
        depth[np.repeat(long, scores.lengths)] = found.depth
        root[long], score[long] = found.root, found.score
    for rows, lanes in blocks(scores.first, np.where(long, 0, scores.lengths), machine.c_row.size):
        here = moves.at(lanes.word)
        total = forward(here, machine, lanes, BEST)
        ending = final(total, machine, lanes, BEST)
        chosen = ending.argmax(axis=0)
        root[rows], score[rows] = machine.roots[chosen], ending.max(axis=0)
        depth[lanes.word] = _trace_back(total, here, machine, lanes, chosen, machine.roots[chosen] - 1) + 1
    return BestDepths(depth, root, score)


def _best_of_long(moves: Moves, machine: DepthMachine, first: Ints, lengths: Ints) -> BestDepths:
    """The best depths of long sentences, part by part."""
    parts, last = SentenceParts.of(first, lengths), first + lengths - 1
    weights = LongWeights.to(parts, moves, machine, BEST)
    words, roots = spread(first, lengths), np.arange(len(machine.roots))
    ending = np.add.reduceat(weights.divisor[:, words], np.cumsum(lengths) - lengths, axis=1)
    ending += weights.total[roots[:, None], machine.roots[:, None] - 1, last]
    chosen = ending.argmax(axis=0)
    depth = _way_back(parts, weights.total, moves, machine, chosen)
    return BestDepths(depth[words] + 1, machine.roots[chosen], ending.max(axis=0))


def _way_back(parts: SentenceParts, total: Floats, moves: Moves, machine: DepthMachine, root: Ints) -> Ints:
    """The depth, from 0, at each word of sentences with these roots; parts are left with a guess, the best so far."""
    mine = root[parts.sentence]
    left = np.where(parts.ends, machine.roots[mine] - 1, total[mine, :, parts.last].argmax(axis=1))
    depth = np.zeros(total.shape[2], dtype=np.int64)
    for rows, lanes in blocks(parts.first, parts.sizes, machine.c_row.size):
        here = total.take(lanes.word, axis=2)
        depth[lanes.word] = _trace_back(here, moves.at(lanes.word), machine, lanes, mine[rows], left[rows])
    whose = np.zeros(total.shape[2], dtype=np.int64)
    whose[parts.words] = np.repeat(mine, parts.sizes)
    n_row = machine.n_row[1:]

    def advance(words: Ints) -> Bools:
        after = words + 1
        ways = total[whose[words], :, words].T + moves.n[n_row.take(depth[after], axis=1), after]
        best = ways.argmax(axis=0)
        changed: Bools = best != depth[words]
        depth[words] = best
        return changed

    parts.settle(advance, back=True)
    return depth


def _trace_back(total: Floats, moves: Moves, machine: DepthMachine, lanes: Lanes, root: Ints, left: Ints) -> Ints:
    """The way back along the best sequence that ends at the depths `left`: the depth, from 0, at each slot."""
    slots, depths = moves.n.shape[1], total.shape[1]
    lane = np.arange(len(root))
    reached = (root * depths + np.arange(depths)[:, None]) * slots + lane  # depths x lanes: places in `total`
    n_place = machine.n_row[1:] * slots  # depths before x depths: places in `moves.n`
    state = np.empty(slots, dtype=np.int64)
    state[lanes.end] = left
    for before, a, b in lanes.steps_back():
        width = b - a
        ways = total.take(reached[:, :width] + before)
        ways += moves.n.take(n_place.take(state[a:b], axis=1) + (a + lane[:width]))
        state[before : before + width] = ways.argmax(axis=0)
    return state
