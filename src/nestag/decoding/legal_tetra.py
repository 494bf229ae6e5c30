"""The best legal marks of 4tg: an exact search over the height of the stack.

A word r puts a subtree on the stack (+1), a word l fills a slot (needs one); a gap R keeps the height, a gap L takes
the highest subtree into the slot of the one below (-1, needs two). Before the first word the stack is empty, after the
last one, which has no gap, it holds one subtree. The score of a sequence is, summed over the words, that of n and, but
for the last word, that of the best c which fits: after R a name that is no helper's, after L any.

    marks     rR   lR   rR   rL   lL   l
    height     1    1    2    2    1   1      after each word and its gap

How the nodes of such a sequence lie and are named, spines.py says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.decoding.scores import FORBIDDEN, MISSING, Combine, Floats, Lanes, Scores, best, blocks, comparable
from nestag.decoding.tables import Ints
from nestag.encodings.tetra import MARKS
from nestag.vocabulary import Vocabulary

HIGHEST = 16
"""The highest stack searched unless more is asked for; corpora with entities eight deep need 5."""

RISE = np.array([1, 0, 0, -1])
"""How each of the first four marks changes the height."""

R_R, R_L, L_R, L_L, R, L = range(6)
assert MARKS == ("rR", "rL", "lR", "lL", "r", "l")


class Heights(NamedTuple):
    """The best legal sequences: the mark of each token, and the height of the stack after it."""

    mark: Ints
    height: Ints


def tetra_moves(vocabulary: Vocabulary, scores: Scores, c: Floats, combine: Combine) -> Floats:
    """The score of each mark with the names that fit, `c` being their comparable scores: marks x tokens."""
    missing = np.full((1, len(scores.n)), MISSING)
    n = np.concatenate([comparable(scores.n), missing])
    rows = {mark: row for row, mark in enumerate(vocabulary.n)}
    moves = n[[rows.get(mark, len(rows)) for mark in MARKS]]
    any_name = [row for row, name in enumerate(vocabulary.c) if name.levels]
    no_helper = [row for row in any_name if not vocabulary.c[row].prime]
    moves[[R_R, L_R]] += combine(c[no_helper], 0) if no_helper else missing
    moves[[R_L, L_L]] += combine(c[any_name], 0) if any_name else missing
    return moves


def highest_stack(longest: int, deepest: int | None) -> int:
    """How high to search: a stack higher than half the sentence cannot come down in time."""
    return max(1, min(deepest or HIGHEST, longest // 2))


def forward_heights(moves: Floats, lanes: Lanes, highest: int, combine: Combine) -> Floats:
    """The score of all ways to each height (0 first) and slot, combined; the moves are those of the slots."""
    total = np.full((highest + 2, lanes.offset[-1]), FORBIDDEN)
    offset = lanes.offset
    total[1, : offset[1]] = moves[R_R, : offset[1]]
    stay = combine(moves[[R_L, L_R]], 0)
    for before, a, b in zip(offset, offset[1:], offset[2:], strict=False):
        reached = total[:, before : before + b - a]
        ways = np.stack([reached[:-2] + moves[R_R, a:b], reached[1:-1] + stay[a:b], reached[2:] + moves[L_L, a:b]])
        total[1:-1, a:b] = combine(ways, 0)
    return total


def best_marks(vocabulary: Vocabulary, scores: Scores, c: Floats, deepest: int | None) -> Heights:
    """The best legal marks of each sentence."""
    moves = tetra_moves(vocabulary, scores, c, best)
    mark = np.full(len(scores.n), L)
    height = np.ones(len(scores.n), dtype=np.int64)
    mark[scores.first[scores.sizes == 1]] = R
    highest = highest_stack(int(scores.sizes.max(initial=0)), deepest)
    for rows, lanes in blocks(scores.first, np.maximum(scores.sizes - 1, 0), highest + 2):  # the last word has no gap
        here = moves.take(lanes.token, axis=1)
        top = highest_stack(int(scores.sizes[rows[0]]), deepest)
        total = forward_heights(here, lanes, top, best)
        mark[lanes.token], height[lanes.token] = _traced(total, here, lanes)
    return Heights(mark, height)


def _traced(total: Floats, moves: Floats, lanes: Lanes) -> Heights:
    """The way back from height 1 at the end of each lane."""
    slots = moves.shape[1]
    lane = np.arange(len(lanes.end))
    mark, height = np.full(slots, R_R), np.ones(slots, dtype=np.int64)
    from_place = -RISE[:, None] * slots + lane  # marks x lanes: where in `total`, beyond the height, each comes from
    move_place = np.arange(4)[:, None] * slots + lane
    offset = lanes.offset
    for before, a, b in zip(offset[-3::-1], offset[-2::-1], offset[::-1], strict=False):
        now = height[a:b]
        ways = total.take(from_place[:, : b - a] + (now * slots + before))
        ways += moves.take(move_place[:, : b - a] + a)
        mark[a:b] = chosen = ways.argmax(axis=0)
        height[before : before + b - a] = now - RISE[chosen]
    return Heights(mark, height)
