"""The labels of abs, rel and dyn as ways through a lattice of open nodes.

From gap to gap nodes are either opened or closed. The depth after an opening is that of the node around, and one more
for each type of the name; a rise by more leaves levels between, for nodes that begin at the same word and have no gap
of their own yet. Closing a node above such levels lands on the highest of them, which is then named:

    [[a b] c]     gap after a: depth 3, a node of one level over the level 2 that has no name yet
                  gap after b: depth 2, the node that begins with a as well, named here

`floor` of a node is its depth less the levels of its name: what closing it lands on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.machine import DepthMachine
from nestag.decoding.lattice import Going, States
from nestag.decoding.opened import BOTTOM, NewNodes, OpenNodes
from nestag.decoding.semiring import Semiring


class DepthOpenings(NamedTuple):
    """What can be opened at each word: depths and names, those of one word after those of the other."""

    first: Ints
    width: Ints
    """How many."""
    depth: Ints
    name: Ints
    floor: Ints


class DepthGrammar:
    """The steps that labels of depths allow, and their weights."""

    def __init__(
        self, machine: DepthMachine, root_names: Bools, semiring: Semiring,
        n: Floats, c: Floats, viable: Bools, openings: DepthOpenings, beyond: Floats,
    ) -> None:  # fmt: skip
        """`n` and `c` are weights, `viable` says which depths (0 first) can be, `beyond` what lies ahead of each."""
        self.root_names = root_names
        self._n_row, self._semiring = machine.n_row, semiring
        self._n, self._c, self._viable, self._openings, self._beyond = n, c, viable, openings, beyond
        self._lowest = viable.argmax(axis=0)

    def ahead(self, depth: Ints, word: Ints) -> Floats:
        """What the depths alone say of what is ahead."""
        found: Floats = self._beyond[depth - 1, word]
        return found

    def steps(self, nodes: OpenNodes, states: States, word: Ints) -> tuple[Going, Going, NewNodes]:
        """All steps over a word."""
        depth = nodes.depth[states.node]
        state = np.arange(len(word))
        stays, lands = [], [(state, states.node, depth + 1, np.full(len(word), len(self._n_row)), word)]
        rows, node = state[states.node != BOTTOM], states.node[states.node != BOTTOM]
        lowest = self._lowest[word]
        while rows.size:
            stays.append((rows, node))
            below = nodes.depth[node] > lowest[rows]  # somewhere lower can be landed
            rows, node = rows[below], node[below]
            around, floor = nodes.parent[node], nodes.floor[node]
            between = floor > nodes.depth[around]
            if between.any():
                at = np.flatnonzero(between)
                lands.append((rows[at], around[at], floor[at], floor[at], nodes.start[node[at]]))
            onward = ~between & (around != BOTTOM)
            rows, node = rows[onward], around[onward]
        down = self._staying(nodes, depth, word, stays)
        up, new = self._opening(nodes, depth, word, lands)
        return down, up, new

    def _staying(self, nodes: OpenNodes, depth: Ints, word: Ints, stays: list[tuple[Ints, Ints]]) -> Going:
        if not stays:
            none = np.zeros(0, dtype=np.int64)
            return Going(none, none, np.zeros(0))
        source, stop = (np.concatenate(column) for column in zip(*stays, strict=True))
        to = nodes.depth[stop]
        row = self._n_row[depth[source], to - 1]
        fine = self._viable[to, word[source]] & (row < len(self._n))
        source, stop, row = source[fine], stop[fine], row[fine]
        weight = self._semiring.times(self._n[row, word[source]], self._c[nodes.name[stop], word[source]])
        return Going(source, stop, weight)

    def _opening(
        self, nodes: OpenNodes, depth: Ints, word: Ints, lands: list[tuple[Ints, Ints, Ints, Ints, Ints]]
    ) -> tuple[Going, NewNodes]:
        source, around, least, most, start = (np.concatenate(column) for column in zip(*lands, strict=True))
        count = self._openings.width[word[source]]
        way = np.repeat(np.arange(len(source)), count)
        opening = np.arange(len(way)) + np.repeat(
            self._openings.first[word[source]] - (np.cumsum(count) - count), count
        )
        to, floor = self._openings.depth[opening], self._openings.floor[opening]
        row = self._n_row[depth[source[way]], to - 1]
        fine = (to >= least[way]) & (to <= most[way]) & (floor >= nodes.depth[around[way]]) & (row < len(self._n))
        way, opening, to, floor, row = way[fine], opening[fine], to[fine], floor[fine], row[fine]
        source, around, start = source[way], around[way], start[way]
        name = self._openings.name[opening]
        weight = self._semiring.times(self._n[row, word[source]], self._c[name, word[source]])
        owed = nodes.owed[around] + (floor > nodes.depth[around])  # levels between have to be named yet
        return Going(source, around, weight), NewNodes(around, name, to, floor, start, owed)


def openings_of(
    machine: DepthMachine, chain_lengths: Ints, viable: Bools, named: Bools, roots: Bools, last: Bools
) -> DepthOpenings:
    """What can be opened at words that are not `last`.

    `viable` says which depths (0 first), `named` which names below the root, `roots` which roots: each x words.
    """
    names = machine.names
    word, depth = np.nonzero(viable.T[:, 2:] & ~last[:, None])
    depth += 2
    pair, name = np.nonzero(named.T[word] & (chain_lengths[names] < depth[:, None]))
    below = (word[pair], depth[pair], names[name], depth[pair] - chain_lengths[names[name]])
    parts = [below]
    for place, (root, root_names) in enumerate(zip(machine.roots.tolist(), machine.root_names, strict=True)):
        at = np.flatnonzero(viable[root] & ~last & roots[place])
        some = np.repeat(at, len(root_names))
        parts.append(
            (some, np.full(len(some), root), np.tile(root_names, len(at)), np.zeros(len(some), dtype=np.int64))
        )
    word, depth, name, floor = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(word, kind="stable")
    count = np.bincount(word, minlength=viable.shape[1])
    return DepthOpenings(np.cumsum(count) - count, count, depth[order], name[order], floor[order])
