"""Sequences of words side by side, so that a search takes all of them one step further at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nestag.arrays import Ints

WIDTH = 256
"""The most lanes side by side; more would not stay in the processor's cache."""

CELLS = 2**23
"""The most numbers kept at once, unless one sequence alone needs more."""


class Lanes(NamedTuple):
    """Sequences of words, the longest first: a slot for each word, those of the first step before those of the second.

    >>> lanes = Lanes.of(np.array([0, 3]), np.array([3, 1]))
    >>> lanes.word.tolist(), lanes.offset, list(lanes.steps())
    ([0, 3, 1, 2], [0, 2, 3, 4], [(0, 2, 3), (2, 3, 4)])
    """

    word: Ints
    """The word of each slot."""
    offset: list[int]
    """Where the slots of each step begin, and the end of all."""
    end: Ints
    """The last slot of each lane."""

    @classmethod
    def of(cls, first: Ints, sizes: Ints) -> Lanes:
        """Lanes that begin with these words and have these sizes, none of them 0 and none rising."""
        width = len(sizes) - np.searchsorted(sizes[::-1], np.arange(sizes[0]), side="right")
        offset = np.concatenate([[0], np.cumsum(width)])
        step = np.repeat(np.arange(sizes[0]), width)
        lane = np.arange(offset[-1]) - offset[step]
        return cls(first[lane] + step, offset.tolist(), offset[sizes - 1] + np.arange(len(sizes)))

    @property
    def lane(self) -> Ints:
        """The lane of each slot."""
        begin = np.array(self.offset)
        lane: Ints = np.arange(begin[-1]) - np.repeat(begin[:-1], np.diff(begin))
        return lane

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """For each step but the first: where the slots before it begin, where its own begin and where they end."""
        return zip(self.offset, self.offset[1:], self.offset[2:], strict=False)

    def steps_back(self) -> Iterator[tuple[int, int, int]]:
        """The same, the last step first."""
        return zip(self.offset[-3::-1], self.offset[-2::-1], self.offset[::-1], strict=False)


def blocks(first: Ints, sizes: Ints, states: int) -> Iterator[tuple[Ints, Lanes]]:
    """Sequences of like size together: the rows of each block, and its lanes; empty sequences are left out."""
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    at = 0
    while at < len(order):
        room = CELLS // (states * int(sizes[order[at]]))
        rows = order[at : at + max(1, min(WIDTH, room))]
        yield rows, Lanes.of(first[rows], sizes[rows])
        at += len(rows)
