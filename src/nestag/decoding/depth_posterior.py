"""The posterior of abs, rel and dyn: how probable it is that a span is a node, over all valid sequences of depths.

A span is a node if the gaps inside are deeper than those on both sides, whatever its level:

    depth    2   │ 3   4   3 │   1          k = 3: the gaps of the span are k deep or more, the deeper side k - 1
             side│  inside   │side

For each k there are two cases: the left side is k - 1 deep, or only the right side is. The sum over the cases, and over
the depths of both sides, is exact. The root's depth never changes along a sequence, so there is one Markov chain for
each root, and the chains are weighted by the probability of their root.

Weights are divided by their sum at every word, for each root, so that long sentences do not underflow (the scaled
forward-backward algorithm). The ways inside a span are divided by the same numbers as the ways to it.

An entity over the whole sentence can be in the root's name. So the probability of each root, times the share of the
type among the names of that root, is added for it.
"""

from __future__ import annotations

import numpy as np

from nestag.data.arrays import Bools, Floats, Ints
from nestag.decoding.depth import DepthRules
from nestag.decoding.posterior import SMALLEST, Posterior, Spans
from nestag.decoding.scores import LEAST_WEIGHT, Scores, SequenceBlock, comparable, softmax


class DepthPosterior(Posterior):
    """The posterior over depths of some sentences."""

    def __init__(self, rules: DepthRules, types: Bools, scores: Scores, sentences: Bools) -> None:
        """Run forward and backward over some sentences; `types` says which c has which type."""
        super().__init__(scores, types, np.where(sentences, scores.lengths, 0), rules.n_row.size)
        self._rules, self.levels, self.span_states = rules, rules.deepest, 2 * rules.c_row.size * rules.deepest
        self._c = _name_weights(self._c, rules)
        shape = (*rules.c_row.shape, self._n.shape[1])  # roots x depths x slots
        self._before, self._after = np.empty(shape), np.empty(shape)
        self._scale = np.empty((shape[0], shape[2]))  # what the weights were divided by at each slot
        for block in self._blocks:
            self._run(block)
        self._root = self._root_probabilities(sentences)
        self.named_root = self._root[1:].sum(axis=0)
        self._whole = np.maximum(np.einsum("rds,rds->rs", self._before, self._after), SMALLEST)
        depths = np.arange(1, rules.deepest + 1)
        inside = np.tile(depths >= depths[1:, None], (2, 1))  # cases x depths
        self._inside = inside & (rules.c_row == 0)[:, None]  # roots x cases x depths

    def _run(self, block: SequenceBlock) -> None:
        rules, roots = self._rules, np.arange(len(self._rules.roots))[:, None]
        arrays = (self._n, self._c, self._before, self._after, self._scale)
        n, c, before, after, scale = (values[..., block.own] for values in arrays)
        steps = n.take(rules.n_row[1:], axis=0)  # depths before x depths x slots
        before[...] = c.take(rules.c_row, axis=0)
        after[:, :, block.end] = 0
        after[roots, rules.roots[:, None] - 1, block.end] = 1
        _forward(before, scale, n, steps, rules, block)
        _backward(after, c, steps.swapaxes(0, 1), rules, block)

    def _root_probabilities(self, sentences: Bools) -> Floats:
        """Return how probable each root of each sentence is, by the weight of all its sequences: roots x sentences."""
        roots, scores = self._rules.roots[:, None], self._scores
        last = self._slot[(scores.first + scores.lengths - 1)[sentences]]
        evidence = np.log(np.maximum(self._before[np.arange(len(roots))[:, None], roots - 1, last], SMALLEST))
        sentence, count = self._sentence[self._word], len(sentences)
        for row, scale in enumerate(np.log(self._scale)):
            evidence[row] += np.bincount(sentence, scale, count)[sentences]
        probability = np.zeros((len(roots), count))
        probability[:, sentences] = softmax(evidence.T).T
        return probability

    def enter(self, start: Ints, longest: int) -> Floats:
        """Return the state at the first gap: roots x cases x depths x spans.

        The first cases are those of each k with the left side k - 1 deep, the others those with a left side less deep.
        """
        rules, slot, opens = self._rules, self._slot[start], self._opens[start]
        left = np.zeros((len(rules.roots), rules.deepest + 1, len(start)))  # the weight of the ways to the gap before
        left[:, 0, opens] = 1
        left[:, 1:, ~opens] = self._before[:, :, self._slot[start[~opens] - 1]]
        ways = left[:, :, None] * self._n[:, slot].take(rules.n_row, axis=0)
        return self._go_inside(np.concatenate([ways[:, 1:-1], _running_sums(ways[:, :-2])], axis=1), slot)

    def advance(self, state: Floats, gap: Ints) -> Floats:
        """Return the state at a gap from the state at the gap before."""
        slot = self._slot[gap]
        steps = self._n[:, slot].take(self._rules.n_row[1:], axis=0)
        return self._go_inside(np.einsum("rcbs,bas->rcas", state, steps), slot)

    def _go_inside(self, state: Floats, slot: Ints) -> Floats:
        """Keep the ways to depths of k or more below the root, with the names there."""
        state *= self._inside[..., None]
        state *= (self._c[0, slot] / self._scale[:, slot])[:, None, None]
        return state

    def close(self, state: Floats, start: Ints, end: Ints) -> Floats:
        """Return the probability of nodes; the right side is k - 1 deep or less in the first cases, k - 1 in others."""
        rules, slot = self._rules, self._slot[end - 1]
        onward = self._c[:, slot].take(rules.c_row, axis=0) * self._after[:, :, slot]
        steps = self._n[:, slot].take(rules.n_row[1:, :-1].T, axis=0)
        leave = steps * onward[:, :-1, None]  # roots x right side x inside x spans
        ways = np.concatenate([_running_sums(leave), leave], axis=1)  # roots x cases x inside x spans
        ways *= state
        share = ways.sum(axis=(1, 2)) / self._scale[:, slot] / self._whole[:, slot]
        probability: Floats = (share * self._root[:, self._sentence[start]]).sum(axis=0)
        return probability

    def open_probability(self, state: Floats, start: Ints, gap: Ints) -> Floats:
        """Return the expected number of nodes that begin at a word and have the gap inside."""
        slot = self._slot[gap]
        weights = self._root[:, self._sentence[start]] / self._whole[:, slot]
        expected: Floats = np.einsum("rcds,rds,rs->s", state, self._after[:, :, slot], weights)
        return expected

    def rate_types(self, spans: Spans, probability: Floats) -> Floats:
        """Return the probability of each type: spans x types."""
        rules = self._rules
        rated = probability[:, None] * self._share(spans.gaps, spans.first, rules.names)
        whole = self._opens[spans.start] & self._closes[spans.end]
        if whole.any():
            gaps, first = _with_last_gap(spans, whole)
            for root, names in zip(self._root, rules.root_names, strict=True):
                if self._types[names].any():
                    rated[whole] += root[self._sentence[spans.start[whole]], None] * self._share(gaps, first, names)
        return rated

    def _share(self, gaps: Ints, first: Ints, names: Ints) -> Floats:
        """Return the share of each type among names, by their mean scores at the gaps of spans: spans x types."""
        if not names.size or not first.size:
            return np.zeros((len(first), self._types.shape[1]))
        total = np.add.reduceat(comparable(self._scores.c[gaps])[names], first, axis=1).T
        share: Floats = softmax(total / np.diff(first, append=len(gaps))[:, None]) @ self._types[names]
        return share


