"""Depths of gaps -> nodes of trees, for a whole batch at once.

The sentences stand one after the other in flat arrays, and each last word has depth 0, so that no node reaches over
it. A gap opens a node if the nearest gap to its left that is not deeper is shallower; the node starts behind that one
and ends with the nearest shallower gap to the right. Both neighbours are found by following links from gap to gap,
all gaps in step: each link is followed once in all, so the work is linear however deep the tree.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Ints


def _nearest(depth: Ints, inner: Ints, step: int, passed: np.ufunc) -> Ints:
    """For each of the inner gaps the nearest one on a side that is not passed over."""
    link = np.arange(len(depth)) + step
    todo = inner
    while todo.size:
        todo = todo[passed(depth[link[todo]], depth[todo])]
        link[todo] = link[link[todo]]
    return link


previous_not_deeper = partial(_nearest, step=-1, passed=np.greater)
"""For each of the inner gaps the nearest one before it that is not deeper; -1 stands before the first."""

next_not_deeper = partial(_nearest, step=1, passed=np.greater)
"""For each of the inner gaps the nearest one after it that is not deeper."""

next_shallower = partial(_nearest, step=1, passed=np.greater_equal)
"""For each of the inner gaps the nearest one after it that is shallower."""


def openers(depth: Ints, inner: Ints, left: Ints) -> Ints:
    """For each of the inner gaps the first gap of its node; `left` is the previous gap not deeper."""
    opener = np.arange(len(depth))
    same = inner[depth[left[inner]] == depth[inner]]
    opener[same] = left[same]
    while (opener[opener] != opener).any():
        opener = opener[opener]
    first: Ints = opener[inner]
    return first


class Nodes(NamedTuple):
    """All nodes below the roots, in the order of their first gaps."""

    start: Ints
    end: Ints
    depth: Ints
    above: Ints
    """The depth of the node around each."""
    gaps: Ints
    """The gaps of all nodes, those of one node after those of the other."""
    first: Ints
    """Where in `gaps` those of each node begin."""

    @property
    def sizes(self) -> Ints:
        """How many gaps each node has."""
        return np.diff(self.first, append=len(self.gaps))


def nodes_of(depth: Ints) -> Nodes:
    """Every node below the roots; these have depth 1, and 0 stands after each last word.

    >>> nodes = nodes_of(np.array([1, 3, 2, 0]))
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
    return Nodes(left[opener] + 1, right[opener] + 1, depth[opener], above, inner[order], first)
