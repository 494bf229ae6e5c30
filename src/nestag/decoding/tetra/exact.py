"""The best label sequence that 4tg can write: names searched together with the marks.

As for depths (depth/exact.py): the best marks with the best name for each gap are at least as good, and whatever cannot
be better than a sequence that is known to be written is left out.
"""

from __future__ import annotations

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.entities import Replacement
from nestag.decoding.opened import ClosedNodes
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores
from nestag.decoding.semiring import MAX_PLUS
from nestag.decoding.stretches import around, best_ways, less, replacement, stretches_of, summed_over
from nestag.decoding.tetra.joint import TetraGrammar, TetraLabels
from nestag.decoding.tetra.marginals import join_openings, passing, plain_root, with_end
from nestag.decoding.tetra.names import MarkedPath
from nestag.decoding.tetra.probabilities import HeightChain
from nestag.decoding.tetra.search import L_L, L_R, R_L, R_R, L, fitting_names
from nestag.vocabulary import Vocabulary


def joint_nodes(
    scores: Scores, sentences: Bools, path: MarkedPath, vocabulary: Vocabulary, deepest: int | None
) -> Replacement:
    """The nodes of the best sequences of some sentences; those for which the vocabulary can write none are left out."""
    some = np.repeat(sentences, scores.lengths)
    known = MarkedPath(path.score[some], path.loss[some], path.in_vocabulary[sentences])
    found, done = _best_nodes(scores.select(sentences), known, vocabulary, deepest)
    return replacement(scores, sentences, found, done)


def _best_nodes(
    scores: Scores, path: MarkedPath, vocabulary: Vocabulary, deepest: int | None
) -> tuple[ClosedNodes, Bools]:
    """The nodes of the best sequences, and in which sentences there is one."""
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    labels = TetraLabels.of(vocabulary, scores, MAX_PLUS)
    names, plain = fitting_names(vocabulary).opening, plain_root(vocabulary)
    score, loss = _known(scores, path, labels, plain)
    chain = HeightChain.of(MAX_PLUS, vocabulary, scores, deepest, joint=True)
    least = less(chain.whole[sentence] - around(loss, scores))
    through = passing(chain, scores)
    opens, either = _best_names(vocabulary, labels.c)
    not_last = through.mark[[R_R, L_R]].max(axis=0) - opens + labels.c[names] >= least
    last_child = through.mark[[R_L, L_L]].max(axis=0) - either + labels.c[names] >= least
    cut = np.zeros(len(sentence), dtype=bool)
    if plain.size:
        heights = chain.before + chain.after
        heights[1] = FORBIDDEN
        opens_other, other = _best_names(vocabulary, labels.c, but=(int(plain[0]), int(labels.helper[plain[0]])))
        opened = through.low[[R_R, L_R]].max(axis=0) - opens + opens_other
        within = through.low[[R_L, L_L]].max(axis=0) - either + other
        cut = (np.maximum(np.maximum(opened, within), heights.max(axis=0)) < least) & ~labels.last
    root = labels.root[names] & np.isin(names, plain)
    openings = join_openings(names, not_last & (~cut | root[:, None]), last_child & ~cut & ~labels.root[names][:, None])
    after = with_end(chain.after, scores, MAX_PLUS)
    stretches = stretches_of(cut | labels.last, labels.last, scores)
    end = stretches.first + stretches.size - 1
    given = summed_over(score, stretches.first, end) + after[1, end]
    found, missed = best_ways(TetraGrammar(labels, openings, after, MAX_PLUS), stretches, given, after[1, end], plain)
    done = np.ones(len(scores.lengths), dtype=bool)
    done[sentence[missed]] = False
    return found, done


def _best_names(vocabulary: Vocabulary, c: Floats, but: tuple[int, ...] = ()) -> tuple[Floats, Floats]:
    """The best c of each word that can open a constituent, and the best of any, but for some."""
    opening, either = (rows[~np.isin(rows, but)] for rows in fitting_names(vocabulary))
    return c[opening].max(axis=0, initial=MISSING), c[either].max(axis=0, initial=MISSING)


def _known(scores: Scores, path: MarkedPath, labels: TetraLabels, plain: Ints) -> tuple[Floats, Floats]:
    """The scores of a sequence that can be written: the path, or no entities; and how far it lies under the path."""
    words = len(scores.n)
    first = np.zeros(words, dtype=bool)
    first[scores.first[scores.lengths > 0]] = True
    mark = np.where(labels.last, L, np.where(first, R_R, R_L))
    none = np.full(words, FORBIDDEN)
    if plain.size and labels.helper[plain[0]] >= 0 and labels.has_mark[[R_R, R_L, L]].all():
        c = np.where(first, labels.c[plain[0]], labels.c[labels.helper[plain[0]]])
        none = labels.n[mark, np.arange(words)] + np.where(labels.last, 0, c)
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)
    totals = [np.bincount(sentence, values, len(scores.lengths)) for values in (path.score, none)]
    better = (path.in_vocabulary & (totals[0] >= totals[1]))[sentence]
    score = np.where(better, path.score, none)
    return score, path.score + path.loss - score
