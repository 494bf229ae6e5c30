"""How probable entities are, for abs, rel and dyn, by depths first and names then.

This is an approximation, the better calibrated one (docs/experiments.md); exact marginals are in marginals.py. The
scores make a Markov chain over the legal sequences of depths: each has a weight, the product of its labels'
probabilities with all names that fit instead of the best, and its share of the weight of all is its probability. A span
is a node if the gaps inside are deeper than those on both sides, whatever its level:

    depth    2   │ 3   4   3 │   1          k = 3: the gaps of the span are k deep or more, the deeper side k - 1
             side│  inside   │side

For each k there are two cases, the left side k - 1 deep, or the right side alone. Summed over them, over the roots and
over the depths of both sides, this is exact: the ways to the left side (forward), those inside that never rise above k,
and those from the right side on (backward). Inside, a step costs roots x cases x depths x depths, so all is linear in
the words and in the spans' lengths.

An entity of several words is as probable as its span is a node, times the probability of its type, given the gaps that
belong to its span and to no entity inside it: each name that can stand below the root is rated by its scores at these
gaps, summed (or their mean), as one of all such names; those with the type are added up. An entity over the whole
sentence can be in the root's name: to the above is added, for each depth of the root, how probable that depth is, times
the type's share among the root's names of as many levels.

A span with more entities around it than the search is deep has probability 0: no legal sequence has them all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.depth.machine import DepthMachine, Moves, at_roots, backward, final, forward, moves_of
from nestag.decoding.depth.parts import SentenceParts, are_long, spread
from nestag.decoding.depth.weights import LongWeights
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.scores import Scores, Search, comparable, softmax
from nestag.decoding.semiring import LOG_SUM_EXP, SUM_PRODUCT, UNDERFLOW, Semiring
from nestag.decoding.spans import Spans, select_sentences


def rate_spans(machine: DepthMachine, members: Floats, scores: Scores, spans: Spans, search: Search) -> Floats:
    """How probable each type is at each span: spans x types; `members` says which c has which type."""
    nodes = spans.nodes
    found = node_probabilities(machine, scores, nodes.start, nodes.end)
    within = nodes.depth <= len(machine.n_row)
    names = softmax(pooled(scores, nodes.gaps, nodes.first, machine.names, search))
    rated: Floats = (found.node * within)[:, None] * (names @ members[machine.names])
    whole = np.flatnonzero(spans.whole)
    gaps, first = _with_last(spans, whole)
    for root, names_of_root in enumerate(machine.root_names):
        if whole.size and names_of_root.size:
            names = softmax(pooled(scores, gaps, first, names_of_root, search))
            rated[whole] += found.root[root, spans.sentence[whole], None] * (names @ members[names_of_root])
    return rated


def _with_last(spans: Spans, whole: Ints) -> tuple[Ints, Ints]:
    """The gaps of whole sentences with the last word, which carries the root's name as well."""
    nodes = spans.nodes
    kept = np.repeat(spans.whole, nodes.sizes)
    gaps = np.concatenate([nodes.gaps[kept], nodes.end[whole] - 1])
    owner = np.concatenate([np.repeat(np.arange(len(whole)), nodes.sizes[whole]), np.arange(len(whole))])
    order = np.argsort(owner, kind="stable")
    return gaps[order], np.flatnonzero(np.diff(owner[order], prepend=-1))


def pooled(scores: Scores, gaps: Ints, first: Ints, names: Ints, search: Search) -> Floats:
    """The scores of names over the gaps of each node, summed or their mean."""
    total = np.add.reduceat(comparable(scores.c[gaps])[names], first, axis=1).T
    return total if search.pooling == "sum" else total / np.diff(first, append=len(gaps))[:, None]


class NodeProbabilities(NamedTuple):
    """How probable each span is a node below the root, and each root of each sentence: roots x sentences."""

    node: Floats
    root: Floats


