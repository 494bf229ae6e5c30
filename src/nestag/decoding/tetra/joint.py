"""The labels of 4tg as ways through a lattice of open constituents.

A constituent is opened at its first gap, with its name; every further gap of its own has the helper's. Its mark says
whether it will be the last child of the one around it (L) or not (R), so that is part of the state: `floor` is 1 for a
last child, which is closed together with the one around it, and 0 for others, which are not. A word closes nothing (r),
or the lowest constituent with all that close together with it (l). Then a gap of the one around follows, or the
first gap of a constituent that begins where the closed one began:

    [[a b] c d]    gap after a: opened R      after b: l, and a constituent opened that begins with a
                   gap after c: its helper    after d: l, closed

`depth` of a node is the height of the stack: one more for each open constituent that is no last child. The last word
repeats the c of the gap before it, so its scores are added to those of that gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Ints
from nestag.decoding.lattice import Going, States
from nestag.decoding.opened import BOTTOM, NewNodes, OpenNodes
from nestag.decoding.scores import Scores
from nestag.decoding.semiring import Semiring
from nestag.decoding.tetra.search import L_L, L_R, R_L, R_R, L
from nestag.encodings.tetra import MARKS, helper
from nestag.vocabulary import Vocabulary

OPENING = np.array([[R_R, R_L], [L_R, L_L]])
"""The mark of a gap that opens a constituent: closing none or some before it x not a last child, or one."""


class TetraOpenings(NamedTuple):
    """The constituents that can be opened at each word, those of one word after those of the other."""

    first: Ints
    width: Ints
    """How many."""
    last_child: Ints
    name: Ints


def openings_of(last_child: Ints, word: Ints, name: Ints, words: int) -> TetraOpenings:
    """Constituents in any order, sorted by word."""
    order = np.argsort(word, kind="stable")
    width = np.bincount(word, minlength=words)
    return TetraOpenings(np.cumsum(width) - width, width, last_child[order], name[order])


class TetraLabels(NamedTuple):
    """The weights of labels: marks and names x words, and what the vocabulary has of them."""

    n: Floats
    has_mark: Bools
    c: Floats
    helper: Ints
    """For each c the row of its helper, -1 if there is none."""
    root: Bools
    last: Bools
    """Whether a word is the last of its sentence."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, scores: Scores, semiring: Semiring) -> TetraLabels:
        """The weights of a batch."""
        marks = {mark: row for row, mark in enumerate(vocabulary.n)}
        rows = {name: row for row, name in enumerate(vocabulary.c)}
        n = semiring.labels(scores.n)[[marks.get(mark, 0) for mark in MARKS]]
        last = np.zeros(len(scores.n), dtype=bool)
        last[scores.last] = True
        return cls(
            n,
            np.array([mark in marks for mark in MARKS]),
            repeated(semiring.labels(scores.c), scores, semiring),
            np.array([-1 if name.prime else rows.get(helper(name), -1) for name in vocabulary.c], dtype=np.int64),
            np.array([name.root for name in vocabulary.c], dtype=bool),
            last,
        )


def repeated(c: Floats, scores: Scores, semiring: Semiring) -> Floats:
    """The weights of names, with those at each last word added at the gap before it, whose c it repeats."""
    before = scores.last[scores.lengths[scores.lengths > 0] > 1] - 1
    c[:, before] = semiring.times(c[:, before], c[:, before + 1])
    return c


class TetraGrammar:
    """The steps that marks and names allow, and their weights."""

    def __init__(self, labels: TetraLabels, openings: TetraOpenings, beyond: Floats, semiring: Semiring) -> None:
        """`beyond` is the weight of what lies ahead of each height (0 first)."""
        self.root_names = labels.root
        self._labels, self._openings, self._beyond, self._semiring = labels, openings, beyond, semiring

    def ahead(self, depth: Ints, word: Ints) -> Floats:
        """What the heights alone say of what is ahead."""
        found: Floats = self._beyond[depth, word]
        return found

    def steps(self, nodes: OpenNodes, states: States, word: Ints) -> tuple[Going, Going, NewNodes]:
        """All steps over a word."""
        top, state = states.node, np.arange(len(word))
        closing = top
        while (up := nodes.floor[closing] > 0).any():
            closing = np.where(up, nodes.parent[closing], closing)
        around = nodes.parent[closing]
        some = top != BOTTOM
        root = some & self._labels.root[nodes.name[closing]]
        last = self._labels.last[word]
        over = np.flatnonzero(some & ~root & ~last)  # something can be closed
        ends, stays = np.flatnonzero(last & root), np.flatnonzero(some & ~last)
        within = over[around[over] != BOTTOM]
        down = self._down(
            nodes,
            [(ends, closing[ends], L), (stays, top[stays], R_L), (within, around[within], L_L)],
            word,
        )
        push = state[~last]
        up, new = self._opening(
            nodes,
            np.concatenate([push, over]),
            np.concatenate([top[push], around[over]]),
            np.concatenate([word[push], nodes.start[closing[over]]]),
            np.repeat([0, 1], [len(push), len(over)]),
            word,
        )
        return down, up, new

    def _down(self, nodes: OpenNodes, ways: list[tuple[Ints, Ints, int]], word: Ints) -> Going:
        labels, parts = self._labels, []
        for source, stop, mark in ways:
            weight = labels.n[mark, word[source]]
            if mark == L:  # the c of the last word was counted at the gap before
                fine = np.full(len(source), labels.has_mark[mark])
            else:
                row = labels.helper[nodes.name[stop]]
                fine = (row >= 0) & labels.has_mark[mark]
                weight = self._semiring.times(weight, labels.c[row, word[source]])
            parts.append((source[fine], stop[fine], weight[fine]))
        source, stop, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Going(source, stop, weight)

    def _opening(
        self, nodes: OpenNodes, source: Ints, around: Ints, start: Ints, closed: Ints, word: Ints
    ) -> tuple[Going, NewNodes]:
        labels, openings = self._labels, self._openings
        width = openings.width[word[source]]
        way = np.repeat(np.arange(len(source)), width)
        opening = np.arange(len(way)) + np.repeat(openings.first[word[source]] - (np.cumsum(width) - width), width)
        source, around, start, closed = source[way], around[way], start[way], closed[way]
        last_child, name = openings.last_child[opening], openings.name[opening]
        mark = OPENING[closed, last_child]
        height = nodes.depth[around] + 1 - last_child
        outermost = around == BOTTOM
        fine = labels.has_mark[mark] & (height < len(self._beyond)) & (outermost | ~labels.root[name])
        fine &= ~outermost | (last_child == 0)
        source, around, start, name, mark = source[fine], around[fine], start[fine], name[fine], mark[fine]
        weight = self._semiring.times(labels.n[mark, word[source]], labels.c[name, word[source]])
        return Going(source, around, weight), NewNodes(
            around, name, height[fine], last_child[fine], start, np.zeros_like(name)
        )
