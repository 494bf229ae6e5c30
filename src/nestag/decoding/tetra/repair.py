"""Label ids of 4tg -> nodes, by the paper's repair rules, for a whole batch at once.

This is the machine of encodings/tetra.py, all sentences in step. Of each sentence it keeps a stack of subtrees, and of
each subtree the first word, how many nodes were open when it was put on the stack, and whether its right branch lacks a
child. A new node closes all nodes that were opened since its subtree was put on the stack, so it is enough to know how
many stay open below each node: it ends where the next node has no more of them below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Ints
from nestag.decoding.entities import NamedNodes
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.nodes import next_not_deeper
from nestag.decoding.scores import LabelBatch, last_words
from nestag.decoding.tetra.names import GAP_L, GAP_R, WORD_R
from nestag.encodings.tetra import MARKS
from nestag.vocabulary import Vocabulary

NO_NODE = np.iinfo(np.int64).max


def repaired_nodes(vocabulary: Vocabulary, labels: LabelBatch) -> NamedNodes:
    """Every node that the marks describe."""
    marks = np.array([MARKS.index(str(n)) for n in vocabulary.n], dtype=np.int64)[labels.n]
    last = last_words(labels.lengths)
    marks[last] = np.where(WORD_R[marks[last]], MARKS.index("r"), MARKS.index("l"))  # the last word has no gap
    start, depth = np.zeros_like(marks), np.full_like(marks, NO_NODE)
    for _, lanes in blocks(np.cumsum(labels.lengths) - labels.lengths, labels.lengths, 3):
        start[lanes.word], depth[lanes.word] = _run(marks[lanes.word], lanes)
    depth[last] = 0
    end = next_not_deeper(depth, np.flatnonzero(depth)) + 1
    nodes = np.flatnonzero((depth > 0) & (depth < NO_NODE))
    return NamedNodes(start[nodes], end[nodes], labels.c[nodes])


class Opened(NamedTuple):
    """For the gap after each word the first word of its node and how many nodes are open with it, or `NO_NODE`."""

    start: Ints
    depth: Ints


def _run(marks: Ints, lanes: Lanes) -> Opened:
    """Run the machine over the marks of the slots."""
    width, longest = len(lanes.end), len(lanes.offset) - 1
    first, below = (np.zeros((longest + 1, width), dtype=np.int64) for _ in range(2))  # of each subtree on the stack
    slot = np.zeros((longest + 1, width), dtype=bool)  # row 0 lies under the stack and never has a slot
    height, opened, kept = (np.zeros(width, dtype=np.int64) for _ in range(3))  # kept: the height at the last new node
    found = Opened(np.zeros_like(marks), np.full_like(marks, NO_NODE))
    word_r, gap_r, gap_l = WORD_R[marks], GAP_R[marks], GAP_L[marks]
    for a, b in zip(lanes.offset, lanes.offset[1:], strict=False):
        lane, push = np.arange(b - a), word_r[a:b]
        stay = np.where(slot[height[: b - a], lane], height[: b - a], kept[: b - a])  # words without a place are left
        top = np.where(push, height[: b - a] + 1, stay)
        pushed = np.flatnonzero(push)
        first[top[pushed], pushed], below[top[pushed], pushed] = lanes.word[a:b][pushed], opened[pushed]
        slot[top, lane] = False
        takes = gap_l[a:b] & slot[np.maximum(top - 1, 0), lane]
        new = np.flatnonzero((top > 0) & (gap_r[a:b] | takes))
        found.start[a + new], opened[new] = first[top[new], new], below[top[new], new] + 1
        found.depth[a + new] = opened[new]
        height[: b - a] = top - takes
        kept[new] = height[new]
        slot[height[new], new] = True
    return found
