"""Constrained search for abs, rel and dyn: the best valid sequence of depths, then one name for each node.

A sequence of depths is valid if the encoding can write it: no gap lies above the root, and the last word is at the
root's depth r, which is 1 plus one for each type over the whole sentence. Its score is the sum over the words of two
numbers: the score of the n that the encoding writes for the step from the depth before, and the score of the best c
that fits. At depth r, that is a name with the root's mark and r levels; below, a name without the mark.

    depth   0 ──> 1 ──> 1 ──> 2 ──> 2 ──> 3 ──> 1        dyn writes  1  0  1  0  1  =1

This is the Viterbi algorithm with a state for each depth, run for every r that the names allow. A step is a maximum
over the depths before, so the time is linear in the words. Then each node takes the name with the highest sum over its
gaps, among the names with as many types as the node has levels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Bools, Floats, Ints
from nestag.decoding.entities import NamedNodes, label_types
from nestag.decoding.repair import DepthSteps, depth_steps, gap_depths, nodes_of
from nestag.decoding.scores import (
    FORBIDDEN,
    MISSING,
    Scores,
    SequenceBlock,
    TimeSteps,
    best_labels,
    comparable,
    with_missing,
)
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.vocabulary import Vocabulary

LEAST_DEEP, MOST_DEEP = 8, 64  # the least depth to search if n does not bound it, and the greatest by default


class DepthRules(NamedTuple):
    """The labels of a vocabulary that fit each step, as rows of the scores."""

    roots: Ints  # the depths that the root can have, 1 first
    n_row: Ints  # the n that leads from a depth (0 first) to a depth (1 first); the row after the last n if missing
    c_row: Ints  # for a root (its place) and a depth (1 first): 0 below it, 1 + its place at it, the last row above
    names: Ints  # the c that can name a node below the root
    root_names: tuple[Ints, ...]  # the c that can name each root
    chain_lengths: Ints  # how many levels each c has
    steps: DepthSteps

    @property
    def deepest(self) -> int:
        """Return the deepest level searched."""
        return len(self.n_row) - 1


@lru_cache(maxsize=8)
def depth_rules(encoding: DepthEncoding, vocabulary: Vocabulary, deepest: int | None = None) -> DepthRules:
    """Return the rules of a vocabulary; without `deepest`, as deep as `searched_depth` says."""
    writable = label_types(vocabulary).c_writable & [not name.prime for name in vocabulary.c]
    chain_lengths = np.array([name.chain_length for name in vocabulary.c], dtype=np.int64)
    marked = np.array([name.root for name in vocabulary.c], dtype=bool)
    names = np.flatnonzero(writable & ~marked & (chain_lengths > 0))
    roots = np.unique([1, *chain_lengths[writable & marked].tolist()])
    root_names = tuple(np.flatnonzero(writable & marked & (chain_lengths == root)) for root in roots)
    steps = depth_steps(encoding, vocabulary)
    depths = np.arange(1, max(deepest or searched_depth(steps, vocabulary), int(roots[-1])) + 1)
    place = np.arange(1, len(roots) + 1)[:, None]
    c_row = np.select([depths == roots[:, None], depths < roots[:, None]], [place, len(roots) + 1], 0)
    return DepthRules(roots, _n_rows(encoding, vocabulary, len(depths)), c_row, names, root_names, chain_lengths, steps)


def searched_depth(steps: DepthSteps, vocabulary: Vocabulary) -> int:
    """Return how deep to search: the largest n if all are absolute, else more than any known corpus needs.

    Relative n have no bound. So it is the largest n plus the longest chain of types plus 2, at least `LEAST_DEEP`.
    """
    largest = int(steps.value.max(initial=1))
    if not steps.absolute.all():
        longest = max((name.chain_length for name in vocabulary.c), default=0)
        largest = max(largest + longest + 2, LEAST_DEEP)
    return min(largest, MOST_DEEP)


def _n_rows(encoding: DepthEncoding, vocabulary: Vocabulary, deepest: int) -> Ints:
    """Return the row of the n that the encoding writes for each step."""
    rows = {n: row for row, n in enumerate(vocabulary.n)}
    depths = range(1, deepest + 1)
    return np.array(
        [[rows.get(encoding.to_n(before, depth), len(rows)) for depth in depths] for before in (0, *depths)]
    )


class BestDepths(NamedTuple):
    """The best sequence of depths of each sentence."""

    depth: Ints  # after each word
    root: Ints  # the depth of each sentence's root


def best_depths(scores: Scores, rules: DepthRules) -> BestDepths:
    """Return the best depths, with the best name at every gap.

    If the best labels of all words are valid together, no sequence scores higher, and that sentence is not searched.
    Most sentences of a trained model are like that.
    """
    depth, searched = _depths_of_best_labels(scores, rules)
    best = BestDepths(depth, np.ones(len(scores.lengths), dtype=np.int64))
    blocks, word = TimeSteps.of(scores.first, np.where(searched, scores.lengths, 0), rules.n_row.size)
    n = with_missing(comparable(scores.n[word]), MISSING)
    c = _name_scores(comparable(scores.c[word]), rules)
    for block in blocks:
        total = _forward(n[:, block.own], c[:, block.own], rules, block)
        ending = total[np.arange(len(rules.roots))[:, None], rules.roots[:, None] - 1, block.end]
        ending[1:, block.end < block.begin.stop] = FORBIDDEN  # a sentence of one word has the plain root
        root = ending.argmax(axis=0)
        best.root[block.rows] = rules.roots[root]
        best.depth[block.word] = _trace_back(total, n[:, block.own], rules, block, root)
    return best


def _depths_of_best_labels(scores: Scores, rules: DepthRules) -> tuple[Ints, Bools]:
    """Return the depths that the best labels describe, and which sentences they are not valid in."""
    n, c = best_labels(scores.n), best_labels(scores.c)
    first, last = scores.first[scores.lengths > 0], scores.last
    depth = gap_depths(rules.steps.value[n], rules.steps.absolute[n], last)
    depth[last] = 1
    depth[depth > rules.deepest] = 1  # no n leads there from the depth before, so the sentence is searched
    before = np.append(depth[-1:], depth[:-1])
    before[first] = 0
    below, plain = np.zeros((2, scores.c.shape[1]), dtype=bool)
    below[rules.names], plain[rules.root_names[0]] = True, True
    wrong = rules.n_row.take(before * rules.deepest + depth - 1) != n
    wrong |= np.where(depth == 1, ~plain[c], ~below[c])
    searched = np.zeros(len(scores.lengths), dtype=bool)
    searched[scores.lengths > 0] = np.logical_or.reduceat(wrong, first) if first.size else wrong
    return depth, searched


def _name_scores(c: Floats, rules: DepthRules) -> Floats:
    """Return the best score of the names that fit each row of `c_row`."""
    best = [c[names].max(axis=0, initial=MISSING) for names in (rules.names, *rules.root_names)]
    return np.stack([*best, np.full(c.shape[1], FORBIDDEN)])


def _forward(n: Floats, c: Floats, rules: DepthRules, block: SequenceBlock) -> Floats:
    """Return the score of the best sequence to each root, depth and slot."""
    total = c.take(rules.c_row, axis=0)  # roots x depths x slots
    total[..., block.begin] += n[:, block.begin].take(rules.n_row[0], axis=0)
    for before, here in block.forward():
        steps = n[:, here].take(rules.n_row[1:], axis=0)  # depths before x depths x sentences
        total[..., here] += (total[:, :, None, before] + steps).max(axis=1)
    return total


def _trace_back(total: Floats, n: Floats, rules: DepthRules, block: SequenceBlock, root: Ints) -> Ints:
    """Follow the best sequence of each root back; return the depth at each slot."""
    state = np.empty(total.shape[2], dtype=np.int64)
    state[block.end] = rules.roots[root] - 1
    slots = np.arange(total.shape[2])
    for before, here in block.backward():
        steps = n[rules.n_row[1:].take(state[here], axis=1), slots[here]]  # depths before x sentences
        ways = total[root[: len(slots[here])], :, slots[before]].T + steps
        state[before] = ways.argmax(axis=0)
    return state + 1


def search_depths(scores: Scores, rules: DepthRules) -> NamedNodes:
    """Return the nodes of the best depths, each with the best name for it."""
    depth, root = best_depths(scores, rules)
    depth = depth - np.repeat(root - 1, scores.lengths)  # as nodes_of takes it: 1 at every root, 0 after last words
    depth[scores.last] = 0
    nodes = nodes_of(depth)
    fits = (nodes.depth - nodes.above)[:, None] == rules.chain_lengths[rules.names]
    fits[~fits.any(axis=1)] = True  # no name has as many levels as the node
    names = _best_names(scores.c, nodes.gaps, nodes.first, rules.names, fits)
    roots = _named_roots(scores, rules, depth, root)
    named = names >= 0
    columns = (nodes.start[named], roots.start), (nodes.end[named], roots.end), (names[named], roots.c)
    return NamedNodes(*map(np.concatenate, columns))


def _named_roots(scores: Scores, rules: DepthRules, depth: Ints, root: Ints) -> NamedNodes:
    """Return the roots that name entities, by the gaps at their depth and the last word."""
    sentence = scores.sentence
    gaps = np.flatnonzero((root > 1)[sentence] & (depth < 2))
    first = np.flatnonzero(np.diff(sentence[gaps], prepend=-1))
    rows = sentence[gaps[first]]
    names = np.concatenate(rules.root_names)
    chosen = _best_names(scores.c, gaps, first, names, rules.chain_lengths[names] == root[rows, None])
    return NamedNodes(scores.first[rows], scores.first[rows] + scores.lengths[rows], chosen)


def _best_names(c: NDArray[Any], gaps: Ints, first: Ints, names: Ints, fits: Bools) -> Ints:
    """Return the c with the highest sum over the gaps of each node, among those that fit; -1 if there are no names."""
    if not names.size or not first.size:
        return np.full(len(first), -1, dtype=np.int64)
    total = np.add.reduceat(comparable(c[gaps])[names], first, axis=1).T
    total[~fits] = FORBIDDEN
    best: Ints = names[total.argmax(axis=1)]
    return best
