"""Constrained search for 4tg: the best valid marks, then one name for each constituent.

A word r pushes a subtree (+1), a word l fills a slot. A gap R keeps the height of the stack, a gap L takes the highest
subtree into the slot of the one below (-1, needs two). Before the first word the stack is empty, and after the last
word, which has no gap, it holds one subtree. The score of a sequence is the sum over the words of the score of n and,
except for the last word, that of the best c that fits: after R a name that is not a helper's, after L any name.

    marks     rR   lR   rR   rL   lL   l
    height     1    1    2    2    1   1      after each word and its gap

This is the Viterbi algorithm with a state for each height. Every gap of the best sequence is a node of the binary tree.
A right branch is a path of right children: a gap R starts one at the height of the stack after it, each L at that
height adds a node, and the word l at that height closes it. Along a branch, the first node opens a constituent, and
each further node is a helper of the constituent above it or opens another one inside it. The best names along each
branch are a second Viterbi search, with a state for each name.

    S ── S' ── PER ── PER' ── GPE        president of the USA: one branch, three constituents
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Floats, Ints
from nestag.decoding.entities import NamedNodes, label_types
from nestag.decoding.scores import FORBIDDEN, MISSING, Scores, SequenceBlock, TimeSteps, comparable, with_missing
from nestag.encodings.tetra import MARKS, helper
from nestag.encodings.vocabulary import Vocabulary

R_R, R_L, L_R, L_L, R, L = range(6)  # rows of MARKS
assert MARKS == ("rR", "rL", "lR", "lL", "r", "l")
WORD_R, GAP_R, GAP_L = (np.isin(np.arange(6), rows) for rows in ([R_R, R_L, R], [R_R, L_R], [R_L, L_L]))

HIGHEST = 16  # the highest stack searched unless more is asked for; corpora with entities eight deep need 5
RISE = np.array([1, 0, 0, -1])  # how each of the first four marks changes the height


class TetraRules(NamedTuple):
    """The labels of a vocabulary that fit, as rows of the scores; the row after the last one means a missing one.

    The last base means having no name, which is taken only where the vocabulary has none.
    """

    n_row: Ints  # the row of each of the first four marks
    any: Ints  # the c that fit a gap L
    base: Ints  # the c that can name constituents, which fit a gap R
    helper: Ints  # the c of their helpers
    below: Bools  # whether each can name a constituent below the root
    root: Bools  # whether each can name the root


@lru_cache(maxsize=8)
def tetra_rules(vocabulary: Vocabulary) -> TetraRules:
    """Return the rules of a vocabulary."""
    marks = {mark: row for row, mark in enumerate(vocabulary.n)}
    rows = {name: row for row, name in enumerate(vocabulary.c)}
    writable = label_types(vocabulary).c_writable.tolist()
    names = [name for name, fine in zip(vocabulary.c, writable, strict=True) if name.chain_length and fine]
    bases = [name for name in names if not name.prime]
    marked = np.array([name.root for name in bases] + [False])
    nameless = np.arange(len(marked)) == len(bases)
    return TetraRules(
        np.array([marks.get(mark, len(marks)) for mark in MARKS[:4]]),
        np.array([rows[name] for name in names], dtype=np.int64),
        np.array([*(rows[name] for name in bases), len(rows)]),
        np.array([*(rows.get(helper(name), len(rows)) for name in bases), len(rows)]),
        ~marked | nameless,
        marked | nameless,
    )


def highest_stack(longest: int, deepest: int | None) -> int:
    """Return how high to search: a stack higher than half the sentence cannot come down in time."""
    return max(1, min(deepest or HIGHEST, longest // 2))


class BestMarks(NamedTuple):
    """The best valid sequences: the mark of each word, and the height of the stack after it."""

    mark: Ints
    height: Ints


def best_marks(rules: TetraRules, scores: Scores, deepest: int | None) -> BestMarks:
    """Return the best valid marks of each sentence."""
    best = BestMarks(np.full(len(scores.n), L), np.ones(len(scores.n), dtype=np.int64))
    best.mark[scores.first[scores.lengths == 1]] = R
    highest = highest_stack(int(scores.lengths.max(initial=0)), deepest)
    gaps = np.maximum(scores.lengths - 1, 0)
    blocks, word = TimeSteps.of(scores.first, gaps, highest + 2)
    moves = _mark_scores(rules, comparable(scores.n[word]), comparable(scores.c[word]))
    for block in blocks:
        own = moves[:, block.own]
        total = _forward(own, block, highest_stack(len(block.offset), deepest))
        best.mark[block.word], best.height[block.word] = _trace_back(total, own, block)
    return best


def _mark_scores(rules: TetraRules, n: Floats, c: Floats) -> Floats:
    """Return the score of each of the first four marks with the best name that fits: marks x slots."""
    moves: Floats = with_missing(n, MISSING)[rules.n_row]
    moves[[R_R, L_R]] += c[rules.base[:-1]].max(axis=0, initial=MISSING)
    moves[[R_L, L_L]] += c[rules.any].max(axis=0, initial=MISSING)
    return moves


def _forward(moves: Floats, block: SequenceBlock, highest: int) -> Floats:
    """Return the score of the best sequence to each height (0 first) and slot."""
    total = np.full((highest + 2, moves.shape[1]), FORBIDDEN)  # nothing reaches the first and the last height
    total[1, block.begin] = moves[R_R, block.begin]
    stays = np.maximum(moves[R_L], moves[L_R])
    for before, here in block.forward():
        reached = total[:, before]
        best = np.maximum(reached[:-2] + moves[R_R, here], reached[1:-1] + stays[here])
        total[1:-1, here] = np.maximum(best, reached[2:] + moves[L_L, here])
    return total


def _trace_back(total: Floats, moves: Floats, block: SequenceBlock) -> BestMarks:
    """Follow the best sequence back from height 1 at the end of each sentence."""
    slots = np.arange(moves.shape[1])
    mark, height = np.full(len(slots), R_R), np.ones(len(slots), dtype=np.int64)
    for before, here in block.backward():
        ways = total[height[here] - RISE[:, None], slots[before]] + moves[:, here]
        mark[here] = ways.argmax(axis=0)
        height[before] = height[here] - RISE[mark[here]]
    return BestMarks(mark, height)


class RightBranches(NamedTuple):
    """The right branches of a batch; the nodes of each follow each other, each at its gap."""

    gap: Ints
    start: Ints  # the first word of each node
    first: Ints  # the first node of each branch
    end: Ints  # the end of each branch
    root: Bools  # whether it is the root's

    @property
    def sizes(self) -> Ints:
        """Return how many nodes each branch has."""
        return np.diff(self.first, append=len(self.gap))


def right_branches(best: BestMarks, lengths: Ints) -> RightBranches:
    """Return the branches that valid marks describe."""
    mark, after_gap = best
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    after_word = after_gap + GAP_L[mark]
    most = int(after_word.max(initial=0)) + 1
    gap = _by_level(np.flatnonzero(GAP_R[mark] | GAP_L[mark]), sentence * most + after_gap)
    first = np.flatnonzero(GAP_R[mark[gap]])
    closing = _by_level(np.flatnonzero(~WORD_R[mark]), sentence * most + after_word)
    root = closing == (np.cumsum(lengths) - 1)[sentence[closing]]
    return RightBranches(gap, _starts(mark, sentence * most + after_word)[gap], first, closing + 1, root)


def _by_level(words: Ints, level: Ints) -> Ints:
    """Group the words by sentence and height, each group from left to right."""
    return words[np.argsort(level[words], kind="stable")]


def _starts(mark: Ints, level: Ints) -> Ints:
    """Return where the highest subtree on the stack starts at each word: at the last word pushed there."""
    order = np.argsort(level, kind="stable")
    pushed = np.where(WORD_R[mark[order]], np.arange(len(order)), 0)
    start = np.empty_like(order)
    start[order] = order[np.maximum.accumulate(pushed)]
    return start


def search_marks(scores: Scores, rules: TetraRules, deepest: int | None) -> NamedNodes:
    """Return the constituents of the best valid marks, with the best names along their branches."""
    branches = right_branches(best_marks(rules, scores, deepest), scores.lengths)
    base = _best_bases(branches, scores, rules)
    node = np.flatnonzero((base >= 0) & (base < len(rules.base) - 1))
    end = np.repeat(branches.end, branches.sizes)
    return NamedNodes(branches.start[node], end[node], rules.base[base[node]])


def _best_bases(branches: RightBranches, scores: Scores, rules: TetraRules) -> Ints:
    """Return, for each node of the branches, which of the bases it opens; -1 where the constituent continues."""
    base = np.full(len(branches.gap), -1)
    blocks, node = TimeSteps.of(branches.first, branches.sizes, len(rules.base))
    c = with_missing(comparable(scores.c[branches.gap[node]]), MISSING)
    for block in blocks:
        opens, continues = (c[:, block.own].take(rows, axis=0) for rows in (rules.base, rules.helper))  # bases x slots
        total = _forward_bases(opens, continues, rules, branches.root[block.rows], block)
        base[block.word] = _trace_bases_back(total, opens, continues, rules, block)
    return base


def _forward_bases(opens: Floats, continues: Floats, rules: TetraRules, root: Bools, block: SequenceBlock) -> Floats:
    """Return the best score of each base at each slot."""
    total = opens + np.where(rules.below, 0, FORBIDDEN)[:, None]
    allowed = np.where(root, rules.root[:, None], rules.below[:, None])
    total[:, block.begin] = np.where(allowed, opens[:, block.begin], FORBIDDEN)
    for before, here in block.forward():
        total[:, here] += total[:, before].max(axis=0)
        total[:, here] = np.maximum(total[:, here], total[:, before] + continues[:, here])
    return total


def _trace_bases_back(total: Floats, opens: Floats, continues: Floats, rules: TetraRules, block: SequenceBlock) -> Ints:
    """Follow the best names back: the base opened at each slot, -1 where the constituent continues."""
    slots = np.arange(total.shape[1])
    top, top_base = total.max(axis=0), total.argmax(axis=0)
    base, opened = top_base.copy(), np.full(len(slots), -1)
    for before, here in block.backward():
        now = base[here]
        stays = total[now, slots[before]] + continues[now, slots[here]] >= top[before] + opens[now, slots[here]]
        stays |= ~rules.below[now]
        opened[here] = np.where(stays, -1, now)
        base[before] = np.where(stays, now, top_base[before])
    opened[block.begin] = base[block.begin]
    return opened
