"""How probable constituents are, for 4tg, over the label sequences that the encoding can write.

As for depths, a relaxed chain tells where to look: the one over the height of the stack, with any name at each gap.
What it gives less than `LEAST` is left out, and a state that has less of its stretch. With 0 instead, the
probabilities are exact (for stacks as high as are searched).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.lattice import Lattice, PruningLimits
from nestag.decoding.opened import ClosedNodes, closed
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import LOG_SUM_EXP, SUM_PRODUCT, UNDERFLOW, Semiring
from nestag.decoding.stretches import beginnings, stretches_of
from nestag.decoding.tetra.joint import TetraGrammar, TetraLabels, TetraOpenings, openings_of, repeated
from nestag.decoding.tetra.probabilities import HeightChain
from nestag.decoding.tetra.search import L_L, L_R, R_L, R_R, fitting_names
from nestag.vocabulary import Vocabulary

LEAST = 1e-3
"""Names and states less probable than this at a gap are left out."""

WIDTH = 64
"""The most states of a stretch at a gap."""


class Passing(NamedTuple):
    """The weights of all ways that pass a word with a mark, the first four of them, and of those to height 1."""

    mark: Floats
    low: Floats


def passing(chain: HeightChain, scores: Scores) -> Passing:
    """The weights of ways by the marks they have: marks x words."""
    semiring, words = chain.semiring, len(scores.n)
    before = np.full((len(chain.before), words), semiring.zero)
    before[:, 1:] = chain.before[:, :-1]
    first = scores.first[scores.lengths > 0]
    before[:, first] = semiring.zero
    before[0, first] = semiring.one
    parts = {
        R_R: semiring.times(before[:-1], chain.after[1:]),
        R_L: semiring.times(before, chain.after),
        L_R: semiring.times(before, chain.after),
        L_L: semiring.times(before[1:], chain.after[:-1]),
    }
    low = {R_R: 0, R_L: 1, L_R: 1, L_L: 1}  # the row of those that come to height 1
    ways = [semiring.times(semiring.sum(parts[mark], 0), chain.moves[mark]) for mark in range(4)]
    lowest = [semiring.times(parts[mark][low[mark]], chain.moves[mark]) for mark in range(4)]
    return Passing(np.stack(ways), np.stack(lowest))


class RelaxedHeights(NamedTuple):
    """What the chain of heights says of each word."""

    mark: Floats
    """How probable each of the first four marks is: marks x words."""
    low: Floats
    """The same, with the stack at height 1 after it."""
    beyond: Floats
    """The weight of what is ahead of each height, against the largest at the word."""


def relaxed(vocabulary: Vocabulary, scores: Scores, deepest: int | None) -> RelaxedHeights:
    """Run the chain of heights over a batch."""
    chain = HeightChain.of(SUM_PRODUCT, vocabulary, scores, deepest, joint=True)
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    found = _relaxed(chain, scores, sentence)
    lost = (chain.whole < UNDERFLOW) & (scores.lengths > 1)
    if lost.any():
        again = scores.select(lost)
        inner = np.repeat(np.arange(len(again.lengths)), again.lengths)
        other = _relaxed(HeightChain.of(LOG_SUM_EXP, vocabulary, again, deepest, joint=True), again, inner)
        for column, values in zip(found, other, strict=True):
            column[: len(values), lost[sentence]] = values
    return found


def _relaxed(chain: HeightChain, scores: Scores, sentence: Ints) -> RelaxedHeights:
    semiring = chain.semiring
    beyond = with_end(chain.after, scores, semiring)
    top = beyond.max(axis=0)
    beyond = beyond / np.maximum(top, UNDERFLOW) if semiring is SUM_PRODUCT else np.exp(np.maximum(beyond - top, -700))
    found = passing(chain, scores)
    whole = chain.whole[sentence]
    return RelaxedHeights(semiring.share(found.mark, whole), semiring.share(found.low, whole), beyond)


def with_end(after: Floats, scores: Scores, semiring: Semiring) -> Floats:
    """The weights of what is ahead, 1 for the root alone after the last word."""
    ended = after.copy()
    ended[1, scores.last] = semiring.one
    return ended


def node_shares(
    vocabulary: Vocabulary, scores: Scores, deepest: int | None, least: float = LEAST, width: int = WIDTH
) -> ClosedNodes:
    """The constituents that some label sequence has, with their probabilities; all are tried where none is left."""
    found, missed = _node_shares(vocabulary, scores, deepest, least, width)
    if not missed.any() or least == 0:
        return found
    again = node_shares(vocabulary, scores.select(missed), deepest, 0.0, width)
    word = np.flatnonzero(np.repeat(missed, scores.lengths))
    again = again._replace(start=word[again.start], end=word[again.end - 1] + 1)
    kept = found.at(~np.repeat(missed, scores.lengths)[found.start])
    return ClosedNodes(*(np.concatenate(columns) for columns in zip(kept, again, strict=True)))


def _node_shares(
    vocabulary: Vocabulary, scores: Scores, deepest: int | None, least: float, width: int
) -> tuple[ClosedNodes, Bools]:
    """The constituents with their probabilities, and the sentences that have a stretch without any way through it."""
    seen = relaxed(vocabulary, scores, deepest)
    labels = TetraLabels.of(vocabulary, scores, SUM_PRODUCT)
    plain = plain_root(vocabulary)
    shares = _Shares.of(vocabulary, scores)
    cut = np.zeros(len(scores.n), dtype=bool)
    if plain.size:
        opened = seen.low[[R_R, L_R]].sum(axis=0) * shares.opening[plain[0]]
        within = seen.low[[R_L, L_L]].sum(axis=0) * shares.any[labels.helper[plain[0]]] * (labels.helper[plain[0]] >= 0)
        cut = (opened + within >= 1 - least) & ~labels.last
    openings = _openings(vocabulary, seen, shares, cut, least)
    stretches = stretches_of(cut | labels.last, labels.last, scores)
    grammar = TetraGrammar(labels, openings, seen.beyond, SUM_PRODUCT)
    lattice = Lattice(grammar, stretches, PruningLimits(least, width), SUM_PRODUCT)
    layers = lattice.forward(beginnings(lattice.nodes, stretches, plain))
    missed = np.zeros(len(scores.lengths), dtype=bool)
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    missed[sentence[stretches.first[lattice.total == 0]]] = True
    return closed(lattice.nodes, lattice.edges(layers)), missed


def plain_root(vocabulary: Vocabulary) -> Ints:
    """The row of the root without types, if there is one."""
    rows = [row for row, name in enumerate(vocabulary.c) if name.root and not name.prime and not name.types]
    return np.array(rows, dtype=np.int64)


class _Shares(NamedTuple):
    """The share of each c, among those that can open and among all: names x words."""

    opening: Floats
    any: Floats

    @classmethod
    def of(cls, vocabulary: Vocabulary, scores: Scores) -> _Shares:
        """The shares in a batch, the last word's c counted at the gap before it."""
        c = repeated(SUM_PRODUCT.labels(scores.c), scores, SUM_PRODUCT)
        return cls(*(c / np.maximum(c[rows].sum(axis=0), UNDERFLOW) for rows in fitting_names(vocabulary)))


def _openings(vocabulary: Vocabulary, seen: RelaxedHeights, shares: _Shares, cut: Bools, least: float) -> TetraOpenings:
    names = fitting_names(vocabulary).opening
    root = np.array([vocabulary.c[row].root and not vocabulary.c[row].types for row in names.tolist()], dtype=bool)
    not_last = seen.mark[[R_R, L_R]].sum(axis=0) * shares.opening[names] >= least
    last_child = seen.mark[[R_L, L_L]].sum(axis=0) * shares.any[names] >= least
    not_last &= ~cut | root[:, None]
    last_child &= ~cut & ~root[:, None]
    return join_openings(names, not_last, last_child)


def join_openings(names: Ints, not_last: Bools, last_child: Bools) -> TetraOpenings:
    """Which names can open constituents that are not last children, and such that are: names x words."""
    row, word = np.nonzero(not_last)
    other, other_word = np.nonzero(last_child)
    flags = np.repeat([0, 1], [len(row), len(other)])
    words = np.concatenate([word, other_word])
    return openings_of(flags, words, names[np.concatenate([row, other])], not_last.shape[1])
