"""The best legal depths of abs, rel and dyn, found exactly, then one name for each node.

This is the relaxed search: it lets every gap have the best name for it while depths are searched, and then each node
takes the name with the highest sum over its gaps. Where all gaps of each node agree, nothing that the encoding can
write is better; for the other sentences, best.py goes on from here if `Search.joint` asks for it.

A sequence of depths is legal if an encoding could have written it: no gap lies above the root, and the last word is at
the root's depth r, which is 1 and one more for each type over the whole sentence. Its score is, summed over the words,
that of the n which the encoding writes for the step from the depth before, and that of the best c which fits: at depth
r a name with the root's mark and r levels, deeper one without the mark. Every r that the names allow is tried.

    depth   0 ──> 1 ──> 1 ──> 2 ──> 2 ──> 3 ──> 1        dyn writes  1  0  1  0  1  =1

The state of the search is r and the depth, so a step costs roots x depths x depths and the whole is linear in the
sentence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.chains import chains_of
from nestag.decoding.depth.repair import depth_steps
from nestag.decoding.entities import NamedNodes
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.nodes import Nodes, nodes_of
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores, Search, comparable
from nestag.decoding.semiring import BEST, Semiring
from nestag.encodings.depth import DepthEncoding
from nestag.vocabulary import Vocabulary

LEAST_DEEP, MOST_DEEP = 8, 64
"""How deep is searched at least if n says nothing of it, and at most unless more is asked for."""

CLOSE = 1e-9
"""Scores that are not farther apart count as equal."""


class DepthMachine(NamedTuple):
    """What a vocabulary allows: which rows of the scores count at which step."""

    roots: Ints
    """The depths that the root can have, 1 first."""
    n_row: Ints
    """The n that leads from a depth (0 first) to a depth (1 first); the last row stands for those missing."""
    c_row: Ints
    """The row of `Moves.c` for a root (its place in `roots`) and a depth (1 first)."""
    names: Ints
    """The c that can name a node below the root."""
    root_names: tuple[Ints, ...]
    """The c that can name the root, by its depth."""


class Moves(NamedTuple):
    """What a machine reads: weights as rows of words."""

    n: Floats
    """A row for each n, and one for those missing."""
    c: Floats
    """A row for names without the root's mark, one for each depth of the root, and one for what cannot be."""

    def at(self, words: Ints) -> Moves:
        """The moves of these words."""
        return Moves(self.n.take(words, axis=1), self.c.take(words, axis=1))


@lru_cache(maxsize=8)
def depth_machine(encoding: DepthEncoding, vocabulary: Vocabulary, deepest: int | None = None) -> DepthMachine:
    """The machine of a vocabulary; without `deepest`, as deep as `searched_depth` says."""
    written = chains_of(vocabulary).c.written.tolist()
    levels = [name.levels if fine and not name.prime else 0 for name, fine in zip(vocabulary.c, written, strict=True)]
    names = [row for row, name in enumerate(vocabulary.c) if levels[row] and not name.root]
    marked = [levels[row] if name.root else 0 for row, name in enumerate(vocabulary.c)]
    roots = np.unique([1, *filter(None, marked)])
    depths = np.arange(1, max(deepest or searched_depth(encoding, vocabulary), int(roots[-1])) + 1)
    at_root = depths == roots[:, None]
    above = depths < roots[:, None]
    c_row = np.where(at_root, np.arange(1, len(roots) + 1)[:, None], np.where(above, len(roots) + 1, 0))
    root_names = tuple(np.flatnonzero(np.array(marked, dtype=np.int64) == root) for root in roots)
    n_row = _n_rows(encoding, vocabulary, len(depths))
    return DepthMachine(roots, n_row, c_row, np.array(names, dtype=np.int64), root_names)


