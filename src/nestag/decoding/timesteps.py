"""Sequences of different lengths, laid out so that one step takes all of them one word further.

The sequences are sorted by length, the longest first. The slots of the first words come first, then those of the
second words, and so on, as in a packed sequence of torch. A step works on a slice of the slots, without padding:

    slots     A1 B1 C1 │ A2 B2 │ A3          for before, here in block.forward():
                                                 total[..., here] = best way from total[..., before]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Ints

WIDTH = 256  # the most sequences in one block; more would not stay in the CPU's cache
CELLS = 2**23  # the most numbers in one block, unless a single sequence needs more


class SequenceBlock(NamedTuple):
    """Sequences that are searched together.

    >>> block = SequenceBlock.of(np.array([7, 8]), np.array([0, 3]), np.array([3, 1]))
    >>> block.word.tolist(), block.begin, block.end.tolist(), list(block.forward())[0]
    ([0, 3, 1, 2], slice(0, 2, None), [3, 1], (slice(0, 1, None), slice(2, 3, None)))
    """

    rows: Ints  # which sequences they are
    word: Ints  # the word of each slot
    offset: list[int]  # where the slots of each step begin, and the end of all
    end: Ints  # the last slot of each sequence
    own: slice  # the slots among those of all blocks, one block after the other

    @classmethod
    def of(cls, rows: Ints, first: Ints, sizes: Ints, start: int = 0) -> SequenceBlock:
        """Return sequences that begin with these words; no size is 0, and none is larger than the one before."""
        width = len(sizes) - np.searchsorted(sizes[::-1], np.arange(sizes[0]), side="right")
        offset = np.concatenate([[0], np.cumsum(width)])
        step = np.repeat(np.arange(sizes[0]), width)
        sequence = np.arange(offset[-1]) - offset[step]
        end = offset[sizes - 1] + np.arange(len(sizes))
        return cls(rows, first[sequence] + step, offset.tolist(), end, slice(start, start + len(step)))

    @property
    def begin(self) -> slice:
        """Return the slots of the first step."""
        return slice(0, self.offset[1])

    def forward(self) -> Iterator[tuple[slice, slice]]:
        """Yield, for each step but the first, the slots that its sequences had one word before, and its own slots."""
        for before, here, stop in zip(self.offset, self.offset[1:], self.offset[2:], strict=False):
            yield slice(before, before + stop - here), slice(here, stop)

    def backward(self) -> Iterator[tuple[slice, slice]]:
        """Yield the same, the last step first."""
        yield from list(self.forward())[::-1]


class TimeSteps(NamedTuple):
    """All sequences, in blocks of similar size."""

    blocks: list[SequenceBlock]
    word: Ints  # the word of each slot of all blocks

    @classmethod
    def of(cls, first: Ints, sizes: Ints, states: int) -> TimeSteps:
        """Lay out sequences with `states` numbers for each word; empty sequences are skipped."""
        order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        blocks: list[SequenceBlock] = []
        at = start = 0
        while at < len(order):
            room = CELLS // (states * int(sizes[order[at]]))
            rows = order[at : at + max(1, min(WIDTH, room))]
            blocks.append(SequenceBlock.of(rows, first[rows], sizes[rows], start))
            at, start = at + len(rows), blocks[-1].own.stop
        return cls(blocks, np.concatenate([order[:0], *(block.word for block in blocks)]))
