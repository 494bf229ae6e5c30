"""The best legal depths of abs, rel and dyn, found exactly, every gap with the best name for it.

Sentences stand side by side and are searched from word to word. A long sentence would have few beside it, so it is cut
into parts that stand side by side themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.machine import DepthMachine, Moves, final, forward, moves_of
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import BEST

LONG, PART = 512, 64
"""Words up to which a sentence is searched from word to word, and words of the parts in which longer ones are."""


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
    long = scores.lengths > LONG
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
    """The best depths of long sentences, whose parts are searched side by side, from every depth they can begin at.

    Then the parts are put together one after the other, and each is searched once more from where it really begins.
    """
    parts = SentenceParts.of(first, lengths)
    root, left, score = _put_together(parts, _ways_through(parts, moves, machine), machine)
    entered = np.append(0, left[:-1] + 1)
    entered[parts.begin] = 0
    depth = np.empty(moves.n.shape[1], dtype=np.int64)
    for rows, lanes in blocks(parts.first, parts.sizes, machine.c_row.size):
        at = moves.at(lanes.word)
        total = forward(at, machine, lanes, BEST, entered[rows])
        depth[lanes.word] = _trace_back(total, at, machine, lanes, root[parts.sentence[rows]], left[rows]) + 1
    words = np.concatenate([np.arange(a, a + size) for a, size in zip(first, lengths, strict=True)])
    return BestDepths(depth[words], machine.roots[root], score)


def _put_together(parts: SentenceParts, ways: Floats, machine: DepthMachine) -> tuple[Ints, Ints, Floats]:
    """The root of each sentence, the depth (from 0) at which its best way leaves each part, and its score."""
    here = ways[parts.begin, 0]  # sentences x roots x depths: the best way to the end of the part looked at
    came = np.zeros((len(ways), *machine.c_row.shape), dtype=np.int64)  # the depth each part was entered from
    for there, part in parts.later():
        together = here[there].transpose(0, 2, 1)[..., None] + ways[part]
        came[part], here[there] = together.argmax(axis=1), together.max(axis=1)
    ending = here[:, np.arange(len(machine.roots)), machine.roots - 1]  # sentences x roots
    root = ending.argmax(axis=1)
    left = np.empty(len(ways), dtype=np.int64)
    left[parts.begin + parts.parts - 1] = machine.roots[root] - 1
    for there, part in reversed(list(parts.later())):
        left[part - 1] = came[part, root[there], left[part]]
    return root, left, ending.max(axis=1)


class SentenceParts(NamedTuple):
    """Long sentences in parts of `PART` words."""

    sentence: Ints
    """Of each part."""
    first: Ints
    """The first word of each part."""
    sizes: Ints
    """Words of each part."""
    begin: Ints
    """The first part of each sentence."""
    parts: Ints
    """Parts of each sentence."""

    @classmethod
    def of(cls, first: Ints, lengths: Ints) -> SentenceParts:
        """The parts of sentences that begin with these words and have these lengths."""
        count = -(-lengths // PART)
        begin = np.cumsum(count) - count
        sentence = np.repeat(np.arange(len(count)), count)
        at = PART * (np.arange(len(sentence)) - begin[sentence])
        return cls(sentence, first[sentence] + at, np.minimum(PART, lengths[sentence] - at), begin, count)

    def later(self) -> Iterator[tuple[Ints, Ints]]:
        """The second parts, the third and so on: the sentences that have one, and its number."""
        for number in range(1, int(self.parts.max())):
            there = np.flatnonzero(self.parts > number)
            yield there, self.begin[there] + number


def _ways_through(parts: SentenceParts, moves: Moves, machine: DepthMachine) -> Floats:
    """The score of the best way through each part: parts x depths it is entered from x roots x depths it reaches."""
    depths = machine.n_row.shape[1]
    ways = np.empty((len(parts.first), depths, *machine.c_row.shape))
    whose = np.repeat(np.arange(len(parts.first)), depths)
    begins = np.isin(np.arange(len(parts.first)), parts.begin)
    for rows, lanes in blocks(parts.first[whose], parts.sizes[whose], machine.c_row.size):
        part, entered = whose[rows], rows % depths
        total = forward(moves.at(lanes.word), machine, lanes, BEST, np.where(begins[part], 0, entered + 1))
        ways[part, entered] = total[:, :, lanes.end].transpose(2, 0, 1)
    return ways


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
