"""Stretches between the gaps at which only the root can be open, and the best ways through them."""

from __future__ import annotations

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.entities import NamedNodes, Replacement
from nestag.decoding.lattice import Grammar, Lattice, PruningLimits, Stretches
from nestag.decoding.opened import BOTTOM, ClosedNodes, NewNodes, OpenNodes, closed
from nestag.decoding.scores import FORBIDDEN, Scores
from nestag.decoding.semiring import MAX_PLUS

WIDTHS = (32, 256)
"""The most states of a stretch at a gap, in a first and in a second search."""

WINDOW = 128
"""How many words on each side count for a cut."""

CLOSE = 1e-6
"""Differences of scores that may come from rounding."""


def stretches_of(cut: Bools, last: Bools, scores: Scores) -> Stretches:
    """The stretches between cuts that have more than one word, the longest first."""
    end = np.flatnonzero(cut)
    first = np.concatenate([[0], end[:-1] + 1]) if end.size else end
    size = end - first + 1
    order = np.argsort(-size, kind="stable")[: np.count_nonzero(size > 1)]
    first, size, end = first[order], size[order], end[order]
    begins = np.isin(first, scores.first[scores.lengths > 0]) if len(first) else last[:0]
    return Stretches(first, size, begins, last[end])


def beginnings(nodes: OpenNodes, stretches: Stretches, plain: Ints) -> Ints:
    """What is open where each stretch begins: nothing, or a root of its own."""
    start = np.full(len(stretches.first), BOTTOM)
    cut = np.flatnonzero(~stretches.begins)
    same = np.zeros_like(cut)
    start[cut] = nodes.add(NewNodes(same + BOTTOM, same + plain[0] if plain.size else same, same + 1, same, same, same))
    return start


def best_ways(
    grammar: Grammar, stretches: Stretches, least: Floats, ahead: Floats, plain: Ints
) -> tuple[ClosedNodes, Ints]:
    """The nodes of the best ways, and the first words of the stretches that have none."""
    parts, missed = [], [stretches.first[:0]]
    for width in WIDTHS:
        lattice = Lattice(grammar, stretches, PruningLimits(less(least), width), MAX_PLUS)
        layers = lattice.forward(beginnings(lattice.nodes, stretches, plain))
        total = lattice.total + ahead
        done = (lattice.dropped <= total) | (width == WIDTHS[-1])
        nodes = closed(lattice.nodes, lattice.edges(layers))
        order = np.argsort(stretches.first)
        mine = order[np.searchsorted(stretches.first[order], nodes.start, side="right") - 1]
        parts.append(nodes.at(done[mine]))
        missed.append(stretches.first[done & (lattice.total <= FORBIDDEN / 2)])
        if done.all():
            break
        stretches = stretches.at(~done)
        least, ahead = np.maximum(least, total)[~done], ahead[~done]
    return ClosedNodes(*(np.concatenate(column) for column in zip(*parts, strict=True))), np.concatenate(missed)


def less(score: Floats) -> Floats:
    """A slightly lower bound, to absorb rounding errors."""
    less: Floats = score - CLOSE - np.abs(score) * 1e-13
    return less


def summed_over(values: Floats, first: Ints, end: Ints) -> Floats:
    """The sum of the values from each first word to each last."""
    if not first.size:
        return np.zeros(0)
    found: Floats = np.add.reduceat(np.append(values, 0.0), np.stack([first, end + 1], axis=1).ravel())[::2]
    return found


def around(loss: Floats, scores: Scores) -> Floats:
    """The sum of the losses in the window around each word."""
    word = np.arange(len(loss))
    first = np.repeat(scores.first, scores.lengths)
    end = first + np.repeat(scores.lengths, scores.lengths) - 1
    if scores.lengths.max(initial=0) <= WINDOW:
        return np.repeat(
            summed_over(loss, scores.first[scores.lengths > 0], scores.last), scores.lengths[scores.lengths > 0]
        )
    sums = np.append(0.0, np.cumsum(loss))
    found: Floats = sums[np.minimum(word + WINDOW, end) + 1] - sums[np.maximum(word - WINDOW, first)]
    return found


def replacement(scores: Scores, sentences: Bools, found: ClosedNodes, done: Bools) -> Replacement:
    """Nodes of some sentences at their places in the whole batch, for those of the sentences that are done."""
    lengths = scores.lengths[sentences]
    word = np.flatnonzero(np.repeat(sentences, scores.lengths))
    replaced = sentences.copy()
    replaced[sentences] = done
    mine = np.repeat(done, lengths)[found.start]
    nodes = NamedNodes(word[found.start[mine]], word[found.end[mine] - 1] + 1, found.name[mine])
    return Replacement(replaced, nodes)
