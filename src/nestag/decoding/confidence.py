"""How probable each entity of a table is, from the scores it was decoded from.

An entity of several words is as probable as its span is a node (spans.py, spans_tetra.py: exact, over all legal
sequences), times the probability of its type, given the gaps that belong to its span and to no entity inside it:

    depths  each name that can stand below the root is rated by its scores at these gaps, summed (or their mean), as
            one of all such names; those that hold the type are added up
    4tg     so it is, with the name itself at the first gap and its helper at the others; if the span ends where the
            one around it ends, it may also be but a helper, which is rated against the names

An entity over the whole sentence can be in the root's name: to the above is added, for each depth of the root, how
probable that depth is, times the type's share among the root's names of as many levels. (In 4tg the root is certain.)
An entity of one word has the probability of all u that hold its type.

This looks at the table and the scores alone, so that greedy and legal entities are rated alike. A span with more
entities around it than the search is deep has the confidence 0: no legal sequence holds them all. All scores are
divided by the search's temperature before, which leaves the best labels the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.decoding.entities import EntityTable
from nestag.decoding.legal import depth_machine, summed
from nestag.decoding.legal_tetra import HIGHEST
from nestag.decoding.levels import Runs, runs_of
from nestag.decoding.scores import FORBIDDEN, MISSING, Floats, Scores, Search, comparable, softmax
from nestag.decoding.spans import Chain, span_probabilities
from nestag.decoding.spans_tetra import HeightChain, tetra_span_probabilities
from nestag.decoding.spines import bases_of
from nestag.decoding.tables import Ints, tables_of
from nestag.encodings import encoding
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import TetraTagging
from nestag.errors import UnknownNameError
from nestag.vocabulary import Vocabulary


def confidences(vocabulary: Vocabulary, scores: Scores, table: EntityTable, search: Search) -> Floats:
    """A number from 0 to 1 for each entity of the table."""
    chosen = encoding(vocabulary.encoding)
    if not isinstance(chosen, DepthEncoding | TetraTagging):
        raise UnknownNameError(f"encoding {chosen.name!r} has no confidences; decode with confidence=False")
    scores = scores.at(search.temperature)
    offset = scores.first[table.sentence]
    start, end = table.start + offset, table.end + offset
    words = np.flatnonzero(end - start == 1)
    longer = np.flatnonzero(end - start > 1)
    found = np.zeros(len(start))
    found[words] = _word_probabilities(vocabulary, scores, start[words], table.type[words])
    if longer.size:
        spans, row = _distinct(scores, start[longer], end[longer])
        rate = _rated_depths if isinstance(chosen, DepthEncoding) else _rated_tetra
        found[longer] = rate(vocabulary, scores, spans, search)[row, table.type[longer]]
    return np.clip(found, 0, 1)


def _word_probabilities(vocabulary: Vocabulary, scores: Scores, word: Ints, kind: Ints) -> Floats:
    """The probability of all u that hold the type, at each word."""
    tables = tables_of(vocabulary)
    label = softmax(comparable(scores.u[word]).T) if word.size else np.zeros((0, len(vocabulary.u)))
    share: Floats = (label @ tables.u.members(len(tables.types)))[np.arange(len(word)), kind]
    return share


class Spans(NamedTuple):
    """The different spans of a table, as nodes of a tree."""

    nodes: Runs
    whole: NDArray[np.bool_]
    """Whether each is a whole sentence."""
    sentence: Ints
    with_parent: NDArray[np.bool_]
    """Whether each ends where the one around it ends."""


def _distinct(scores: Scores, start: Ints, end: Ints) -> tuple[Spans, Ints]:
    """The spans of entities in canonical order, and which of them each entity has."""
    new = np.concatenate([[True], (start[1:] != start[:-1]) | (end[1:] != end[:-1])])
    tokens = len(scores.n)
    change = np.bincount(start[new], minlength=tokens) - np.bincount(end[new] - 1, minlength=tokens)
    depth = np.cumsum(change) + 1
    depth[scores.last] = 0
    nodes = runs_of(depth)
    place = np.lexsort((-nodes.end, nodes.start))  # the nodes in the entities' order
    sentence = np.searchsorted(np.cumsum(scores.sizes), nodes.start, side="right")
    whole = nodes.end - nodes.start == scores.sizes[sentence]
    return Spans(nodes, whole, sentence, depth[nodes.end - 1] < nodes.above), place[np.cumsum(new) - 1]


def _rated_depths(vocabulary: Vocabulary, scores: Scores, spans: Spans, search: Search) -> Floats:
    """How probable each type is at each span: spans x types."""
    machine = depth_machine(vocabulary, search.deepest)
    c = comparable(scores.c)
    chain = Chain.of(scores, c, machine)
    members = tables_of(vocabulary).c.members(len(vocabulary.types))
    nodes = spans.nodes
    within = nodes.depth <= len(machine.n_row)
    probability = np.zeros(len(within))
    probability[within] = span_probabilities(chain, scores, nodes.start[within], nodes.end[within])
    names = softmax(_pooled(c, nodes.gaps, nodes.first, machine.names, search))
    rated: Floats = probability[:, None] * (names @ members[machine.names])
    whole = np.flatnonzero(spans.whole)
    gaps, first = _with_last(spans, whole)
    for root, names_of_root in enumerate(machine.root_names):
        if whole.size and names_of_root.size:
            names = softmax(_pooled(c, gaps, first, names_of_root, search))
            rated[whole] += chain.root[root, spans.sentence[whole], None] * (names @ members[names_of_root])
    return rated


def _with_last(spans: Spans, whole: Ints) -> tuple[Ints, Ints]:
    """The gaps of whole sentences with the last word, which carries the root's name as well."""
    nodes = spans.nodes
    kept = np.repeat(spans.whole, nodes.sizes)
    gaps = np.concatenate([nodes.gaps[kept], nodes.end[whole] - 1])
    owner = np.concatenate([np.repeat(np.arange(len(whole)), nodes.sizes[whole]), np.arange(len(whole))])
    order = np.argsort(owner, kind="stable")
    return gaps[order], np.flatnonzero(np.diff(owner[order], prepend=-1))


