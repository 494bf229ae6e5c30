"""How probable it is that a span is a node, for abs, rel and dyn.

The scores make a Markov chain over the legal sequences: each has a weight, the exponential of its score with all names
that fit instead of the best, and its share of the weight of all is its probability. A span is a node if the gaps inside
are deeper than those on both sides, whatever its level:

    depth    2   │ 3   4   3 │   1          k = 3: the gaps of the span are k deep or more, the deeper side k - 1
             side│  inside   │side

For each k there are two cases, the left side k - 1 deep, or the right side alone. Summed over them, over the roots and
over the depths of both sides, this is exact: the ways to the left side (forward), those inside that never rise above k,
and those from the right side on (backward). Inside, a step costs roots x cases x depths x depths, so all is linear in
the tokens and in the spans' lengths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.decoding.legal import DepthMachine, Moves, final, forward, moves_of
from nestag.decoding.scores import FORBIDDEN, Floats, Lanes, Scores, blocks, log_advance, log_sum
from nestag.decoding.tables import Ints


class Chain(NamedTuple):
    """The weights of all legal sequences of a batch, as logarithms."""

    machine: DepthMachine
    moves: Moves
    before: Floats
    """Of all ways to a root, depth and token."""
    after: Floats
    """Of all ways from there to the end."""
    root: Floats
    """How probable each root is: roots x sentences."""
    whole: Floats
    """Of all sequences of each sentence."""

    @classmethod
    def of(cls, scores: Scores, c: Floats, machine: DepthMachine) -> Chain:
        """Run forward and backward over all sentences, `c` being the comparable scores of names."""
        moves = moves_of(scores, c, machine, log_sum)
        before, after = (np.empty((*machine.c_row.shape, len(scores.n))) for _ in range(2))
        root = np.zeros((len(machine.roots), len(scores.sizes)))
        whole = np.zeros(len(scores.sizes))
        for rows, lanes in blocks(scores.first, scores.sizes, machine.n_row.size):
            here = moves.at(lanes.token)
            total = forward(here, machine, lanes, log_advance)
            at_root = final(total, machine, lanes)
            whole[rows] = log_sum(at_root, 0)
            root[:, rows] = np.exp(at_root - whole[rows])
            before[:, :, lanes.token] = total
            after[:, :, lanes.token] = _backward(here, machine, lanes)
        return cls(machine, moves, before, after, root, whole)


def _backward(moves: Moves, machine: DepthMachine, lanes: Lanes) -> Floats:
    """The weight of all ways from each root, depth and slot to the end."""
    total = np.full((*machine.c_row.shape, lanes.offset[-1]), FORBIDDEN)
    total[np.arange(len(machine.roots))[:, None], machine.roots[:, None] - 1, lanes.end] = 0
    n_row, offset = machine.n_row[1:].T, lanes.offset
    for before, a, b in zip(offset[-3::-1], offset[-2::-1], offset[::-1], strict=False):
        following = total[:, :, a:b] + moves.c[:, a:b].take(machine.c_row, axis=0)
        total[:, :, before : before + b - a] = log_advance(following, moves.n[:, a:b], n_row)
    return total


class Cases(NamedTuple):
    """For each case what may not be: 0 where a depth is allowed, `FORBIDDEN` where not; cases x depths."""

    left: Floats
    """The left side's depth, 0 first."""
    inside: Floats
    """The depths inside, 1 first."""
    right: Floats
    """The right side's depth, 1 first."""

    @classmethod
    def to(cls, deepest: int) -> Cases:
        """Both cases of each k below the root."""
        k = np.arange(2, deepest + 1)[:, None]
        depth = np.arange(deepest + 1)
        left = np.concatenate([depth == k - 1, depth < k - 1])
        inside = np.concatenate([depth >= k, depth >= k])
        right = np.concatenate([depth <= k - 1, depth == k - 1])
        return cls(*(np.where(allowed, 0.0, FORBIDDEN) for allowed in (left, inside[:, 1:], right[:, 1:])))


def span_probabilities(chain: Chain, scores: Scores, start: Ints, end: Ints) -> Floats:
    """How probable each span of two tokens or more is a node below the root, from 0 to 1."""
    probability = np.zeros(len(start))
    deepest = len(chain.machine.n_row) - 1
    if deepest == 1:
        return probability
    sentence = np.searchsorted(np.cumsum(scores.sizes), start, side="right")
    opens = start == scores.first[sentence]
    cases = Cases.to(deepest)
    for rows, lanes in blocks(start, end - start - 1, len(chain.machine.roots) * cases.inside.size * deepest):
        inside = _inside(chain, cases, lanes, start[rows], opens[rows])
        weight = _closed(chain, cases, inside[..., lanes.end], end[rows] - 1)
        probability[rows] = np.exp(np.minimum(weight - chain.whole[sentence[rows]], 0))
    return probability


def _inside(chain: Chain, cases: Cases, lanes: Lanes, start: Ints, opens: NDArray[np.bool_]) -> Floats:
    """The weight of all ways to each root, case, depth and slot that went into the span and stayed there."""
    machine, moves = chain.machine, chain.moves.at(lanes.token)
    offset, n_row = lanes.offset, machine.n_row
    total = cases.inside[:, :, None] + moves.c[0]  # cases x depths x slots: inside, names have no root's mark
    total = np.repeat(total[None], len(machine.roots), axis=0)
    ways = _left(chain, start, opens)[:, None] + cases.left[:, :, None]  # roots x cases x depths before x lanes
    total[..., : offset[1]] += log_advance(ways, moves.n[:, : offset[1]], n_row)
    for before, a, b in zip(offset, offset[1:], offset[2:], strict=False):
        total[..., a:b] += log_advance(total[..., before : before + b - a], moves.n[:, a:b], n_row[1:])
    return total


def _left(chain: Chain, start: Ints, opens: NDArray[np.bool_]) -> Floats:
    """The weight of all ways to the gap before each span: roots x depths (0 first) x spans."""
    roots, depths, _ = chain.before.shape
    total = np.full((roots, depths + 1, len(start)), FORBIDDEN)
    total[:, 0, opens] = 0
    total[:, 1:, ~opens] = chain.before[:, :, start[~opens] - 1]
    return total


def _closed(chain: Chain, cases: Cases, inside: Floats, side: Ints) -> Floats:
    """The weight of all sequences with each span, whose right side is the gap after token `side`."""
    machine, moves = chain.machine, chain.moves.at(side)
    leaves = log_advance(inside, moves.n, machine.n_row[1:])  # roots x cases x depths x spans
    leaves += cases.right[:, :, None]
    leaves += (moves.c.take(machine.c_row, axis=0) + chain.after[:, :, side])[:, None]
    return log_sum(leaves.reshape(-1, len(side)), 0)
