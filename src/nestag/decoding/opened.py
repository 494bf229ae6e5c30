"""Nodes that are open over words, each with the node around it, and what is known of them once they are closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints

BOTTOM = 0
"""The node around the root: nothing is open."""


class NewNodes(NamedTuple):
    """Nodes to be opened."""

    parent: Ints
    name: Ints
    depth: Ints
    floor: Ints
    """What the grammar must know when the node is closed."""
    start: Ints
    owed: Ints
    """How many words must pass at least before one that closes down to the root and ends the sentence."""

    def at(self, rows: Bools) -> NewNodes:
        """Some of the nodes."""
        return NewNodes(*(column[rows] for column in self))


class OpenNodes:
    """All nodes that were ever open, as columns; the node 0 is the bottom."""

    def __init__(self) -> None:
        self._columns = np.zeros((len(NewNodes._fields), 1024), dtype=np.int64)
        self._columns[1, 0] = -1
        self._size = 1

    def add(self, nodes: NewNodes) -> Ints:
        """Open nodes; their numbers."""
        size = self._size + len(nodes.name)
        while size > self._columns.shape[1]:
            self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)], axis=1)
        for column, values in zip(self._columns, nodes, strict=True):
            column[self._size : size] = values
        self._size = size
        return np.arange(size - len(nodes.name), size)

    parent = property(lambda self: self._columns[0])
    name = property(lambda self: self._columns[1])
    depth = property(lambda self: self._columns[2])
    floor = property(lambda self: self._columns[3])
    start = property(lambda self: self._columns[4])
    owed = property(lambda self: self._columns[5])


class Edges(NamedTuple):
    """Edges of the lattice with their shares of all ways."""

    top: Ints
    """The lowest open node before."""
    stop: Ints
    end: Ints
    """Where the nodes that it closes end."""
    share: Floats


class ClosedNodes(NamedTuple):
    """Nodes with their shares of all ways; the same node may come several times."""

    start: Ints
    end: Ints
    name: Ints
    share: Floats

    def at(self, rows: Bools) -> ClosedNodes:
        """Some of the nodes."""
        return ClosedNodes(self.start[rows], self.end[rows], self.name[rows], self.share[rows])


def closed(nodes: OpenNodes, edges: Edges) -> ClosedNodes:
    """What the edges close."""
    parts = []
    top, stop, end, share = edges
    while True:
        open_still = top != stop
        if not open_still.any():
            break
        top, stop, end, share = top[open_still], stop[open_still], end[open_still], share[open_still]
        parts.append((nodes.start[top], end, nodes.name[top], share))
        top = nodes.parent[top]
    parts.append((top[:0], top[:0], top[:0], share[:0]))
    return ClosedNodes(*(np.concatenate(column) for column in zip(*parts, strict=True)))
