"""The best label sequence that abs, rel or dyn can write: one name for each node, searched together with the depths.

The best depths with the best name for each gap (depths.py) are at least as good as any such sequence. A sentence in
which they give every node one name is settled. For the others, a sequence that can be written is known (the same depths
with one name for each node, or no entities at all), and whatever cannot be better than it is left out: depths, names,
and states of the lattice. A gap at which everything but the root is left out is a cut. The rest is tried.

If more states are left than `WIDTHS` allows, the most hopeful are kept. If one left out could have been better, the
search is done again with more. Cuts of sentences longer than `WINDOW` look at so many words on both sides, not at the
whole sentence. So the result is exact unless a sentence is longer than that or the second search drops states, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.chains import chains_of
from nestag.decoding.depth.depths import BestDepths
from nestag.decoding.depth.joint import DepthGrammar, openings_of
from nestag.decoding.depth.machine import DepthMachine
from nestag.decoding.depth.probabilities import Chain
from nestag.decoding.entities import Replacement
from nestag.decoding.nodes import nodes_of, summed
from nestag.decoding.opened import ClosedNodes
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores, comparable
from nestag.decoding.semiring import MAX_PLUS
from nestag.decoding.stretches import around, best_ways, less, replacement, stretches_of, summed_over
from nestag.vocabulary import Vocabulary


def joint_nodes(
    scores: Scores, sentences: Bools, depths: BestDepths, machine: DepthMachine, vocabulary: Vocabulary
) -> Replacement:
    """The nodes of the best sequences of some sentences; those for which the vocabulary can write none are left out."""
    chosen = depths.select(sentences, scores.lengths)
    found, done = _best_nodes(scores.select(sentences), chosen, machine, vocabulary)
    return replacement(scores, sentences, found, done)


def _best_nodes(
    scores: Scores, depths: BestDepths, machine: DepthMachine, vocabulary: Vocabulary
) -> tuple[ClosedNodes, Bools]:
    """The nodes of the best sequences, and in which sentences there is one."""
    n, c = comparable(scores.n), comparable(scores.c)
    chain_lengths = np.array([name.chain_length for name in vocabulary.c], dtype=np.int64)
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    last = np.zeros(len(sentence), dtype=bool)
    last[scores.last] = True
    known = _known(scores, depths, n, c, machine, chain_lengths)
    chain = Chain.of(MAX_PLUS, machine, scores)
    before, onward = chain.by_word()
    through = before + onward  # roots x depths x words: the best depths that pass there
    least = less(chain.whole[sentence] - around(known.loss, scores))
    plain = machine.root_names[0]
    by_depth = through.max(axis=0)
    others = through.reshape(-1, len(last))[1:].max(axis=0, initial=FORBIDDEN)  # but for a root without types
    cut = (others < least) & (len(plain) > 0)
    viable = np.concatenate([np.zeros((1, len(last)), dtype=bool), by_depth >= least])
    viable[2:, cut] = False
    below = by_depth[1:].max(axis=0, initial=FORBIDDEN) - chain.moves.c[0]
    named, roots = c[machine.names] + below >= least, through.max(axis=1) >= least
    openings = openings_of(machine, chain_lengths, viable, named, roots, last & (scores.lengths > 1)[sentence])
    after = onward.max(axis=0)
    grammar = DepthGrammar(machine, chains_of(vocabulary).c.root, MAX_PLUS, n, c, viable, openings, after)
    stretches = stretches_of(cut | last, last, scores)
    end = stretches.first + stretches.size - 1
    given = summed_over(known.score, stretches.first, end) + np.where(stretches.ends, 0, onward[0, 0, end])
    found, missed = best_ways(grammar, stretches, given, np.where(stretches.ends, 0, onward[0, 0, end]), plain)
    done = np.ones(len(scores.lengths), dtype=bool)
    done[sentence[missed]] = False
    return found, done


class Known(NamedTuple):
    """A sequence that can be written, and how far it lies under the best depths, word by word."""

    score: Floats
    loss: Floats


def _known(
    scores: Scores, depths: BestDepths, n: Floats, c: Floats, machine: DepthMachine, chain_lengths: Ints
) -> Known:
    """The best depths with one name for each node, or no entities at all where that is better."""
    word, sentence = np.arange(len(scores.n)), np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    before = np.append(0, depths.depth[:-1])
    before[scores.first[scores.lengths > 0]] = 0
    labels = np.concatenate([n, np.full((1, len(word)), MISSING)])
    n_score = labels[machine.n_row[before, depths.depth - 1], word]
    free = n_score + _free(c, machine, depths.depth, np.repeat(depths.root, scores.lengths))
    nodes = nodes_of(depths.below_roots(scores))
    plain = c[machine.root_names[0][0]] if machine.root_names[0].size else np.full(len(word), FORBIDDEN)
    same = n_score + plain
    if nodes.first.size and machine.names.size:
        total = summed(c, nodes.gaps, nodes.first, machine.names)
        total[(nodes.depth - nodes.above)[:, None] != chain_lengths[machine.names]] = FORBIDDEN
        name = np.repeat(machine.names[total.argmax(axis=1)], nodes.sizes)
        same[nodes.gaps] = n_score[nodes.gaps] + c[name, nodes.gaps]
        whole = nodes.end - nodes.start == scores.lengths[sentence[nodes.start]]
        same[nodes.start[whole | (total.max(axis=1) <= FORBIDDEN / 2)]] = FORBIDDEN
    same[scores.first[depths.root > 1]] = FORBIDDEN
    none = labels[np.where(before > 0, machine.n_row[1:2, 0], machine.n_row[0, 0]), word] + plain
    sums = [np.bincount(sentence, values, len(scores.lengths)) for values in (same, none)]
    better = (sums[0] >= sums[1])[sentence]
    score = np.where(better, same, none)
    return Known(score, free - score)


def _free(c: Floats, machine: DepthMachine, depth: Ints, root: Ints) -> Floats:
    """The score of the best name at each word."""
    found: Floats = c[machine.names].max(axis=0, initial=MISSING)
    for at, names in zip(machine.roots.tolist(), machine.root_names, strict=True):
        here = (root == at) & (depth == at)
        found = np.where(here, c[names].max(axis=0, initial=MISSING), found)
    return found
