"""The best legal marks of 4tg: an exact search over the height of the stack.

A word r puts a subtree on the stack (+1), a word l fills a slot (needs one); a gap R keeps the height, a gap L takes
the highest subtree into the slot of the one below (-1, needs two). Before the first word the stack is empty, after the
last one, which has no gap, it holds one subtree. The score of a sequence is, summed over the words, that of n and, but
for the last word, that of the best c which fits: after R a name that is no helper's, after L any. With `Search.joint`
the last word's c, which repeats the one before, counts as well.

    marks     rR   lR   rR   rL   lL   l
    height     1    1    2    2    1   1      after each word and its gap

How the nodes of such a sequence lie and are named, names.py says.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.arrays import Floats, Ints
from nestag.decoding.chains import chains_of
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import MAX_PLUS, Semiring
from nestag.encodings.tetra import MARKS
from nestag.vocabulary import Vocabulary

HIGHEST = 16
"""The highest stack searched unless more is asked for; corpora with entities eight deep need 5."""

RISE = np.array([1, 0, 0, -1])
"""How each of the first four marks changes the height."""

R_R, R_L, L_R, L_L, R, L = range(6)
assert MARKS == ("rR", "rL", "lR", "lL", "r", "l")


class Heights(NamedTuple):
    """The best legal sequences: the mark of each word, and the height of the stack after it."""

    mark: Ints
    height: Ints


def tetra_moves(vocabulary: Vocabulary, scores: Scores, c: Floats, semiring: Semiring) -> Floats:
    """The weight of each mark with the names that fit, `c` being the weights of names: marks x words."""
    missing = np.full((1, len(scores.n)), semiring.missing)
    n = np.concatenate([semiring.labels(scores.n), missing])
    rows = {mark: row for row, mark in enumerate(vocabulary.n)}
    moves: Floats = n[[rows.get(mark, len(rows)) for mark in MARKS]]
    names = fitting_names(vocabulary)
    for marks, some in (([R_R, L_R], names.opening), ([R_L, L_L], names.any)):
        moves[marks] = semiring.times(moves[marks], semiring.sum(c[some], 0) if some.size else missing)
    return moves


class FittingNames(NamedTuple):
    """The rows of the c that fit a gap R, where a constituent is opened, and a gap L."""

    opening: Ints
    any: Ints


@lru_cache(maxsize=8)
def fitting_names(vocabulary: Vocabulary) -> FittingNames:
    """The c that can be written, and those of them that are no helper's."""
    writable = chains_of(vocabulary).c.writable.tolist()
    rows = [row for row, name in enumerate(vocabulary.c) if name.chain_length and writable[row]]
    opening = [row for row in rows if not vocabulary.c[row].prime]
    return FittingNames(np.array(opening, dtype=np.int64), np.array(rows, dtype=np.int64))


def highest_stack(longest: int, deepest: int | None) -> int:
    """How high to search: a stack higher than half the sentence cannot come down in time."""
    return max(1, min(deepest or HIGHEST, longest // 2))


def forward_heights(moves: Floats, lanes: Lanes, highest: int, semiring: Semiring) -> Floats:
    """The weight of all ways to each height (0 first) and slot; the moves are those of the slots."""
    total = np.full((highest + 2, lanes.offset[-1]), semiring.zero)
    total[1, : lanes.offset[1]] = moves[R_R, : lanes.offset[1]]
    steps = rising_staying_falling(moves, semiring)
    for before, a, b in lanes.steps():
        total[1:-1, a:b] = next_heights(total[:, before : before + b - a], steps[:, a:b], semiring)
    return total


def rising_staying_falling(moves: Floats, semiring: Semiring) -> Floats:
    """The weight of the marks that change the height by 1, 0 and -1."""
    return np.stack([moves[R_R], semiring.sum(moves[[R_L, L_R]], 0), moves[L_L]])


def next_heights(reached: Floats, steps: Floats, semiring: Semiring) -> Floats:
    """The weight of all ways to the inner heights, one step after those reached: heights - 2 x lanes."""
    rises, stays, falls = steps
    total: Floats = semiring.times(reached[..., :-2, :], rises)
    semiring.plus(total, semiring.times(reached[..., 1:-1, :], stays), out=total)
    semiring.plus(total, semiring.times(reached[..., 2:, :], falls), out=total)
    return total


def best_marks(vocabulary: Vocabulary, scores: Scores, c: Floats, deepest: int | None) -> Heights:
    """The best legal marks of each sentence."""
    moves = tetra_moves(vocabulary, scores, c, MAX_PLUS)
    mark = np.full(len(scores.n), L)
    height = np.ones(len(scores.n), dtype=np.int64)
    mark[scores.first[scores.lengths == 1]] = R
    highest = highest_stack(int(scores.lengths.max(initial=0)), deepest)
    for rows, lanes in blocks(scores.first, np.maximum(scores.lengths - 1, 0), highest + 2):  # the last word has no gap
        here = moves.take(lanes.word, axis=1)
        top = highest_stack(int(scores.lengths[rows[0]]), deepest)
        total = forward_heights(here, lanes, top, MAX_PLUS)
        mark[lanes.word], height[lanes.word] = _trace_back(total, here, lanes)
    return Heights(mark, height)


def _trace_back(total: Floats, moves: Floats, lanes: Lanes) -> Heights:
    """The way back from height 1 at the end of each lane."""
    slots = moves.shape[1]
    lane = np.arange(len(lanes.end))
    mark, height = np.full(slots, R_R), np.ones(slots, dtype=np.int64)
    from_place = -RISE[:, None] * slots + lane  # marks x lanes: where in `total`, beyond the height, each comes from
    move_place = np.arange(4)[:, None] * slots + lane
    for before, a, b in lanes.steps_back():
        now = height[a:b]
        ways = total.take(from_place[:, : b - a] + (now * slots + before))
        ways += moves.take(move_place[:, : b - a] + a)
        mark[a:b] = chosen = ways.argmax(axis=0)
        height[before : before + b - a] = now - RISE[chosen]
    return Heights(mark, height)