def searched_depth(encoding: DepthEncoding, vocabulary: Vocabulary) -> int:
    """How deep to search: the largest n if all are absolute, else more than any seen corpus needs.

    Relative n have no end, so there the largest n, the longest chain of types and 2 are added up, and `LEAST_DEEP` is
    taken if that is more. Never is it more than `MOST_DEEP`; ask for deeper if you need it.
    """
    steps = depth_steps(encoding, vocabulary)
    largest = int(steps.value.max(initial=1))
    if not steps.absolute.all():
        longest = max((name.levels for name in vocabulary.c), default=0)
        largest = max(largest + longest + 2, LEAST_DEEP)
    return min(largest, MOST_DEEP)


def _n_rows(encoding: DepthEncoding, vocabulary: Vocabulary, deepest: int) -> Ints:
    """The row of the n that the encoding writes for each step."""
    rows = {n: row for row, n in enumerate(vocabulary.n)}
    steps = [
        [([before] if before else []) + [depth] for depth in range(1, deepest + 1)] for before in range(deepest + 1)
    ]
    return np.array([[rows.get(list(encoding.from_depths(step))[-1], len(rows)) for step in line] for line in steps])


def moves_of(scores: Scores, c: Floats, machine: DepthMachine, semiring: Semiring) -> Moves:
    """What the machine reads, `c` being the weights of names; those that fit alike are combined."""
    words = len(scores.n)
    fit_alike = (machine.names, *machine.root_names)
    rows = [semiring.sum(c[names], 0) if names.size else np.full(words, semiring.missing) for names in fit_alike]
    n = np.concatenate([semiring.labels(scores.n), np.full((1, words), semiring.missing)])
    return Moves(n, np.stack([*rows, np.full(words, semiring.zero)]))


def forward(moves: Moves, machine: DepthMachine, lanes: Lanes, semiring: Semiring) -> Floats:
    """The weight of the ways to each root, depth and slot; the moves are those of the slots."""
    total = moves.c.take(machine.c_row, axis=0)  # roots x depths x slots
    begin, n_row = lanes.offset[1], machine.n_row[1:]
    _extend(total[:, :, :begin], moves.n[:, :begin].take(machine.n_row[0], axis=0), semiring)
    for before, a, b in lanes.steps():
        reached = total[:, :, before : before + b - a]
        _extend(total[:, :, a:b], semiring.advance(reached, moves.n[:, a:b], n_row), semiring)
    return total


def _extend(here: Floats, ways: Floats, semiring: Semiring) -> None:
    semiring.times(here, ways, out=here)


def final(total: Floats, machine: DepthMachine, lanes: Lanes, semiring: Semiring) -> Floats:
    """The weight of each root at the end of each lane; a sentence of one word has the plain root."""
    at_root = total[np.arange(len(machine.roots))[:, None], machine.roots[:, None] - 1, lanes.end]
    at_root[1:, lanes.end < lanes.offset[1]] = semiring.zero
    return at_root


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
    for rows, lanes in blocks(scores.first, scores.lengths, machine.c_row.size):
        here = moves.at(lanes.word)
        total = forward(here, machine, lanes, BEST)
        ending = final(total, machine, lanes, BEST)
        chosen = ending.argmax(axis=0)
        root[rows], score[rows] = machine.roots[chosen], ending.max(axis=0)
        depth[lanes.word] = _trace_back(total, here, machine, lanes, chosen) + 1
    return BestDepths(depth, root, score)


def _trace_back(total: Floats, moves: Moves, machine: DepthMachine, lanes: Lanes, root: Ints) -> Ints:
    """The way back along the best sequence: the depth, counted from 0, at each slot."""
    slots, depths = moves.n.shape[1], total.shape[1]
    lane = np.arange(len(root))
    reached = (root * depths + np.arange(depths)[:, None]) * slots + lane  # depths x lanes: places in `total`
    n_place = machine.n_row[1:] * slots  # depths before x depths: places in `moves.n`
    state = np.empty(slots, dtype=np.int64)
    state[lanes.end] = machine.roots[root] - 1
    for before, a, b in lanes.steps_back():
        width = b - a
        ways = total.take(reached[:, :width] + before)
        ways += moves.n.take(n_place.take(state[a:b], axis=1) + (a + lane[:width]))
        state[before : before + width] = ways.argmax(axis=0)
    return state


