"""Legal marks of 4tg -> nodes, and one name for each: the right branches of the binary tree.

Every gap is a node of the binary tree. A right branch is a path of right children. A gap R starts a branch at the
height of the stack after it, each L after it at that height adds a node to the branch as the right child of the one
before, and the word l at that height closes it: all its nodes end there. A node starts with the word that was put on
the stack where the node's left child stands.

Along a branch the names are those of constituents and their helpers: the first node opens a constituent, and each
further one is a helper of the constituent above or opens another inside it. The root's branch opens with a name that
has its mark. The names of the highest score are found exactly, all branches in step. If they are the best at every gap,
no label sequence that the encoding can write is better; else exact.py goes on from here (`Search.joint`).

    S ── S' ── PER ── PER' ── GPE        president of the USA: one branch, three constituents
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.chains import chains_of
from nestag.decoding.entities import NamedNodes
from nestag.decoding.lanes import Lanes, blocks
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores, Search, comparable
from nestag.decoding.semiring import MAX_PLUS
from nestag.decoding.tetra.joint import repeated
from nestag.decoding.tetra.search import L_L, L_R, R_L, R_R, Heights, L, R, best_marks, fitting_names
from nestag.encodings.tetra import MARKS, helper
from nestag.vocabulary import Vocabulary

WORD_R = np.isin(np.arange(6), [R_R, R_L, R])
GAP_R = np.isin(np.arange(6), [R_R, L_R])
GAP_L = np.isin(np.arange(6), [R_L, L_L])
assert L not in np.flatnonzero(WORD_R | GAP_R | GAP_L)

CLOSE = 1e-9
"""Scores that are not farther apart count as equal."""


class RightBranches(NamedTuple):
    """The branches of a batch; their nodes stand one after the other, each at its gap."""

    gap: Ints
    start: Ints
    """The first token of each node."""
    first: Ints
    """Where the nodes of each branch begin."""
    end: Ints
    """The end of each branch."""
    root: Bools
    """Whether it is the root's."""

    @property
    def sizes(self) -> Ints:
        """How many nodes each branch has."""
        return np.diff(self.first, append=len(self.gap))


class Bases(NamedTuple):
    """The names of constituents: their rows in c, those of their helpers (the last row if missing), and the marks.

    The last of them stands for having no name, which is taken only where the vocabulary has none to give.
    """

    row: Ints
    helper: Ints
    below: Bools
    """Whether it can name what lies below the root."""
    root: Bools
    """Whether it can name the root."""


@lru_cache(maxsize=8)
def bases_of(vocabulary: Vocabulary) -> Bases:
    """The names of constituents in a vocabulary."""
    rows = {name: row for row, name in enumerate(vocabulary.c)}
    writable = zip(vocabulary.c, chains_of(vocabulary).c.writable.tolist(), strict=True)
    bases = [name for name, fine in writable if name.chain_length and not name.prime and fine]
    marked = np.array([name.root for name in bases] + [False])
    nameless = np.arange(len(marked)) == len(bases)
    return Bases(
        np.array([*(rows[name] for name in bases), len(rows)]),
        np.array([*(rows.get(helper(name), len(rows)) for name in bases), len(rows)]),
        ~marked | nameless,
        marked | nameless,
    )


def right_branches(heights: Heights, lengths: Ints) -> RightBranches:
    """The branches that legal marks describe."""
    mark, after_gap = heights
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    after_word = after_gap + GAP_L[mark]
    most = int(after_word.max(initial=0)) + 1
    gap = _by_level(np.flatnonzero(GAP_R[mark] | GAP_L[mark]), sentence * most + after_gap)
    first = np.flatnonzero(GAP_R[mark[gap]])
    closing = _by_level(np.flatnonzero(~WORD_R[mark]), sentence * most + after_word)
    root = closing == (np.cumsum(lengths) - 1)[sentence[closing]]
    return RightBranches(gap, _starts(mark, sentence * most + after_word)[gap], first, closing + 1, root)


def _by_level(tokens: Ints, level: Ints) -> Ints:
    """The tokens, those of one sentence and height together, each group from left to right."""
    return tokens[np.argsort(level[tokens], kind="stable")]


def _starts(mark: Ints, level: Ints) -> Ints:
    """Where the highest subtree on the stack starts at each token: at the last word put there."""
    order = np.argsort(level, kind="stable")
    pushed = np.where(WORD_R[mark[order]], np.arange(len(order)), 0)
    start = np.empty_like(order)
    start[order] = order[np.maximum.accumulate(pushed)]
    return start


class MarkedPath(NamedTuple):
    """The best marks with the best names along their branches, word by word."""

    score: Floats
    """What the mark and the name of each word add to the score."""
    loss: Floats
    """How much more the best name that fits would add."""
    in_vocabulary: Bools
    """For each sentence, whether the vocabulary has all of its labels."""

    def settled(self, lengths: Ints) -> Bools:
        """For each sentence, whether no label sequence that the encoding can write is better."""
        lossy = np.zeros(len(lengths), dtype=bool)
        lossy[np.repeat(np.arange(len(lengths)), lengths)[self.loss > CLOSE]] = True
        return (self.in_vocabulary & ~lossy) | (lengths < 2)