def _pooled(c: Floats, gaps: Ints, first: Ints, names: Ints, search: Search) -> Floats:
    """The scores of names over the gaps of each node, summed or their mean."""
    total = summed(c, gaps, first, names)
    return total if search.pooling == "sum" else total / np.diff(first, append=len(gaps))[:, None]


def _rated_tetra(vocabulary: Vocabulary, scores: Scores, spans: Spans, search: Search) -> Floats:
    """How probable each type is at each span: spans x types."""
    c = comparable(scores.c)
    chain = HeightChain.of(vocabulary, scores, c, search.deepest)
    nodes = spans.nodes
    within = nodes.depth <= (search.deepest or HIGHEST) + 1
    probability = np.zeros(len(within))
    probability[within] = tetra_span_probabilities(chain, scores, nodes.start[within], nodes.end[within])
    members = tables_of(vocabulary).c.members(len(vocabulary.types))
    bases = bases_of(vocabulary)
    named, helper = _opened_or_not(c, nodes, bases.row[:-1], bases.helper[:-1], search)
    fits = np.where(spans.whole[:, None], bases.root[:-1], bases.below[:-1])
    may_help = spans.with_parent & ~spans.whole
    named[~fits] = FORBIDDEN
    helper[~may_help] = FORBIDDEN
    share = softmax(np.concatenate([named, helper], axis=1))[:, : named.shape[1]] * fits
    rated: Floats = probability[:, None] * (share @ members[bases.row[:-1]])
    return rated


def _opened_or_not(c: Floats, nodes: Runs, base: Ints, helper: Ints, search: Search) -> tuple[Floats, Floats]:
    """The scores of each base if it opens at a node, and if the node is but its helper: nodes x bases."""
    rows = np.concatenate([c, np.full((1, c.shape[1]), MISSING)])
    helping = summed(rows, nodes.gaps, nodes.first, helper)
    opener = rows[:, nodes.gaps[nodes.first]].T
    opening = helping - opener[:, helper] + opener[:, base]
    if search.pooling == "sum":
        return opening, helping
    return opening / nodes.sizes[:, None], helping / nodes.sizes[:, None]
