"""Nodes with their probabilities -> a table of entities, those of single words included."""

from __future__ import annotations

import numpy as np

from nestag.decoding.arrays import Floats, Ints
from nestag.decoding.chains import TypeChains
from nestag.decoding.entities import EntityTable
from nestag.decoding.lattice import ClosedNodes
from nestag.decoding.scores import FORBIDDEN, Scores, comparable, softmax


def rated_table(chains: TypeChains, scores: Scores, nodes: ClosedNodes, floor: float) -> EntityTable:
    """The entities that are at least as probable as the floor; what comes several times is added up."""
    node, node_type = chains.c.expand(nodes.name)
    word, word_type, word_share = _words(chains, scores, floor)
    start = np.concatenate([nodes.start[node], word])
    end = np.concatenate([nodes.end[node], word + 1])
    kind = np.concatenate([node_type, word_type])
    share = np.concatenate([nodes.share[node], word_share])
    order = np.lexsort((kind, -end, start))
    start, end, kind = start[order], end[order], kind[order]
    new = np.ones(len(start), dtype=bool)
    new[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1]) | (kind[1:] != kind[:-1])
    first = np.flatnonzero(new)
    total = np.add.reduceat(share[order], first) if first.size else share
    kept = total >= floor
    first, total = first[kept], total[kept]
    return _as_table(start[first], end[first], kind[first], np.clip(total, 0, 1), chains, scores)


def _as_table(start: Ints, end: Ints, kind: Ints, share: Floats, chains: TypeChains, scores: Scores) -> EntityTable:
    sentence = np.repeat(np.arange(len(scores.lengths)), scores.lengths)[start]
    offset = scores.first[sentence]
    return EntityTable(sentence, start - offset, end - offset, kind, chains.types, len(scores.lengths), share)


def _words(chains: TypeChains, scores: Scores, floor: float) -> tuple[Ints, Ints, Floats]:
    """The entities of one word that are at least as probable as the floor: words, types, probabilities."""
    probability = word_probabilities(chains, scores)
    some = np.flatnonzero(probability[:, chains.u.width > 0].sum(axis=1) >= floor)
    types = probability[some] @ chains.u.members(len(chains.types))
    word, kind = np.nonzero((types >= floor) & (types > 0))
    return some[word], kind, types[word, kind]


def word_probabilities(chains: TypeChains, scores: Scores) -> Floats:
    """The probability of each u that can be written, at each word: words x u."""
    u = comparable(scores.u)
    u[~chains.u.written] = FORBIDDEN
    return softmax(u.T)
