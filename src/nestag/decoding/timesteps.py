"""Sequences of different lengths, laid out so that one step takes all of them one word further.

The sequences are sorted by length, the longest first. The slots of the first words come first, then those of the
second words, and so on, as in a packed sequence of torch. A step works on a slice of the slots, without padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Ints

WIDTH = 256
"""The most sequences in one block; more would not stay in the CPU's cache."""

CELLS = 2**23
"""The most numbers in one block, unless a single sequence needs more."""


class SequenceBlock(NamedTuple):
    """Sequences that are searched together.

    >>> block = SequenceBlock.of(np.array([7, 8]), np.array([0, 3]), np.array([3, 1]))
    >>> block.word.tolist(), block.offset, list(block.forward())
    ([0, 3, 1, 2], [0, 2, 3, 4], [(0, 2, 3), (2, 3, 4)])
    """

    rows: Ints
    """Which sequences they are."""
    word: Ints
    """The word of each slot."""
    offset: list[int]
    """Where the slots of each step begin, and the end of all."""
    end: Ints
    """The last slot of each sequence."""
    own: slice
    """The slots among those of all blocks, one block after the other."""

    @classmethod
    def of(cls, rows: Ints, first: Ints, sizes: Ints, begin: int = 0) -> SequenceBlock:
        """Return sequences that begin with these words; no size is 0, and none is larger than the one before."""
        width = len(sizes) - np.searchsorted(sizes[::-1], np.arange(sizes[0]), side="right")
        offset = np.concatenate([[0], np.cumsum(width)])
        step = np.repeat(np.arange(sizes[0]), width)
        sequence = np.arange(offset[-1]) - offset[step]
        end = offset[sizes - 1] + np.arange(len(sizes))
        return cls(rows, first[sequence] + step, offset.tolist(), end, slice(begin, begin + len(step)))

    def forward(self) -> Iterator[tuple[int, int, int]]:
        """For each step but the first: where the slots of the step before begin, where its own begin and end."""
        return zip(self.offset, self.offset[1:], self.offset[2:], strict=False)

    def backward(self) -> Iterator[tuple[int, int, int]]:
        """The same, the last step first."""
        return zip(self.offset[-3::-1], self.offset[-2::-1], self.offset[::-1], strict=False)


class TimeSteps(NamedTuple):
    """All sequences, in blocks of similar size."""

    blocks: list[SequenceBlock]
    word: Ints
    """The word of each slot of all blocks."""

    @classmethod
    def of(cls, first: Ints, sizes: Ints, states: int) -> TimeSteps:
        """Lay out sequences with `states` numbers for each word; empty sequences are skipped."""
        order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        blocks: list[SequenceBlock] = []
        at = begin = 0
        while at < len(order):
            room = CELLS // (states * int(sizes[order[at]]))
            rows = order[at : at + max(1, min(WIDTH, room))]
            blocks.append(SequenceBlock.of(rows, first[rows], sizes[rows], begin))
            at, begin = at + len(rows), blocks[-1].own.stop
        return cls(blocks, np.concatenate([order[:0], *(block.word for block in blocks)]))
