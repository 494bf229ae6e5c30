"""Depths -> nodes, for a whole batch at once.

The sentences stand one after the other in flat arrays, and each last token has depth 0, so that no node reaches over
it. A gap opens a node if the nearest gap to its left that is not deeper is shallower; the node starts behind that one
and ends with the nearest shallower gap to the right. Both neighbours are found by following links from gap to gap,
all gaps in step: each link is followed once in all, so the work is linear however deep the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.decoding.tables import Chains, Ints
from nestag.encodings.base import Naming
from nestag.errors import LabelError


def depth_nodes(
    value: Ints, absolute: NDArray[np.bool_], c: Ints, last: Ints, chains: Chains, naming: Naming
) -> tuple[Ints, Ints, Ints]:
    """Start, end and naming token of every node that names entities."""
    depth = gap_depths(value, absolute, last)
    inner = np.flatnonzero(depth > 1)
    left = previous_not_deeper(depth, inner)
    opener = inner[depth[left[inner]] < depth[inner]]
    named_at = opener if naming == "first" else inner[_naming_index(openers(depth, inner, left), c[inner])]
    speaks = chains.width[c[named_at]] > 0
    opener, named_at = opener[speaks], named_at[speaks]
    right = next_shallower(depth, inner)
    root_start, root_end, root_named_at = _roots(depth, c, last, chains, naming)
    return (
        np.concatenate([left[opener] + 1, root_start]),
        np.concatenate([right[opener] + 1, root_end]),
        np.concatenate([named_at, root_named_at]),
    )


def gap_depths(value: Ints, absolute: NDArray[np.bool_], last: Ints) -> Ints:
    """The depth after each token, at least 1 inside a sentence and 0 after its last token.

    A walk that may not fall below 1 is the free walk, lifted by how far that one has been below so far. It begins
    anew at each sentence and at each absolute depth.
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


def previous_not_deeper(depth: Ints, inner: Ints) -> Ints:
    """For each of the inner gaps the nearest one before it that is not deeper; -1 stands before the first."""
    left = np.arange(-1, len(depth) - 1)
    todo = inner
    while todo.size:
        todo = todo[depth[left[todo]] > depth[todo]]
        left[todo] = left[left[todo]]
    return left


def next_shallower(depth: Ints, inner: Ints) -> Ints:
    """For each of the inner gaps the nearest one after it that is shallower."""
    right = np.arange(1, len(depth) + 1)
    todo = inner
    while todo.size:
        todo = todo[depth[right[todo]] >= depth[todo]]
        right[todo] = right[right[todo]]
    return right


def openers(depth: Ints, inner: Ints, left: Ints) -> Ints:
    """For each of the inner gaps the first gap of its node."""
    opener = np.arange(len(depth))
    same = inner[depth[left[inner]] == depth[inner]]
    opener[same] = left[same]
    while (opener[opener] != opener).any():
        opener = opener[opener]
    first: Ints = opener[inner]
    return first


class Runs(NamedTuple):
    """All nodes below the roots, in the order of their first gaps."""

    start: Ints
    end: Ints
    depth: Ints
    above: Ints
    """The depth of the node that each lies in."""
    gaps: Ints
    """The gaps of all nodes, those of one node after those of the other."""
    first: Ints
    """Where in `gaps` those of each node begin."""

    @property
    def sizes(self) -> Ints:
        """How many gaps each node has."""
        return np.diff(self.first, append=len(self.gaps))


def runs_of(depth: Ints) -> Runs:
    """Every node below the roots; these have depth 1, and 0 stands after each last token.

    >>> nodes = runs_of(np.array([1, 3, 2, 0]))
    >>> nodes.start.tolist(), nodes.end.tolist(), nodes.above.tolist(), nodes.gaps.tolist()
    ([1, 1], [3, 4], [2, 1], [1, 2])
    """
    inner = np.flatnonzero(depth > 1)
    left, right = previous_not_deeper(depth, inner), next_shallower(depth, inner)
    node = openers(depth, inner, left)
    order = np.argsort(node, kind="stable")
    node = node[order]
    first = np.flatnonzero(np.diff(node, prepend=-1))
    opener = node[first]
    above = np.maximum(np.maximum(depth[left[opener]], depth[right[opener]]), 1)
    return Runs(left[opener] + 1, right[opener] + 1, depth[opener], above, inner[order], first)


def _roots(depth: Ints, c: Ints, last: Ints, chains: Chains, naming: Naming) -> tuple[Ints, Ints, Ints]:
    """The roots that name entities; only names with the root's mark count."""
    marked = np.flatnonzero((depth == 1) & chains.root[c])
    if not chains.width[c[marked]].any():
        return last[:0], last[:0], last[:0]
    sentence = np.searchsorted(last, marked)
    index = np.unique(sentence, return_index=True)[1] if naming == "first" else _naming_index(sentence, c[marked])
    index = index[chains.width[c[marked[index]]] > 0]
    sentence = sentence[index]
    first = np.concatenate([np.zeros(1, dtype=np.int64), last + 1])
    return first[sentence], last[sentence] + 1, marked[index]


def _naming_index(group: Ints, c: Ints) -> Ints:
    """For each group, in order, where its most frequent name first stands; the first of equals wins."""
    _, index, count = np.unique(np.stack([group, c]), axis=1, return_index=True, return_counts=True)
    order = np.lexsort((index, -count, group[index]))
    best = np.unique(group[index[order]], return_index=True)[1]
    winner: Ints = index[order[best]]
    return winner
