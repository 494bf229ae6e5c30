"""Nodes with their probabilities -> entities with theirs, those of single words included; the best u of each word."""

from __future__ import annotations

import numpy as np

from nestag.arrays import Floats, Ints
from nestag.decoding.chains import TypeChains
from nestag.decoding.entities import EntityTable
from nestag.decoding.opened import ClosedNodes
from nestag.decoding.scores import FORBIDDEN, Scores, best_labels, comparable, softmax


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
    u[~chains.u.writable] = FORBIDDEN
    return softmax(u.T)


def best_words(chains: TypeChains, scores: Scores) -> Ints:
    """The best u of each word among those that can be written, the first of equals."""
    writable = np.flatnonzero(chains.u.writable)
    if len(writable) in (0, len(chains.u.writable)):
        return best_labels(scores.u)
    return writable[best_labels(scores.u[:, writable])]


def rated_entities(chains: TypeChains, scores: Scores, nodes: ClosedNodes, table: EntityTable) -> Floats:
    """The probability of each entity of a table; 0 if no node and no word has it."""
    offset = scores.first[table.sentence]
    start, width = table.start + offset, table.end - table.start
    rated = np.zeros(len(start))
    words = np.flatnonzero(width == 1)
    if words.size:
        types = word_probabilities(chains, scores.at(start[words])) @ chains.u.members(len(chains.types))
        rated[words] = types[np.arange(len(words)), table.type[words]]
    node, kind = chains.c.expand(nodes.name)
    longest = int(scores.lengths.max(initial=0)) + 1
    wanted = (start * longest + width) * len(chains.types) + table.type
    known = (nodes.start[node] * longest + nodes.end[node] - nodes.start[node]) * len(chains.types) + kind
    order = np.argsort(wanted)
    place = np.searchsorted(wanted[order], known)
    place[place == len(order)] = 0
    hit = np.flatnonzero(wanted[order[place]] == known) if len(order) else place[:0]
    np.add.at(rated, order[place[hit]], nodes.share[node[hit]])
    return rated