class LegalNodes(NamedTuple):
    """The nodes of the best depths that name entities, each with the best name for it."""

    nodes: NamedNodes
    settled: Bools
    """For each sentence, whether no label sequence that the encoding can write is better."""
    best: BestDepths


def legal_nodes(scores: Scores, machine: DepthMachine, vocabulary: Vocabulary, search: Search) -> LegalNodes:
    """The nodes of the best depths; a sentence is settled if every gap has the best name for it, and a tree has all."""
    c = comparable(scores.c)
    best = best_depths(scores, c, machine)
    depth = best.depth - np.repeat(best.root - 1, scores.lengths)
    depth[scores.last] = 0
    nodes = nodes_of(depth)
    levels = np.array([name.levels for name in vocabulary.c], dtype=np.int64)
    fits = _fitting(nodes, levels[machine.names]) if search.consistent else None
    names, loss = _best_names(c, nodes.gaps, nodes.first, machine.names, fits)
    whole = _named_roots(scores, c, machine, levels, depth, best.root)
    named = names >= 0
    parts = (nodes.start[named], whole.start), (nodes.end[named], whole.end), (names[named], whole.c)
    settled = (best.root == 1) & (best.score > MISSING / 2)
    settled[_sentence(scores, nodes.start[_unsettled(scores, nodes, names, loss, levels)])] = False
    return LegalNodes(NamedNodes(*map(np.concatenate, parts)), settled, best)


def _unsettled(scores: Scores, nodes: Nodes, names: Ints, loss: Floats, levels: Ints) -> Bools:
    """Which nodes have a name that is not the best at some gap or does not fit, or lie over a whole sentence."""
    whole = nodes.end - nodes.start == scores.lengths[_sentence(scores, nodes.start)]
    unfit = levels[names] != nodes.depth - nodes.above
    unsettled: Bools = (loss > CLOSE) | (names < 0) | unfit | whole
    return unsettled


def _sentence(scores: Scores, word: Ints) -> Ints:
    return np.searchsorted(np.cumsum(scores.lengths), word, side="right")


def _fitting(nodes: Nodes, levels: Ints) -> Bools:
    """Which names have as many levels as a node opens; all, if none has."""
    fits: Bools = (nodes.depth - nodes.above)[:, None] == levels
    fits[~fits.any(axis=1)] = True
    return fits


def _named_roots(scores: Scores, c: Floats, machine: DepthMachine, levels: Ints, depth: Ints, root: Ints) -> NamedNodes:
    """The roots that name entities, by the gaps at their depth and the last word."""
    sentence = np.repeat(np.arange(len(root)), scores.lengths)
    gaps = np.flatnonzero((root > 1)[sentence] & (depth < 2))
    first = np.flatnonzero(np.diff(sentence[gaps], prepend=-1))
    rows = sentence[gaps[first]]
    names = np.concatenate(machine.root_names)
    chosen, _ = _best_names(c, gaps, first, names, levels[names] == root[rows, None])
    return NamedNodes(scores.first[rows], scores.first[rows] + scores.lengths[rows], chosen)


def _best_names(c: Floats, gaps: Ints, first: Ints, names: Ints, fits: Bools | None) -> tuple[Ints, Floats]:
    """The c with the highest sum over the gaps of each node, among those that fit, and how much that is under the best.

    The c is -1 if there are no names.
    """
    if not names.size or not first.size:
        return np.full(len(first), -1, dtype=np.int64), np.zeros(len(first))
    here = c.take(gaps, axis=1)[names]
    total = np.add.reduceat(here, first, axis=1).T
    free = np.add.reduceat(here.max(axis=0), first)
    if fits is not None:
        total[~fits] = FORBIDDEN
    chosen = total.argmax(axis=1)
    return names[chosen], free - total[np.arange(len(first)), chosen]