def _name_weights(c: Floats, rules: DepthRules) -> Floats:
    """Return the summed weights of the names that fit each row of `c_row`, 0 for what is not allowed."""
    sums = [c[names].sum(axis=0) for names in (rules.names, *rules.root_names)]
    return np.stack([*(np.maximum(values, LEAST_WEIGHT) for values in sums), np.zeros(c.shape[1])])


def _forward(total: Floats, scale: Floats, n: Floats, steps: Floats, rules: DepthRules, block: SequenceBlock) -> None:
    """Make weights of names the weights of all ways to each root, depth and slot, and keep what divides them."""
    total[..., block.begin] *= n[:, block.begin].take(rules.n_row[0], axis=0)
    scale[:, block.begin] = total[..., block.begin].sum(axis=1)
    total[..., block.begin] /= scale[:, None, block.begin]
    for before, here in block.forward():
        total[..., here] *= np.einsum("rbs,bas->ras", total[..., before], steps[..., here])
        scale[:, here] = total[..., here].sum(axis=1)
        total[..., here] /= scale[:, None, here]


def _backward(total: Floats, c: Floats, steps: Floats, rules: DepthRules, block: SequenceBlock) -> None:
    """Fill in the weights of all ways from each root, depth and slot to the end; they sum to 1."""
    for before, here in block.backward():
        onward = total[..., here] * c[:, here].take(rules.c_row, axis=0)
        ways = np.einsum("ras,abs->rbs", onward, steps[..., here])
        total[..., before] = ways / ways.sum(axis=1, keepdims=True)


def _running_sums(values: Floats) -> Floats:
    """Return the running sums along the second axis; `cumsum` is slow where that is not the last one."""
    sums = values.copy()
    for row in range(1, sums.shape[1]):
        sums[:, row] += sums[:, row - 1]
    return sums


def _with_last_gap(spans: Spans, whole: Bools) -> tuple[Ints, Ints]:
    """Return the gaps of whole sentences with the last word, which has the root's name as well."""
    sizes, last = spans.sizes[whole], spans.end[whole] - 1
    gaps = np.insert(spans.gaps[np.repeat(whole, spans.sizes)], np.cumsum(sizes), last)
    return gaps, np.cumsum(sizes + 1) - sizes - 1
