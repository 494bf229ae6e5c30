"""Every way to open and close nodes over stretches of words, with one name for each node: a lattice of open nodes.

A state is the stack of nodes that are open over a gap. It is kept as its lowest node, for every node knows the one
around it, so two ways meet where they close down to the same node. A stretch is a run of words between two gaps at
which only the root is open (or between the ends of the sentence). All stretches of a batch go one word further at once.

    forward     the weight of all ways to each state, or of the best
    backward    the share of all ways that takes each edge, or 1 on the best way and 0 elsewhere

What each edge closes, the nodes of the tree with their shares, opened.py says. What may follow a state, a `Grammar`
says; there is one for depths and one for 4tg.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.opened import BOTTOM, Edges, NewNodes, OpenNodes
from nestag.decoding.semiring import MAX_PLUS, Semiring


class Stretches(NamedTuple):
    """Runs of words that end where only the root is open, the longest first."""

    first: Ints
    size: Ints
    begins: Bools
    """Whether it begins a sentence, where nothing is open yet."""
    ends: Bools
    """Whether it ends a sentence."""

    def at(self, rows: Bools) -> Stretches:
        """Some of the stretches."""
        return Stretches(self.first[rows], self.size[rows], self.begins[rows], self.ends[rows])


class States(NamedTuple):
    """The states after a step: which stretch, the lowest open node, and the weight of the ways there."""

    stretch: Ints
    node: Ints
    weight: Floats

    def at(self, rows: Ints | Bools) -> States:
        """Some of the states."""
        return States(self.stretch[rows], self.node[rows], self.weight[rows])


class Going(NamedTuple):
    """Steps from states: to a node that stays open (`stop`), or to a new one opened above it."""

    source: Ints
    stop: Ints
    weight: Floats

    def at(self, rows: Ints | Bools) -> Going:
        """Some of the steps."""
        return Going(self.source[rows], self.stop[rows], self.weight[rows])


class Grammar(Protocol):
    """What may follow a state, and how good a state can become."""

    root_names: Bools
    """For each c whether it names a root."""

    def steps(self, nodes: OpenNodes, states: States, word: Ints) -> tuple[Going, Going, NewNodes]:
        """All steps over a word: those down to nodes that stay open, and those that open nodes."""
        ...

    def ahead(self, depth: Ints, word: Ints) -> Floats:
        """About (for the best: at most) the weight of all ways from a node of a depth at a word to the end."""
        ...


class PruningLimits(NamedTuple):
    """Which states are dropped."""

    least: Floats | float
    """Those whose weight with what is ahead is less: by stretch for the best, else as a share of the stretch."""
    width: int
    """Those beyond so many of a stretch."""


class Layer(NamedTuple):
    """The states after a step, and the edges to them."""

    states: States
    word: Ints
    source: Ints
    """Of each edge: the state before."""
    target: Ints
    stop: Ints
    """The node down to which it closes."""
    weight: Floats


class Lattice:
    """Runs forward over all stretches, then backward."""

    def __init__(self, grammar: Grammar, stretches: Stretches, limits: PruningLimits, semiring: Semiring) -> None:
        self.nodes = OpenNodes()
        self.grammar, self.stretches, self.limits, self.semiring = grammar, stretches, limits, semiring
        self.total = np.full(len(stretches.first), semiring.zero)
        """The weight of all ways through each stretch; for sums, of what is left after each step was brought to 1."""
        self.dropped = np.full(len(stretches.first), semiring.zero)
        """About how much the states beyond the width would have added."""

    def forward(self, start: Ints) -> list[Layer]:
        """The layers from the nodes at which the stretches begin."""
        first, size = self.stretches.first, self.stretches.size
        active = np.searchsorted(-size, -np.arange(int(size.max(initial=0))), side="left")
        states = States(np.arange(len(size)), start, np.full(len(size), self.semiring.one))
        none = np.zeros(0, dtype=np.int64)
        layers = [Layer(states, first - 1, none, none, none, np.zeros(0))]
        for step, lanes in enumerate(active.tolist()):
            states, layer = self._step(step, lanes, states)
            layers.append(layer)
        return layers

    def _step(self, step: int, lanes: int, before: States) -> tuple[States, Layer]:
        """One word further."""
        first, size, _, ends = self.stretches
        going = np.flatnonzero(before.stretch < lanes)
        states = before.at(going)
        word = first[states.stretch] + step
        down, up, new = self.grammar.steps(self.nodes, states, word)
        last = size[states.stretch] - 1 == step
        if last.any():
            down, up, new = self._landing(states, last, ends[states.stretch], down, up, new)
        layer = self._joined(states, going, down, up, new, step)
        return layer.states, layer

    def _landing(
        self, states: States, last: Bools, ends: Bools, down: Going, up: Going, new: NewNodes
    ) -> tuple[Going, Going, NewNodes]:
        """Of the steps over the last word those that land on the root; at the end of a sentence it must be open."""
        root = self.grammar.root_names
        down_kept = ~last[down.source] | root[self.nodes.name[down.stop]]
        alone = self.stretches.begins & self.stretches.ends & (self.stretches.size == 1)
        fresh = ~ends[up.source] | alone[states.stretch[up.source]]
        up_kept = ~last[up.source] | (root[new.name] & fresh)
        return (
            down.at(down_kept),
            up.at(up_kept),
            new.at(up_kept),
        )

    def _joined(self, states: States, going: Ints, down: Going, up: Going, new: NewNodes, step: int) -> Layer:
        """Steps to the same node meet, what is hopeless is dropped, and the new nodes that are left are opened."""
        down = down.at(np.argsort(down.stop, kind="stable"))
        begin = np.flatnonzero(np.diff(down.stop, prepend=-1))
        source = np.concatenate([down.source, up.source])
        weight = np.concatenate([down.weight, up.weight])
        arriving = self.semiring.times(states.weight[source], weight)
        met, opening = arriving[: len(down.stop)], arriving[len(down.stop) :]
        summed = self.semiring.plus.reduceat(met, begin) if begin.size else met
        stretch = states.stretch[np.concatenate([down.source[begin], up.source])]
        depth = np.concatenate([self.nodes.depth[down.stop[begin]], new.depth])
        total, word = np.concatenate([summed, opening]), self.stretches.first[stretch] + step
        owed = np.concatenate([self.nodes.owed[down.stop[begin]], new.owed])
        left = self.stretches.size[stretch] - step - self.stretches.ends[stretch]  # a root can be opened at a cut
        in_time = (owed == 0) | (owed < left)
        kept = self._kept(stretch, total, self.grammar.ahead(depth, word), in_time)
        opened = self.nodes.add(new.at(kept[len(begin) :]))
        node = np.concatenate([down.stop[begin][kept[: len(begin)]], opened])
        group = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(met)))
        target = np.concatenate([group, np.arange(len(begin), len(kept))])
        edge, place = kept[target], np.cumsum(kept) - 1
        stop = np.concatenate([down.stop, up.stop])[edge]
        reached = States(stretch[kept], node, total[kept])
        layer = Layer(reached, word[kept], going[source[edge]], place[target[edge]], stop, weight[edge])
        return self._scaled(layer, step)

    def _kept(self, stretch: Ints, weight: Floats, ahead: Floats, in_time: Bools) -> Bools:
        """Which states are worth going on with, of those that can come down to the root in time."""
        hope = self.semiring.times(weight, ahead)
        if self.semiring is MAX_PLUS:
            kept: Bools = in_time & (hope >= np.asarray(self.limits.least)[stretch])
        else:
            hope = hope * in_time
            kept = (hope >= self.limits.least * np.bincount(stretch, hope)[stretch]) & (weight > 0) & in_time
        if np.bincount(stretch[kept], minlength=1).max() > self.limits.width:
            self._narrow(stretch, hope, kept)
        return kept

    def _narrow(self, stretch: Ints, hope: Floats, kept: Bools) -> None:
        """Keep the most hopeful of each stretch."""
        rows = np.flatnonzero(kept)
        order = rows[np.lexsort((-hope[rows], stretch[rows]))]
        begin = np.flatnonzero(np.diff(stretch[order], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(begin, np.diff(begin, append=len(order)))
        beyond = order[rank >= self.limits.width]
        kept[beyond] = False
        self.semiring.plus.at(self.dropped, stretch[beyond], hope[beyond])

    def _scaled(self, layer: Layer, step: int) -> Layer:
        """For sums, the weights of each stretch brought to 1, and those of the edges with them."""
        stretch, _, weight = layer.states
        done = self.stretches.size[stretch] - 1 == step
        if self.semiring is MAX_PLUS:
            np.maximum.at(self.total, stretch[done], weight[done])
            return layer
        whole = np.bincount(stretch, weight, minlength=1)
        self.total[stretch[done]] = 1.0
        states = layer.states._replace(weight=weight / whole[stretch])
        return layer._replace(states=states, weight=layer.weight / whole[stretch[layer.target]])

    def edges(self, layers: list[Layer]) -> Edges:
        """The edges that some way through a whole stretch takes, with their shares of all ways (1 for the best)."""
        backward = self._best_back(layers) if self.semiring is MAX_PLUS else self._back(layers)
        none = np.zeros(0, dtype=np.int64)
        found = [(none, none, none, np.zeros(0))]
        for (before, layer), (share, ending) in zip(_pairs_back(layers), backward, strict=True):
            found.append((before.states.node[layer.source], layer.stop, layer.word[layer.target] + 1, share))
            root = np.flatnonzero(self.stretches.ends[layer.states.stretch] & (ending > 0))
            bottom = np.full(len(root), BOTTOM)
            found.append((layer.states.node[root], bottom, layer.word[root] + 1, ending[root]))
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        kept = columns[3] > 0
        return Edges(*(column[kept] for column in columns))

    def _back(self, layers: list[Layer]) -> Iterator[tuple[Floats, Floats]]:
        """The shares of the edges, and of the states at the end of their stretch."""
        behind: Floats = np.zeros(len(layers[-1].states.node))
        for step, (before, layer) in zip(range(len(layers) - 2, -1, -1), _pairs_back(layers), strict=True):
            done = self.stretches.size[layer.states.stretch] - 1 == step
            behind[done] = 1.0
            onward = layer.weight * behind[layer.target]
            yield onward * before.states.weight[layer.source], np.where(done, layer.states.weight, 0)
            behind = np.bincount(layer.source, onward, len(before.states.node)).astype(np.float64, copy=False)

    def _best_back(self, layers: list[Layer]) -> Iterator[tuple[Floats, Floats]]:
        """1 for the edges and the last states of the best way through each stretch, 0 for others."""
        chosen = np.zeros(len(layers[-1].states.node), dtype=bool)
        for step, (before, layer) in zip(range(len(layers) - 2, -1, -1), _pairs_back(layers), strict=True):
            stretch, _, weight = layer.states
            ending = (self.stretches.size[stretch] - 1 == step) & (weight == self.total[stretch])
            ending &= _first_of_each(np.where(ending, stretch, -1))
            chosen |= ending
            way = before.states.weight[layer.source] + layer.weight
            best = chosen[layer.target] & (way == weight[layer.target])
            best &= _first_of_each(np.where(best, stretch[layer.target], -1))
            yield best.astype(np.float64), ending.astype(np.float64)
            chosen = np.zeros(len(before.states.node), dtype=bool)
            chosen[layer.source[best]] = True


def _pairs_back(layers: list[Layer]) -> Iterator[tuple[Layer, Layer]]:
    return zip(layers[-2::-1], layers[:0:-1], strict=False)


def _first_of_each(group: Ints) -> Bools:
    """Whether a value stands there for the first time."""
    first = np.zeros(len(group), dtype=bool)
    first[np.unique(group, return_index=True)[1]] = True
    return first
