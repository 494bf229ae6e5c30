"""How probable nodes are, for abs, rel and dyn, over the label sequences that the encoding can write.

The relaxed chain of probabilities.py, which lets every gap have a name of its own, tells where to look: which depths
and names are worth trying at a gap, and at which gaps only the root can be open. There the sentence is cut. Over the
stretches between, the lattice adds up all ways with one name for each node.

What the relaxed chain gives less than `LEAST` is left out, and a state that has less of its stretch. With 0 instead,
nothing is cut, and the probabilities are exact unless states fall out for being too many.

Such states can be all that lead to the end. Then more are kept, and where that does not help either, only the nodes of
the best depths are left, as probable as the relaxed chain says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.chains import chains_of
from nestag.decoding.depth.depths import best_depths
from nestag.decoding.depth.joint import DepthGrammar, openings_of
from nestag.decoding.depth.machine import DepthMachine
from nestag.decoding.depth.probabilities import Chain, node_probabilities, pooled
from nestag.decoding.lattice import Lattice, PruningLimits
from nestag.decoding.nodes import nodes_of
from nestag.decoding.opened import ClosedNodes, closed
from nestag.decoding.scores import Scores, Search, softmax
from nestag.decoding.semiring import LOG_SUM_EXP, SUM_PRODUCT, UNDERFLOW
from nestag.decoding.stretches import beginnings, stretches_of
from nestag.vocabulary import Vocabulary

LEAST = 1e-3
"""Depths, names and states less probable than this at a gap are left out."""

WIDTH = 64
"""The most states of a stretch at a gap."""

WIDEST = 512
"""The most where fewer have left no way to the end."""


class RelaxedDepths(NamedTuple):
    """What the relaxed chain says of each word."""

    depth: Floats
    """How probable each depth (1 first) is: depths x words."""
    root: Floats
    """How probable it is that only a root without types is open, at each word."""
    roots: Floats
    """How probable each root is: roots x words."""
    beyond: Floats
    """The weight of what is ahead, against the largest at the word: depths x words."""


def relaxed(machine: DepthMachine, scores: Scores) -> RelaxedDepths:
    """Run the relaxed chain over a batch."""
    chain = Chain.of(SUM_PRODUCT, machine, scores)
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    found = _relaxed(chain, sentence)
    lost = (chain.whole < UNDERFLOW) & (scores.lengths > 0)
    if lost.any():
        again = scores.select(lost)
        inner = np.repeat(np.arange(len(again.lengths)), again.lengths)
        for column, values in zip(found, _relaxed(Chain.of(LOG_SUM_EXP, machine, again), inner), strict=True):
            column[..., lost[sentence]] = values
    return found


def _relaxed(chain: Chain, sentence: Ints) -> RelaxedDepths:
    semiring = chain.semiring
    before, after = chain.by_word()
    share = semiring.share(semiring.times(before, after), chain.whole[sentence])
    beyond = semiring.sum(after, 0)
    top = beyond.max(axis=0)
    beyond = beyond / np.maximum(top, UNDERFLOW) if semiring is SUM_PRODUCT else np.exp(np.maximum(beyond - top, -700))
    return RelaxedDepths(share.sum(axis=0), share[0, 0].copy(), chain.root[:, sentence], beyond)


def node_shares(
    machine: DepthMachine, vocabulary: Vocabulary, scores: Scores, least: float = LEAST, width: int = WIDTH
) -> ClosedNodes:
    """The nodes that some label sequence has, with their probabilities; where no way is left, less is left out."""
    found, missed = _node_shares(machine, vocabulary, scores, least, width)
    if not missed.any():
        return found
    rest = scores.select(missed)
    if least > 0 or width < WIDEST:
        again = node_shares(machine, vocabulary, rest, 0.0, width if least > 0 else 2 * width)
    else:
        again = _of_best_depths(machine, rest)
    word = np.flatnonzero(np.repeat(missed, scores.lengths))
    again = again._replace(start=word[again.start], end=word[again.end - 1] + 1)
    kept = ~np.repeat(missed, scores.lengths)[found.start]
    return ClosedNodes(*(np.concatenate([old[kept], new]) for old, new in zip(found, again, strict=True)))


def _node_shares(
    machine: DepthMachine, vocabulary: Vocabulary, scores: Scores, least: float, width: int
) -> tuple[ClosedNodes, Bools]:
    """The nodes with their probabilities, and the sentences with a stretch whose ways have all been left out."""
    seen = relaxed(machine, scores)
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    last = np.zeros(len(sentence), dtype=bool)
    last[scores.last] = True
    chain_lengths = np.array([name.chain_length for name in vocabulary.c], dtype=np.int64)
    plain = machine.root_names[0]
    cut = (seen.root >= 1 - least) & (len(plain) > 0) & (least > 0)
    stretches = stretches_of(cut | last, last, scores)
    c = SUM_PRODUCT.labels(scores.c)
    viable = np.concatenate([np.zeros((1, len(last)), dtype=bool), seen.depth >= least])
    viable[2:, cut] = False
    named = c[machine.names] * (1 - seen.root) >= least * c[machine.names].sum(axis=0)
    openings = openings_of(
        machine, chain_lengths, viable, named, seen.roots >= least, last & (scores.lengths > 1)[sentence]
    )
    n = SUM_PRODUCT.labels(scores.n)
    grammar = DepthGrammar(machine, chains_of(vocabulary).c.root, SUM_PRODUCT, n, c, viable, openings, seen.beyond)
    lattice = Lattice(grammar, stretches, PruningLimits(least, width), SUM_PRODUCT)
    layers = lattice.forward(beginnings(lattice.nodes, stretches, plain))
    missed = np.zeros(len(scores.lengths), dtype=bool)
    left_out = (lattice.total == 0) & ((lattice.dropped > 0) | (least > 0))
    missed[sentence[stretches.first[left_out]]] = True
    return closed(lattice.nodes, lattice.edges(layers)), missed


def _of_best_depths(machine: DepthMachine, scores: Scores) -> ClosedNodes:
    """The nodes of the best depths with every name, as probable as their span is a node and has the name."""
    depth = best_depths(scores, machine).below_roots(scores)
    nodes = nodes_of(depth)
    found = node_probabilities(machine, scores, nodes.start, nodes.end)
    parts = [_with_names(scores, nodes.start, nodes.end, found.node, (nodes.gaps, nodes.first), machine.names)]
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    gaps = np.flatnonzero(depth < 2)
    first = np.flatnonzero(np.diff(sentence[gaps], prepend=-1))
    begin, end = scores.first, scores.first + scores.lengths
    for share, names in zip(found.root, machine.root_names, strict=True):
        parts.append(_with_names(scores, begin, end, share, (gaps, first), names))
    return ClosedNodes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _with_names(
    scores: Scores, start: Ints, end: Ints, share: Floats, gaps: tuple[Ints, Ints], names: Ints
) -> ClosedNodes:
    """Nodes with each of the names, by the scores of these at the gaps of each node."""
    if not names.size or not len(start):
        return ClosedNodes(start[:0], end[:0], names[:0], share[:0])
    shares = share[:, None] * softmax(pooled(scores, *gaps, names, Search(pooling="sum")))
    count = len(names)
    return ClosedNodes(np.repeat(start, count), np.repeat(end, count), np.tile(names, len(start)), shares.ravel())
