"""The best legal depths of abs, rel and dyn, found exactly, every gap with the best name for it.

Where the best labels of all words are legal together, they are the answer (guess.py). The other sentences stand side by
side and are searched from word to word. A long sentence would have few beside it, and hardly ever be without any
contradiction, so it is cut at gaps outside all entities, and only the parts with a contradiction are searched, from any
depth to any depth. A part is done if nothing that enters or leaves it elsewhere is better than what enters and leaves
it at depth 1: the best way through it is then part of the best way through the sentence, because its score and the best
labels of all other words together are the most that any way can have. A part that is not done is searched once more
with its neighbours; a sentence that still has such parts after some rounds, or parts that are themselves long, is
searched by way of parts.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.guess import GuessedDepths, guess_depths
from nestag.decoding.depth.machine import DepthMachine, Moves, at_roots, final, forward, moves_of
from nestag.decoding.depth.parts import SentenceParts, are_long, spread
from nestag.decoding.depth.weights import LongWeights
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import MAX_PLUS

PART = 16
"""Words of the parts into which long sentences are cut; each ends with the last gap in these that is good for it."""

ROUNDS = 2
"""How often parts that are not done are searched with their neighbours."""


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

    def below_roots(self, scores: Scores) -> Ints:
        """Depths as nodes.py takes them: every root has depth 1, and each last word has depth 0."""
        depth: Ints = self.depth - np.repeat(self.root - 1, scores.lengths)
        depth[scores.last] = 0
        return depth


class Sections(NamedTuple):
    """Runs of words, each a sentence or a part of one."""

    first: Ints
    last: Ints
    begins: Bools
    """Whether each begins its sentence."""
    ends: Bools
    """Whether each ends its sentence."""

    @property
    def sizes(self) -> Ints:
        """Words of each."""
        return self.last - self.first + 1

    @property
    def words(self) -> Ints:
        """The words of all."""
        return spread(self.first, self.sizes)

    @classmethod
    def between(cls, cut: Bools, scores: Scores) -> Sections:
        """All sections that end with these words."""
        last = np.flatnonzero(cut)
        first = np.concatenate([last[:0], [0], last[:-1] + 1])[: len(last)]
        begins, ends = np.zeros((2, len(cut)), dtype=bool)
        begins[scores.first[scores.lengths > 0]], ends[scores.last] = True, True
        return cls(first, last, begins[first], ends[last])

    def at(self, rows: Ints | Bools) -> Sections:
        """Some of them."""
        return Sections(self.first[rows], self.last[rows], self.begins[rows], self.ends[rows])


def best_depths(scores: Scores, machine: DepthMachine) -> BestDepths:
    """The best depths, every gap with the best name for it."""
    guess = guess_depths(scores, machine)
    found = BestDepths(guess.depth, np.ones(len(scores.lengths), dtype=np.int64), np.zeros(len(scores.lengths)))
    if not guess.wrong.any():
        return found
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    reached = np.zeros(len(sentence))  # the score of each section, at its last word
    cut = _cuts(guess, scores, sentence)
    sections = Sections.between(cut, scores)
    todo = sections.at(np.logical_or.reduceat(guess.wrong, sections.first))
    for _ in range(1 + ROUNDS):
        root, done = _search(scores, machine, todo, found.depth, reached)
        found.root[sentence[todo.first]] = root
        if done.all():
            break
        open_still = todo.at(~done)
        cut[open_still.last[~open_still.ends]] = False
        cut[open_still.first[~open_still.begins] - 1] = False
        sections = Sections.between(cut, scores)
        todo = sections.at(np.unique(np.searchsorted(sections.last, open_still.first)))
    found.score[:] = np.bincount(sentence, reached, len(scores.lengths))
    if not done.all():
        rows = np.unique(sentence[open_still.first])
        words = spread(scores.first[rows], scores.lengths[rows])
        long = _best_of_long(moves_of(scores.at(words), machine, MAX_PLUS), machine, scores.lengths[rows])
        found.depth[words], found.root[rows], found.score[rows] = long
    return found


def _cuts(guess: GuessedDepths, scores: Scores, sentence: Ints) -> Bools:
    """The last words of the sections: of sentences, and in long ones the last good gap of each `PART` words."""
    cut = np.zeros(len(sentence), dtype=bool)
    if (long := are_long(scores.lengths)).any():
        good = guess.outside & ~guess.wrong
        good[1:-1] &= good[:-2] & good[2:]
        at = np.flatnonzero(good & long[sentence])
        part = (at - scores.first[sentence[at]]) // PART
        new = (part[1:] != part[:-1]) | (sentence[at[1:]] != sentence[at[:-1]])
        cut[at[np.append(new, True)] if at.size else at] = True
    cut[scores.last] = True
    return cut


def _search(scores: Scores, machine: DepthMachine, todo: Sections, depth: Ints, reached: Floats) -> tuple[Ints, Bools]:
    """Search sections that are not long and keep their depths and scores; returns the roots, and which are done."""
    words, sizes, long = todo.words, todo.sizes, are_long(todo.sizes)
    moves = moves_of(scores.at(words), machine, MAX_PLUS)
    root, done, score = np.ones(len(sizes), dtype=np.int64), todo.begins & todo.ends & ~long, np.zeros(len(sizes))
    for rows, lanes in blocks(np.cumsum(sizes) - sizes, np.where(long, 0, sizes), machine.c_row.size):
        here, whole, ends = moves.at(lanes.word), done[rows], todo.ends[rows]
        total = forward(here, machine, lanes, MAX_PLUS, ~todo.begins[rows], machine.n_row.shape[1])
        chosen = np.where(whole, final(total, machine, lanes, MAX_PLUS).argmax(axis=0), 0)
        root[rows], score[rows] = machine.roots[chosen], total[chosen, machine.roots[chosen] - 1, lanes.end]
        state = _trace_back(total, here, machine, lanes, chosen, machine.roots[chosen] - 1)
        depth[words[lanes.word]] = state + 1
        if not whole.all():
            leaving = total[:, :, lanes.end].max(axis=(0, 1))
            leaving[ends] = at_roots(total, machine, lanes.end[ends]).max(axis=0)
            done[rows] |= (leaving <= score[rows]) & (todo.begins[rows] | _entered(here, machine, lanes, state))
    reached[words] = 0
    reached[todo.last] = score
    return root, done


def _entered(moves: Moves, machine: DepthMachine, lanes: Lanes, state: Ints) -> Bools:
    """Whether nothing better than depth 1 stands before the first state of each lane."""
    begin = lanes.offset[1]
    rows = machine.n_row[1:].take(state[:begin], axis=1)  # depths before x lanes
    ways = moves.n[rows, np.arange(begin)]
    entered: Bools = ways[0] >= ways.max(axis=0)
    return entered


def _best_of_long(moves: Moves, machine: DepthMachine, lengths: Ints) -> BestDepths:
    """The best depths of long sentences, part by part."""
    first = np.cumsum(lengths) - lengths
    parts, last = SentenceParts.of(first, lengths), first + lengths - 1
    weights = LongWeights.to(parts, moves, machine, MAX_PLUS)
    ending = np.add.reduceat(weights.divisor, first, axis=1) + at_roots(weights.total, machine, last)
    chosen = ending.argmax(axis=0)
    depth = _way_back(parts, weights.total, moves, machine, chosen)
    return BestDepths(depth + 1, machine.roots[chosen], ending.max(axis=0))


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
