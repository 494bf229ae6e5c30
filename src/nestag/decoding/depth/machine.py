"""The machine of the depths: which sequences of depths are legal, and the weight of the ways to each of them.

A sequence of depths is legal if an encoding could have written it: no gap lies above the root, and the last word is at
the root's depth r, which is 1 and one more for each type over the whole sentence. Its score is, summed over the words,
that of the n which the encoding writes for the step from the depth before, and that of the best c which fits: at depth
r a name with the root's mark and r levels, deeper one without the mark. Every r that the names allow is tried.

    depth   0 ──> 1 ──> 1 ──> 2 ──> 2 ──> 3 ──> 1        dyn writes  1  0  1  0  1  =1

The state is r and the depth, so a step costs roots x depths x depths and the whole is linear in the sentence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.chains import chains_of
from nestag.decoding.depth.repair import DepthSteps, depth_steps
from nestag.decoding.lanes import Lanes
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import Semiring
from nestag.encodings.depth import DepthEncoding
from nestag.vocabulary import Vocabulary

LEAST_DEEP, MOST_DEEP = 8, 64
"""How deep is searched at least if n says nothing of it, and at most unless more is asked for."""


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
    steps: DepthSteps
    """What each n adds to the depth."""

    def steps_of(self, moves: Moves) -> Floats:
        """The weight of the n that leads from each depth to each, at all slots: depths before x depths x slots."""
        return moves.n.take(self.n_row[1:], axis=0)


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
    writable = chains_of(vocabulary).c.writable.tolist()
    chain_lengths = [
        name.chain_length if fine and not name.prime else 0 for name, fine in zip(vocabulary.c, writable, strict=True)
    ]
    names = [row for row, name in enumerate(vocabulary.c) if chain_lengths[row] and not name.root]
    marked = [chain_lengths[row] if name.root else 0 for row, name in enumerate(vocabulary.c)]
    roots = np.unique([1, *filter(None, marked)])
    depths = np.arange(1, max(deepest or searched_depth(encoding, vocabulary), int(roots[-1])) + 1)
    at_root = depths == roots[:, None]
    above = depths < roots[:, None]
    c_row = np.where(at_root, np.arange(1, len(roots) + 1)[:, None], np.where(above, len(roots) + 1, 0))
    root_names = tuple(np.flatnonzero(np.array(marked, dtype=np.int64) == root) for root in roots)
    n_row = _n_rows(encoding, vocabulary, len(depths))
    steps = depth_steps(encoding, vocabulary)
    return DepthMachine(roots, n_row, c_row, np.array(names, dtype=np.int64), root_names, steps)


def searched_depth(encoding: DepthEncoding, vocabulary: Vocabulary) -> int:
    """How deep to search: the largest n if all are absolute, else more than any seen corpus needs.

    Relative n have no end, so there the largest n, the longest chain of types and 2 are added up, and `LEAST_DEEP` is
    taken if that is more. Never is it more than `MOST_DEEP`; ask for deeper if you need it.
    """
    steps = depth_steps(encoding, vocabulary)
    largest = int(steps.value.max(initial=1))
    if not steps.absolute.all():
        longest = max((name.chain_length for name in vocabulary.c), default=0)
        largest = max(largest + longest + 2, LEAST_DEEP)
    return min(largest, MOST_DEEP)


def _n_rows(encoding: DepthEncoding, vocabulary: Vocabulary, deepest: int) -> Ints:
    """The row of the n that the encoding writes for each step."""
    rows = {n: row for row, n in enumerate(vocabulary.n)}
    steps = [
        [([before] if before else []) + [depth] for depth in range(1, deepest + 1)] for before in range(deepest + 1)
    ]
    return np.array([[rows.get(list(encoding.from_depths(step))[-1], len(rows)) for step in line] for line in steps])


def moves_of(scores: Scores, machine: DepthMachine, semiring: Semiring) -> Moves:
    """What the machine reads; names that fit alike are combined."""
    words, c = len(scores.n), semiring.labels(scores.c)
    fit_alike = (machine.names, *machine.root_names)
    rows = [semiring.sum(c[names], 0) if names.size else np.full(words, semiring.missing) for names in fit_alike]
    n = np.concatenate([semiring.labels(scores.n), np.full((1, words), semiring.missing)])
    return Moves(n, np.stack([*rows, np.full(words, semiring.zero)]))


def forward(
    moves: Moves, machine: DepthMachine, lanes: Lanes, semiring: Semiring, inside: Bools | None = None, deepest: int = 1
) -> Floats:
    """The weight of the ways to each root, depth and slot; the moves are those of the slots.

    Lanes that begin `inside` a sentence can be entered from every depth down to the `deepest`.
    """
    total = moves.c.take(machine.c_row, axis=0)  # roots x depths x slots
    steps, begin = machine.steps_of(moves), lanes.offset[1]
    entering = moves.n[:, :begin].take(machine.n_row[0], axis=0)  # depths x lanes
    if inside is not None:
        entering[:, inside] = semiring.sum(steps[:deepest, :, :begin][:, :, inside], 0)
    semiring.times(total[:, :, :begin], entering, out=total[:, :, :begin])
    for before, a, b in lanes.steps():
        here, reached = total[:, :, a:b], total[:, :, before : before + b - a]
        semiring.times(here, semiring.advance(reached, steps[:, :, a:b]), out=here)
    return total


def backward(moves: Moves, machine: DepthMachine, lanes: Lanes, semiring: Semiring) -> Floats:
    """The weight of all ways from each root, depth and slot to the end, where the depth is that of the root."""
    total = np.full((*machine.c_row.shape, lanes.offset[-1]), semiring.zero)
    total[np.arange(len(machine.roots))[:, None], machine.roots[:, None] - 1, lanes.end] = semiring.one
    steps = machine.steps_of(moves).swapaxes(0, 1)
    onward = moves.c.take(machine.c_row, axis=0)  # with the slot's own name
    onward[:, :, lanes.end] = semiring.times(onward[:, :, lanes.end], total[:, :, lanes.end])
    for before, a, b in lanes.steps_back():
        behind = slice(before, before + b - a)
        total[:, :, behind] = ways = semiring.advance(onward[:, :, a:b], steps[:, :, a:b])
        semiring.times(onward[:, :, behind], ways, out=onward[:, :, behind])
    return total


def final(total: Floats, machine: DepthMachine, lanes: Lanes, semiring: Semiring) -> Floats:
    """The weight of each root at the end of each lane; a sentence of one word has the plain root."""
    at_root = at_roots(total, machine, lanes.end)
    at_root[1:, lanes.end < lanes.offset[1]] = semiring.zero
    return at_root


def at_roots(total: Floats, machine: DepthMachine, slots: Ints) -> Floats:
    """The weight of each root's own depth at slots: roots x slots."""
    found: Floats = total[np.arange(len(machine.roots))[:, None], machine.roots[:, None] - 1, slots]
    return found
