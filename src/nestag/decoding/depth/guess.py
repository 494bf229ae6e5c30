"""Depths by the best label of each head, and where these labels contradict each other.

No legal sequence scores more than the best labels of all its words, so where these are legal together, they are what a
search would find. Most sentences of a trained tagger are like that; only the others are searched (depths.py).

A gap whose best c is the name of a root without types is taken to be at depth 1; from there depths are counted anew:

    best n    1   1  -1   0   0        best c of each gap:  . root   o  other
    best c    .   o   .   .   o
    depth     1   2   1   1   1        the last gap is wrong: its c does not fit depth 1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.arrays import Bools, Ints
from nestag.decoding.depth.machine import DepthMachine
from nestag.decoding.scores import Scores, best_labels


class GuessedDepths(NamedTuple):
    """What the best labels of all words say."""

    depth: Ints
    """After each word."""
    wrong: Bools
    """Whether the best labels of a word are not those of the step to this depth from the one before."""
    outside: Bools
    """Whether the best c of a word is the name of a root without types."""


def guess_depths(scores: Scores, machine: DepthMachine) -> GuessedDepths:
    """The depths that the best labels describe."""
    n, c = best_labels(scores.n), best_labels(scores.c)
    first = scores.first[scores.lengths > 0]
    names = np.zeros((2, scores.c.shape[1]), dtype=bool)
    names[0, machine.names], names[1, machine.root_names[0]] = True, True
    outside = names[1][c]
    depth = _counted(machine.steps.value[n], machine.steps.absolute[n], outside, first)
    before = np.ones_like(depth)
    np.copyto(before[1:], depth[:-1], where=~outside[:-1])
    before[first] = 0
    deepest = machine.n_row.shape[1]
    wrong = (depth < 1) | (depth > deepest) | (before < 0) | (before > deepest)
    depth[wrong], before[wrong] = 1, 0
    wrong |= machine.n_row.ravel().take(before * deepest + depth - 1) != n
    wrong |= np.where(depth == 1, ~outside, ~names[0][c])
    wrong[scores.last[depth[scores.last] > 1]] = True
    for head in (scores.n, scores.c):
        _mark_without_scores(wrong, head)
    return GuessedDepths(depth, wrong, outside)


def _counted(value: Ints, absolute: Bools, outside: Bools, first: Ints) -> Ints:
    """Depths counted from the beginning of each sentence, from each gap outside and from each absolute depth."""
    begins = absolute.copy()
    begins[1:] |= outside[:-1]
    begins[first] = True
    one_more = begins & ~absolute
    one_more[first] = False
    added = value + one_more
    walk = np.cumsum(added)
    at = np.flatnonzero(begins)
    counted: Ints = walk - np.repeat(walk[at] - added[at], np.diff(at, append=len(walk)))
    return counted


def _mark_without_scores(wrong: Bools, head: NDArray[Any]) -> None:
    """Mark words of which every label is scored with minus infinity."""
    if head.size and np.isneginf(head.min()):
        wrong |= np.isneginf(head.max(axis=1))