def node_probabilities(machine: DepthMachine, scores: Scores, start: Ints, end: Ints) -> NodeProbabilities:
    """The probabilities of spans of two words or more."""
    chain = Chain.of(SUM_PRODUCT, machine, scores)
    found = NodeProbabilities(_node_probabilities(chain, scores, start, end), chain.root)
    lost = (chain.whole < UNDERFLOW) & (scores.lengths > 0)
    if lost.any():
        again = select_sentences(scores, lost, start, end)
        chain = Chain.of(LOG_SUM_EXP, machine, again.scores)
        found.node[again.spans] = _node_probabilities(chain, again.scores, again.start, again.end)
        found.root[:, lost] = chain.root
    return found


class Chain(NamedTuple):
    """The weights of all legal sequences of a batch."""

    semiring: Semiring
    machine: DepthMachine
    moves: Moves
    place: Ints
    """Where each word's weights stand in `before` and `after`."""
    before: Floats
    """Of all ways to a root, depth and place."""
    after: Floats
    """Of all ways from there to the end."""
    root: Floats
    """How probable each root is: roots x sentences."""
    whole: Floats
    """Of all sequences of each sentence."""

    @classmethod
    def of(cls, semiring: Semiring, machine: DepthMachine, scores: Scores) -> Chain:
        """Run forward and backward over all sentences."""
        moves, long = moves_of(scores, machine, semiring), are_long(scores.lengths) & (semiring is SUM_PRODUCT)
        none = np.empty((*machine.c_row.shape, 0))
        words, before, after = [np.zeros(0, dtype=np.int64)], [none], [none]
        at_root = np.zeros((len(machine.roots), len(scores.lengths)))
        if long.any():
            words.append(spread(scores.first[long], scores.lengths[long]))
            found = _weigh_long(moves, words[-1], scores.lengths[long], machine)
            before.append(found[0])
            after.append(found[1])
            at_root[:, long] = at_roots(found[0], machine, np.cumsum(scores.lengths[long]) - 1)
        for rows, lanes in blocks(scores.first, np.where(long, 0, scores.lengths), machine.n_row.size):
            here = moves.at(lanes.word)
            words.append(lanes.word)
            before.append(forward(here, machine, lanes, semiring))
            after.append(backward(here, machine, lanes, semiring))
            at_root[:, rows] = final(before[-1], machine, lanes, semiring)
        place = np.empty(len(scores.n), dtype=np.int64)
        place[_joined(words)] = np.arange(len(place))
        whole = semiring.sum(at_root, 0)
        return cls(
            semiring, machine, moves, place, _joined(before), _joined(after), semiring.share(at_root, whole), whole
        )

    def by_word(self) -> tuple[Floats, Floats]:
        """What stands before and after each word, in the order of words: roots x depths x words."""
        return self.before.take(self.place, axis=2), self.after.take(self.place, axis=2)


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Arrays one after the other, the first of them empty; one alone is not copied."""
    return arrays[-1] if len(arrays) <= 2 else np.concatenate(arrays, axis=-1)


def _weigh_long(moves: Moves, words: Ints, lengths: Ints, machine: DepthMachine) -> tuple[Floats, Floats]:
    """What stands before and after the words of long sentences.

    Their moves are divided so that the ways to each word have a weight of 1 together.
    """
    here, begin = moves.at(words), np.cumsum(lengths) - lengths
    parts = SentenceParts.of(begin, lengths)
    to = LongWeights.to(parts, here, machine, SUM_PRODUCT)
    whole = _sums_from(to.divisor, begin, lengths)  # roots x words, as logarithms
    together = np.logaddexp.reduce(whole, axis=0)
    step = np.diff(together, prepend=0.0)
    step[begin] = together[begin]
    here.c[...] *= np.exp(-step)
    moves.c[:, words] = here.c
    before = np.multiply(to.total, np.exp(whole - together)[:, None], out=to.total)
    after = LongWeights.onward(parts, here, machine, SUM_PRODUCT).total
    through = np.einsum("rdw,rdw->rw", before, after)  # of each root: the same at every word
    at_root = at_roots(before, machine, begin + lengths - 1)
    after *= (np.repeat(at_root, lengths, axis=1) / np.maximum(through, UNDERFLOW))[:, None]
    return before, after


def _sums_from(values: Floats, begin: Ints, lengths: Ints) -> Floats:
    """The sum of the values (rows x words) from the first word of a sentence to each word."""
    sums = np.cumsum(values, axis=1)
    return sums - np.repeat(sums[:, begin] - values[:, begin], lengths, axis=1)


def _node_probabilities(chain: Chain, scores: Scores, start: Ints, end: Ints) -> Floats:
    """How probable each span of two words or more is a node below the root, from 0 to 1."""
    probability = np.zeros(len(start))
    deepest = len(chain.machine.n_row) - 1
    if deepest == 1:
        return probability
    sentence = np.searchsorted(np.cumsum(scores.lengths), start, side="right")
    opens = start == scores.first[sentence]
    states = len(chain.machine.roots) * 2 * (deepest - 1) * deepest * deepest
    for rows, lanes in blocks(start, end - start - 1, states):
        inside = _inside(chain, lanes, start[rows], opens[rows])
        weight = _closed(chain, inside[..., lanes.end], end[rows] - 1)
        probability[rows] = chain.semiring.share(weight, chain.whole[sentence[rows]])
    return probability


def _inside(chain: Chain, lanes: Lanes, start: Ints, opens: Bools) -> Floats:
    """The weight of all ways to each root, case, depth and slot that went into the span and stayed there.

    The cases are those of each k with the left side k - 1 deep, then those of each k with a left side less deep.
    """
    semiring, machine, moves = chain.semiring, chain.machine, chain.moves.at(lanes.word)
    begin, steps = lanes.offset[1], machine.steps_of(moves)
    deepest = len(steps)
    allowed = np.tile(np.arange(1, deepest + 1) >= np.arange(2, deepest + 1)[:, None], (2, 1))  # cases x depths
    named = semiring.times(semiring.where(allowed)[:, :, None], moves.c[0])  # names have no root's mark
    total = np.repeat(named[None], len(machine.roots), axis=0)  # roots x cases x depths x slots
    enter = semiring.times(_left(chain, start, opens)[:, :, None], moves.n[:, :begin].take(machine.n_row, axis=0))
    less_deep = semiring.plus.accumulate(enter, axis=1)  # roots x depths of the left side x depths x spans
    first = total[..., :begin]
    semiring.times(first, np.concatenate([enter[:, 1:-1], less_deep[:, :-2]], axis=1), out=first)
    for before, a, b in lanes.steps():
        here, reached = total[..., a:b], total[..., before : before + b - a]
        semiring.times(here, semiring.advance(reached, steps[:, :, a:b]), out=here)
    return total


def _left(chain: Chain, start: Ints, opens: Bools) -> Floats:
    """The weight of all ways to the gap before each span: roots x depths (0 first) x spans."""
    roots, depths, _ = chain.before.shape
    total = np.full((roots, depths + 1, len(start)), chain.semiring.zero)
    total[:, 0, opens] = chain.semiring.one
    total[:, 1:, ~opens] = chain.before.take(chain.place[start[~opens] - 1], axis=2)
    return total


def _closed(chain: Chain, inside: Floats, side: Ints) -> Floats:
    """The weight of all sequences with each span, whose right side is the gap after the word `side`.

    In the first cases that side is k - 1 deep or less, in the others k - 1 deep.
    """
    semiring, machine, moves = chain.semiring, chain.machine, chain.moves.at(side)
    onward = semiring.times(moves.c.take(machine.c_row, axis=0), chain.after.take(chain.place[side], axis=2))
    leave = semiring.times(machine.steps_of(moves), onward[:, None])  # roots x inside x right x spans
    up_to = semiring.plus.accumulate(leave, axis=2)
    ways = np.concatenate([up_to[:, :, :-1], leave[:, :, :-1]], axis=2).swapaxes(1, 2)  # roots x cases x inside x spans
    return semiring.sum(semiring.times(inside, ways).reshape(-1, len(side)), 0)
