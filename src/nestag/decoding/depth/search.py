"""The legal nodes of abs, rel and dyn: the best depths, then one name for each node.

This is the relaxed search: it lets every gap have the best name for it while depths are searched. Where all gaps of
each node then agree, nothing that the encoding can write is better; with `Search.joint`, exact.py goes on from here for
the other sentences. Without it these depths stay, and each node takes the name with the highest sum over its gaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.depths import BestDepths, best_depths
from nestag.decoding.depth.machine import DepthMachine
from nestag.decoding.entities import NamedNodes
from nestag.decoding.nodes import Nodes, nodes_of
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores, Search, comparable
from nestag.vocabulary import Vocabulary

CLOSE = 1e-9
"""Scores that are not farther apart count as equal."""


class LegalDepthNodes(NamedTuple):
    """The nodes of the best depths that name entities, each with the best name for it."""

    nodes: NamedNodes
    settled: Bools
    """For each sentence, whether no label sequence that the encoding can write is better."""
    depths: BestDepths


def legal_nodes(scores: Scores, machine: DepthMachine, vocabulary: Vocabulary, search: Search) -> LegalDepthNodes:
    """The nodes of the best depths; a sentence is settled if every gap has the best name for it, and a tree has all."""
    depths = best_depths(scores, machine)
    depth = depths.below_roots(scores)
    nodes = nodes_of(depth)
    chain_lengths = np.array([name.chain_length for name in vocabulary.c], dtype=np.int64)
    fits = _fitting(nodes, chain_lengths[machine.names]) if search.consistent else None
    names, loss = _best_names(scores, nodes.gaps, nodes.first, machine.names, fits)
    whole = _named_roots(scores, machine, chain_lengths, depth, depths.root)
    named = names >= 0
    parts = (nodes.start[named], whole.start), (nodes.end[named], whole.end), (names[named], whole.c)
    settled = (depths.root == 1) & (depths.score > MISSING / 2)
    settled[_sentence(scores, nodes.start[_unsettled(scores, nodes, names, loss, chain_lengths)])] = False
    return LegalDepthNodes(NamedNodes(*map(np.concatenate, parts)), settled, depths)


def _unsettled(scores: Scores, nodes: Nodes, names: Ints, loss: Floats, chain_lengths: Ints) -> Bools:
    """Which nodes have a name that is not the best at some gap or does not fit, or lie over a whole sentence."""
    whole = nodes.end - nodes.start == scores.lengths[_sentence(scores, nodes.start)]
    unfit = chain_lengths[names] != nodes.depth - nodes.above
    unsettled: Bools = (loss > CLOSE) | (names < 0) | unfit | whole
    return unsettled


def _sentence(scores: Scores, word: Ints) -> Ints:
    return np.searchsorted(np.cumsum(scores.lengths), word, side="right")


def _fitting(nodes: Nodes, chain_lengths: Ints) -> Bools:
    """Which names have as many levels as a node opens; all, if none has."""
    fits: Bools = (nodes.depth - nodes.above)[:, None] == chain_lengths
    fits[~fits.any(axis=1)] = True
    return fits


def _named_roots(scores: Scores, machine: DepthMachine, chain_lengths: Ints, depth: Ints, root: Ints) -> NamedNodes:
    """The roots that name entities, by the gaps at their depth and the last word."""
    sentence = np.repeat(np.arange(len(root)), scores.lengths)
    gaps = np.flatnonzero((root > 1)[sentence] & (depth < 2))
    first = np.flatnonzero(np.diff(sentence[gaps], prepend=-1))
    rows = sentence[gaps[first]]
    names = np.concatenate(machine.root_names)
    chosen, _ = _best_names(scores, gaps, first, names, chain_lengths[names] == root[rows, None])
    return NamedNodes(scores.first[rows], scores.first[rows] + scores.lengths[rows], chosen)


def _best_names(scores: Scores, gaps: Ints, first: Ints, names: Ints, fits: Bools | None) -> tuple[Ints, Floats]:
    """The c with the highest sum over the gaps of each node, among those that fit, and how much that is under the best.

    The c is -1 if there are no names.
    """
    if not names.size or not first.size:
        return np.full(len(first), -1, dtype=np.int64), np.zeros(len(first))
    here = comparable(scores.c[gaps])[names]
    total = np.add.reduceat(here, first, axis=1).T
    free = np.add.reduceat(here.max(axis=0), first)
    if fits is not None:
        total[~fits] = FORBIDDEN
    chosen = total.argmax(axis=1)
    return names[chosen], free - total[np.arange(len(first)), chosen]
