"""Greedy decoding: any label ids -> nodes, by the repair rules of the paper's appendix, for a whole batch at once.

This gives the same nodes as `Encoding.decode` for each sentence. For abs, rel and dyn, the depths are a running sum
that is never less than 1. For 4tg, it runs the machine of encodings/tetra.py for all sentences at once. It keeps
a stack of subtrees for each sentence, and for each subtree its first word, how many nodes were open when it was pushed,
and whether its right branch lacks a child. A new node closes all nodes that were opened since its subtree was pushed.
So it ends where the next node has no more open nodes below it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Ints
from nestag.decoding.entities import LabelTypes, NamedNodes
from nestag.decoding.nodes import next_not_deeper, next_shallower, openers, previous_not_deeper
from nestag.decoding.scores import LabelBatch, last_words
from nestag.decoding.timesteps import SequenceBlock, TimeSteps
from nestag.encodings.base import Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import MARKS
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError

R_R, R_L, L_R, L_L, R, L = range(6)
assert MARKS == ("rR", "rL", "lR", "lL", "r", "l")
WORD_R = np.isin(np.arange(6), [R_R, R_L, R])
GAP_R = np.isin(np.arange(6), [R_R, L_R])
GAP_L = np.isin(np.arange(6), [R_L, L_L])

NO_NODE = np.iinfo(np.int64).max


class DepthSteps(NamedTuple):
    """What each n of a vocabulary adds to the depth before it, or the new depth itself where n is absolute."""

    value: Ints
    absolute: Bools


@lru_cache(maxsize=8)
def depth_steps(encoding: DepthEncoding, vocabulary: Vocabulary) -> DepthSteps:
    """Return the steps of a vocabulary."""
    after_root, after_one = ([encoding.next_depth(before, n) for n in vocabulary.n] for before in (0, 1))
    value = np.array(after_root, dtype=np.int64)
    return DepthSteps(value, value == np.array(after_one))


def repair_depths(steps: DepthSteps, types: LabelTypes, labels: LabelBatch, naming: Naming) -> NamedNodes:
    """Return every node that names entities."""
    c, last = labels.c, last_words(labels.lengths)
    depth = gap_depths(steps.value[labels.n], steps.absolute[labels.n], last)
    inner = np.flatnonzero(depth > 1)
    left, right = previous_not_deeper(depth, inner), next_shallower(depth, inner)
    opener = inner[depth[left[inner]] < depth[inner]]
    named_at = opener if naming == "first" else inner[_most_frequent(openers(depth, inner, left), c[inner])]
    named = np.logical_or.reduce(types.c, axis=1)[c[named_at]]
    opener, named_at = opener[named], named_at[named]
    root = _roots(depth, c, last, types, naming)
    return NamedNodes(
        np.concatenate([left[opener] + 1, root.start]),
        np.concatenate([right[opener] + 1, root.end]),
        np.concatenate([c[named_at], root.c]),
    )


def gap_depths(value: Ints, absolute: Bools, last: Ints) -> Ints:
    """Return the depth after each word, at least 1 inside a sentence and 0 after its last word.

    A walk that may not fall below 1 is the free walk, lifted by how far that one has been below so far. It starts
    again at each sentence and at each absolute depth.
    """
    depth: Ints
    if absolute.all():
        depth = np.maximum(value, 1)
        depth[last] = 0
        return depth
    begins = absolute.copy()
    begins[:1] = True
    begins[last[:-1] + 1] = True
    first = np.flatnonzero(begins)
    stretch = np.cumsum(begins) - 1
    walk = np.cumsum(value)
    walk -= (walk[first] - value[first])[stretch]
    below = 1 - walk
    # One running maximum serves all stretches if each lies higher than the one before by more than the walk is wide.
    width = int(np.ptp(below)) + 1 if below.size else 1
    if width * len(first) > 2**62:
        raise LabelError(f"{len(value)} labels with depths {width} apart are too much for one batch; split it")
    lift = stretch * width
    depth = walk + np.maximum(np.maximum.accumulate(below + lift) - lift, 0)
    depth[last] = 0
    return depth


def _roots(depth: Ints, c: Ints, last: Ints, types: LabelTypes, naming: Naming) -> NamedNodes:
    """Return the roots that name entities; only names with the root's mark count."""
    marked = np.flatnonzero((depth == 1) & types.root[c])
    named = np.logical_or.reduce(types.c, axis=1)[c[marked]]
    if not named.any():
        return NamedNodes(last[:0], last[:0], last[:0])
    sentence = np.searchsorted(last, marked)
    index = np.unique(sentence, return_index=True)[1] if naming == "first" else _most_frequent(sentence, c[marked])
    index = index[named[index]]
    sentence = sentence[index]
    first = np.concatenate([np.zeros(1, dtype=np.int64), last + 1])
    return NamedNodes(first[sentence], last[sentence] + 1, c[marked[index]])