class LegalTetraNodes(NamedTuple):
    """The constituents of the best marks; their path if names were asked to be searched with the marks."""

    nodes: NamedNodes
    path: MarkedPath | None


def legal_nodes(scores: Scores, vocabulary: Vocabulary, search: Search) -> LegalTetraNodes:
    """The constituents of the best legal marks, by the best names along their branches."""
    c = comparable(scores.c)
    if search.joint:
        c = repeated(c, scores, MAX_PLUS)
    heights = best_marks(vocabulary, scores, c, search.deepest)
    branches = right_branches(heights, scores.lengths)
    bases = bases_of(vocabulary)
    node, base = best_names(branches, c, bases)
    row = bases.row[base]
    named = row < len(vocabulary.c)
    end = np.repeat(branches.end, branches.sizes)
    nodes = NamedNodes(branches.start[node[named]], end[node[named]], row[named])
    return LegalTetraNodes(
        nodes, _path(vocabulary, scores, c, heights.mark, branches, node, base) if search.joint else None
    )


def _path(
    vocabulary: Vocabulary, scores: Scores, c: Floats, mark: Ints, branches: RightBranches, node: Ints, base: Ints
) -> MarkedPath:
    """The labels of the best marks and names."""
    bases, words = bases_of(vocabulary), np.arange(len(mark))
    opened = np.full(len(branches.gap), -1)
    opened[node] = base
    last = np.maximum.accumulate(np.where(opened >= 0, np.arange(len(opened)), 0))
    label = np.where(opened >= 0, bases.row[opened], bases.helper[opened[last]])
    rows = np.concatenate([c, np.full((1, len(mark)), MISSING)])
    best = [c[some].max(axis=0, initial=MISSING)[branches.gap] for some in fitting_names(vocabulary)]
    free = np.where(GAP_R[mark[branches.gap]], *best)
    there = rows[label, branches.gap]
    marks = {n: row for row, n in enumerate(vocabulary.n)}
    n_row = np.array([marks.get(name, len(marks)) for name in MARKS])[mark]
    score = np.concatenate([comparable(scores.n), np.full((1, len(mark)), MISSING)])[n_row, words]
    score[branches.gap] += there
    loss = np.zeros(len(mark))
    loss[branches.gap] = free - there
    lacking = np.zeros(len(mark), dtype=bool)
    lacking[branches.gap] = label == len(c)
    in_vocabulary = np.ones(len(scores.lengths), dtype=bool)
    in_vocabulary[np.repeat(np.arange(len(in_vocabulary)), scores.lengths)[lacking | (n_row == len(marks))]] = False
    return MarkedPath(score, loss, in_vocabulary)


def best_names(branches: RightBranches, c: Floats, bases: Bases) -> tuple[Ints, Ints]:
    """The nodes that open constituents, and which of the bases names each."""
    rows = np.concatenate([c, np.full((1, c.shape[1]), MISSING)])
    base = np.full(len(branches.gap), -1)
    for branch, lanes in blocks(branches.first, branches.sizes, len(bases.row)):
        here = rows.take(branches.gap[lanes.word], axis=1)
        opens, continues = here[bases.row], here[bases.helper]  # bases x slots
        total = _forward(opens, continues, bases, branches.root[branch], lanes)
        base[lanes.word] = _trace_back(total, opens, continues, bases, lanes)
    node = np.flatnonzero(base >= 0)
    return node, base[node]


def _forward(opens: Floats, continues: Floats, bases: Bases, root: Bools, lanes: Lanes) -> Floats:
    """The best score of each base at each slot."""
    total = opens + np.where(bases.below, 0, FORBIDDEN)[:, None]
    offset = lanes.offset
    total[:, : offset[1]] = np.where(
        np.where(root, bases.root[:, None], bases.below[:, None]), opens[:, : offset[1]], FORBIDDEN
    )
    for before, a, b in lanes.steps():
        above = total[:, before : before + b - a]
        total[:, a:b] += np.maximum.reduce(above, axis=0)
        np.maximum(total[:, a:b], above + continues[:, a:b], out=total[:, a:b])
    return total


def _trace_back(total: Floats, opens: Floats, continues: Floats, bases: Bases, lanes: Lanes) -> Ints:
    """The way back: the base opened at each slot, -1 where the constituent goes on."""
    top, top_base = total.max(axis=0), total.argmax(axis=0)
    current = np.empty(total.shape[1], dtype=np.int64)
    current[lanes.end] = top_base[lanes.end]
    opened = np.full(total.shape[1], -1)
    lane = np.arange(len(lanes.end))
    offset = lanes.offset
    for before, a, b in lanes.steps_back():
        now, above, here = current[a:b], before + lane[: b - a], a + lane[: b - a]
        goes_on = total[now, above] + continues[now, here] >= top[above] + opens[now, here]
        goes_on |= ~bases.below[now]
        opened[a:b] = np.where(goes_on, -1, now)
        current[above] = np.where(goes_on, now, top_base[above])
    opened[: offset[1]] = current[: offset[1]]
    return opened
