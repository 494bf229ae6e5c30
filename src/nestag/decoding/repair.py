"""Greedy decoding: any label ids -> nodes, by the repair rules of the paper's appendix, for a whole batch.

The nodes are those of `Encoding.decode` for each sentence. For abs, rel and dyn, the depths are a running sum that is
never less than 1. For 4tg, the machine of encodings/tetra.py runs over each sentence.

The sentences follow each other in flat arrays, and each last word has depth 0, so that no node crosses it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Ints
from nestag.decoding.entities import LabelTypes, NamedNodes
from nestag.decoding.scores import LabelBatch, last_words
from nestag.encodings.base import Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import run
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError


class DepthSteps(NamedTuple):
    """What each n of a vocabulary adds to the depth before it, or the new depth itself where n is absolute."""

    value: Ints
    absolute: Bools


@lru_cache(maxsize=8)
def depth_steps(encoding: DepthEncoding, vocabulary: Vocabulary) -> DepthSteps:
    """Return the steps of a vocabulary."""
    after_root, after_one = ([encoding.to_depth(before, n) for n in vocabulary.n] for before in (0, 1))
    value = np.array(after_root, dtype=np.int64)
    return DepthSteps(value, value == np.array(after_one))


def repair_depths(steps: DepthSteps, types: LabelTypes, labels: LabelBatch, naming: Naming) -> NamedNodes:
    """Return the nodes that any labels describe; only names with the root's mark can name a root."""
    last = last_words(labels.lengths)
    depth = gap_depths(steps.value[labels.n], steps.absolute[labels.n], last)
    nodes = nodes_of(depth)
    names = _choose_names(np.repeat(np.arange(len(nodes.start)), nodes.sizes), labels.c[nodes.gaps], naming)
    marked = np.flatnonzero((depth == 1) & types.root[labels.c])
    sentence = np.searchsorted(last, marked)
    root_names = _choose_names(sentence, labels.c[marked], naming)
    end = last[np.unique(sentence)] + 1
    start = np.append(0, last + 1)[np.unique(sentence)]
    columns = (nodes.start, start), (nodes.end, end), (names, root_names)
    return NamedNodes(*map(np.concatenate, columns))


def _choose_names(node: Ints, c: Ints, naming: Naming) -> Ints:
    """Return the first or the most frequent c of each node in order, the first of equals; `node` is sorted."""
    if naming == "first":
        return c[np.flatnonzero(np.diff(node, prepend=-1))]
    (node, c), first, count = np.unique(np.stack([node, c]), axis=1, return_index=True, return_counts=True)
    order = np.lexsort((first, -count, node))
    return c[order[np.flatnonzero(np.diff(node[order], prepend=-1))]]


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
    starts = absolute.copy()
    starts[:1] = True
    starts[last[:-1] + 1] = True
    first = np.flatnonzero(starts)
    stretch = np.cumsum(starts) - 1
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


class Nodes(NamedTuple):
    """All nodes below the roots, in the order of their first gaps."""

    start: Ints
    end: Ints
    depth: Ints
    above: Ints  # the depth of the node around each
    gaps: Ints  # the gaps of all nodes, those of one node after those of the other
    first: Ints  # where in `gaps` those of each node begin

    @property
    def sizes(self) -> Ints:
        """Return how many gaps each node has."""
        return np.diff(self.first, append=len(self.gaps))


def nodes_of(depth: Ints) -> Nodes:
    """Return every node below the roots; these have depth 1, and the depth after each last word is 0.

    A gap opens a node if the nearest gap to its left that is not deeper is shallower. The node starts after that gap
    and ends at the nearest shallower gap to the right. Both neighbours are found by following links from gap to gap,
    all gaps at once. Each link is followed once, so the work is linear however deep the tree.

    >>> nodes = nodes_of(np.array([1, 3, 2, 0]))
    >>> nodes.start.tolist(), nodes.end.tolist(), nodes.above.tolist(), nodes.gaps.tolist()
    ([1, 1], [3, 4], [2, 1], [1, 2])
    """
    inner = np.flatnonzero(depth > 1)
    left = _nearest(depth, inner, -1, np.greater)  # the nearest gap before it that is not deeper
    right = _nearest(depth, inner, 1, np.greater_equal)  # the nearest gap after it that is shallower
    opener = np.arange(len(depth))
    same = inner[depth[left[inner]] == depth[inner]]
    opener[same] = left[same]
    while (opener[opener] != opener).any():
        opener = opener[opener]
    order = np.argsort(opener[inner], kind="stable")
    gaps = inner[order]
    first = np.flatnonzero(np.diff(opener[gaps], prepend=-1))
    node = gaps[first]
    above = np.maximum(np.maximum(depth[left[node]], depth[right[node]]), 1)
    return Nodes(left[node] + 1, right[node] + 1, depth[node], above, gaps, first)


def _nearest(depth: Ints, inner: Ints, step: int, skip: np.ufunc) -> Ints:
    """Return, for each of the inner gaps, the nearest one on a side that is not skipped; -1 is before the first."""
    link = np.arange(len(depth)) + step
    todo = inner
    while todo.size:
        todo = todo[skip(depth[link[todo]], depth[todo])]
        link[todo] = link[link[todo]]
    return link


def repair_marks(vocabulary: Vocabulary, labels: LabelBatch) -> NamedNodes:
    """Return every node that the marks describe."""
    marks = [str(vocabulary.n[row]) for row in labels.n.tolist()]
    start: list[int] = []
    end: list[int] = []
    for length in labels.lengths.tolist():
        first = len(start)
        nodes = run(marks[first : first + length])
        start += [first + word for word in nodes.start]
        end += [word and first + word for word in nodes.end]
    node = np.flatnonzero(end)
    return NamedNodes(np.array(start, dtype=np.int64)[node], np.array(end, dtype=np.int64)[node], labels.c[node])