def _most_frequent(group: Ints, c: Ints) -> Ints:
    """Return, for each group in order, the first index of its most frequent name; the first of equals wins."""
    _, index, count = np.unique(np.stack([group, c]), axis=1, return_index=True, return_counts=True)
    order = np.lexsort((index, -count, group[index]))
    winner: Ints = index[order[np.unique(group[index[order]], return_index=True)[1]]]
    return winner


def repair_marks(vocabulary: Vocabulary, labels: LabelBatch) -> NamedNodes:
    """Return every node that the marks describe."""
    marks = np.array([MARKS.index(str(n)) for n in vocabulary.n], dtype=np.int64)[labels.n]
    last = last_words(labels.lengths)
    marks[last] = np.where(WORD_R[marks[last]], R, L)  # the last word has no gap
    start, depth = np.zeros_like(marks), np.full_like(marks, NO_NODE)
    for block in TimeSteps.of(np.cumsum(labels.lengths) - labels.lengths, labels.lengths, 3).blocks:
        start[block.word], depth[block.word] = _run(marks[block.word], block)
    depth[last] = 0
    end = next_not_deeper(depth, np.flatnonzero(depth)) + 1
    nodes = np.flatnonzero((depth > 0) & (depth < NO_NODE))
    return NamedNodes(start[nodes], end[nodes], labels.c[nodes])


def _run(marks: Ints, block: SequenceBlock) -> tuple[Ints, Ints]:
    """Run the machine over the marks of the slots.

    Return, for the gap after each word, the first word of its node and how many nodes are open with it, or `NO_NODE`.
    """
    width, longest = len(block.end), len(block.offset) - 1
    first, below = (np.zeros((longest + 1, width), dtype=np.int64) for _ in range(2))  # of each subtree on the stack
    slot = np.zeros((longest + 1, width), dtype=bool)  # row 0 lies under the stack and never has a slot
    height, opened, settled = (np.zeros(width, dtype=np.int64) for _ in range(3))  # settled: height at the last node
    node_start, node_depth = np.zeros_like(marks), np.full_like(marks, NO_NODE)
    word_r, gap_r, gap_l = WORD_R[marks], GAP_R[marks], GAP_L[marks]
    for a, b in zip(block.offset, block.offset[1:], strict=False):
        sequence, push = np.arange(b - a), word_r[a:b]
        # words without a place are left
        stay = np.where(slot[height[: b - a], sequence], height[: b - a], settled[: b - a])
        top = np.where(push, height[: b - a] + 1, stay)
        pushed = np.flatnonzero(push)
        first[top[pushed], pushed], below[top[pushed], pushed] = block.word[a:b][pushed], opened[pushed]
        slot[top, sequence] = False
        takes = gap_l[a:b] & slot[np.maximum(top - 1, 0), sequence]
        new = np.flatnonzero((top > 0) & (gap_r[a:b] | takes))
        node_start[a + new], opened[new] = first[top[new], new], below[top[new], new] + 1
        node_depth[a + new] = opened[new]
        height[: b - a] = top - takes
        settled[new] = height[new]
        slot[height[new], new] = True
    return node_start, node_depth
