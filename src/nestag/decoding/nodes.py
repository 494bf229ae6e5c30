"""Depths of gaps -> nodes of trees, for a whole batch at once.

The sentences follow each other in flat arrays, and each last word has depth 0, so that no node crosses it. A gap opens
a node if the nearest gap to its left that is not deeper is shallower. The node starts after that gap and ends at the
nearest shallower gap to the right. Both neighbours are found by following links from gap to gap, all gaps at once. Each
link is followed once, so the work is linear however deep the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Ints


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
