"""Slow reference implementations of decoding: enumerate every valid sequence.

A sequence is scored as decoding/depth.py and decoding/tetra.py say. Scores here are lists for one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from math import exp, log
from typing import NamedTuple

import numpy as np

from nestag.data.sentence import Entity
from nestag.data.tree import Name, Span, in_order
from nestag.encodings import encoding
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.vocabulary import Vocabulary

MISSING = -1e9


class Head:
    """The scores of one sentence and head, by label: each token's best is 0, what is missing `MISSING`."""

    def __init__(self, table: tuple, scores: np.ndarray) -> None:
        self.table = table
        self.rows = [
            {label: max(score - max(*row, -1e30), MISSING) for label, score in zip(table, row, strict=True)}
            for row in scores.tolist()
        ]

    def __call__(self, position: int, label: object) -> float:
        return self.rows[position].get(label, MISSING)


class Heads(NamedTuple):
    n: Head
    c: Head
    u: Head

    @classmethod
    def of(cls, vocabulary: Vocabulary, n: np.ndarray, c: np.ndarray, u: np.ndarray) -> Heads:
        return cls(Head(vocabulary.n, n), Head(vocabulary.c, c), Head(vocabulary.u, u))


def total(values: list[float]) -> float:
    """The logarithm of the sum of exponentials."""
    top = max(values)
    return top + log(sum(exp(value - top) for value in values))


def below(vocabulary: Vocabulary) -> list[Name]:
    written = [name for name in vocabulary.c if in_order(name.types, vocabulary.order) == name.types]
    return [name for name in written if name.types and not name.root and not name.prime]


def at_root(vocabulary: Vocabulary, root: int) -> list[Name]:
    written = [name for name in vocabulary.c if in_order(name.types, vocabulary.order) == name.types]
    return [name for name in written if name.root and not name.prime and name.chain_length == root]


# abs, rel, dyn


class Depths(NamedTuple):
    root: int
    depths: tuple[int, ...]
    score: float


def depth_sequences(
    vocabulary: Vocabulary, heads: Heads, length: int, deepest: int, combine: Callable[[list[float]], float] = max
) -> Iterator[Depths]:
    """Every valid sequence of depths with its score."""
    chosen = encoding(vocabulary.encoding)
    assert isinstance(chosen, DepthEncoding)
    roots = {1} | {name.chain_length for name in vocabulary.c if at_root(vocabulary, name.chain_length)}
    deepest = max(deepest, *roots)
    for root in sorted(roots) if length > 1 else [1]:
        for gaps in product(range(root, deepest + 1), repeat=length - 1):
            depths = (*gaps, root)
            score = 0.0
            for i, (n, depth) in enumerate(zip(chosen.to_ns(depths), depths, strict=True)):
                names = at_root(vocabulary, root) if depth == root else below(vocabulary)
                score += heads.n(i, n) + (combine([heads.c(i, name) for name in names]) if names else MISSING)
            yield Depths(root, depths, score)


class Node(NamedTuple):
    start: int
    end: int
    gaps: list[int]
    opened: int


def depth_nodes(depths: tuple[int, ...]) -> list[Node]:
    """Every node below the root of a valid sequence: for each k the runs of gaps at least k deep, if one is k deep."""
    root, gaps = depths[-1], depths[:-1]
    found = []
    for k in range(root + 1, max(depths) + 1):
        edges = [-1, *(i for i, depth in enumerate(gaps) if depth < k), len(gaps)]
        for left, right in pairwise(edges):
            own = [i for i in range(left + 1, right) if gaps[i] == k]
            if own:
                sides = [gaps[left] if left >= 0 else root, gaps[right] if right < len(gaps) else root]
                found.append(Node(left + 1, right + 1, own, k - max(sides)))
    return found


def depth_entities(vocabulary: Vocabulary, heads: Heads, best: Depths) -> set[Entity]:
    """The entities of a valid sequence, each node with the name of the highest sum."""
    length = len(best.depths)
    found = words(heads, length)
    for node in depth_nodes(best.depths):
        names = below(vocabulary)
        names = [name for name in names if name.chain_length == node.opened] or names
        if names:
            name = max(names, key=lambda name: sum(heads.c(gap, name) for gap in node.gaps))
            found |= {Entity(node.start, node.end, kind) for kind in name.types}
    names = at_root(vocabulary, best.root)
    own = [i for i, depth in enumerate(best.depths) if depth == best.root]
    if best.root > 1:
        name = max(names, key=lambda name: sum(heads.c(gap, name) for gap in own))
        found |= {Entity(0, length, kind) for kind in name.types}
    return found


def words(heads: Heads, length: int) -> set[Entity]:
    best = [max(heads.u.table, key=lambda types: heads.u(i, types)) for i in range(length)]
    return {Entity(i, i + 1, kind) for i, types in enumerate(best) for kind in types}


# 4tg


class Binary(NamedTuple):
    """A node of a binary tree over at least two words, or a word."""

    start: int
    end: int
    left: Binary | None = None
    right: Binary | None = None

    @property
    def gap(self) -> int:
        assert self.left is not None
        return self.left.end - 1

    def nodes(self) -> Iterator[Binary]:
        if self.left and self.right:
            yield self
            yield from self.left.nodes()
            yield from self.right.nodes()


def binary_trees(start: int, end: int) -> Iterator[Binary]:
    """Every binary tree over some words."""
    if end - start == 1:
        yield Binary(start, end)
    for cut in range(start + 1, end):
        for left, right in product(binary_trees(start, cut), binary_trees(cut, end)):
            yield Binary(start, end, left, right)


def marks_of(tree: Binary) -> list[str]:
    """The marks of a tree's words and gaps; the root counts as a left child."""
    words, gaps = [""] * tree.end, [""] * tree.end

    def mark(node: Binary, side: str) -> None:
        if node.left is None or node.right is None:
            words[node.start] = "r" if side == "R" else "l"
            return
        gaps[node.gap] = side
        mark(node.left, "R")
        mark(node.right, "L")

    mark(tree, "R")
    return [word + gap for word, gap in zip(words, gaps, strict=True)]


def tetra_sequences(
    vocabulary: Vocabulary, heads: Heads, length: int, combine: Callable[[list[float]], float] = max
) -> Iterator[tuple[Binary, float]]:
    """Every binary tree with the score of its marks."""
    any_name = [
        name for name in vocabulary.c if name.chain_length and in_order(name.types, vocabulary.order) == name.types
    ]
    no_helper = [name for name in any_name if not name.prime]
    for tree in binary_trees(0, length):
        score = 0.0
        for i, mark in enumerate(marks_of(tree)):
            score += heads.n(i, mark)
            if i < length - 1:
                names = no_helper if mark[1] == "R" else any_name
                score += combine([heads.c(i, name) for name in names]) if names else MISSING
        yield tree, score


def tetra_names(vocabulary: Vocabulary, heads: Heads, tree: Binary) -> list[tuple[float, frozenset[Entity]]]:
    """Every way to name the nodes of a tree: its score and the entities."""
    nobody = Name((), prime=True)  # a name the vocabulary cannot have
    bases = below(vocabulary) or [nobody]
    roots = [name for name in vocabulary.c if name in at_root(vocabulary, name.chain_length)] or [nobody]

    def named(node: Binary, base: Name, opens: bool) -> list[tuple[float, frozenset[Entity]]]:
        if node.left is None or node.right is None:
            return [(0.0, frozenset())]
        score = heads.c(node.gap, base if opens else base._replace(prime=True))
        own = frozenset(Entity(node.start, node.end, kind) for kind in base.types if opens)
        left = [way for name in bases for way in named(node.left, name, True)] if node.left.left else [(0.0, own)]
        right = named(node.right, base, False)
        if node.right.left:
            right += [way for name in bases for way in named(node.right, name, True)]
        return [(score + a + b, own | found | more) for (a, found), (b, more) in product(left, right)]

    return [way for name in roots for way in named(tree, name, True)]


# confidences


def spans_to(length: int) -> list[tuple[int, int]]:
    return [(start, end) for start in range(length) for end in range(start + 2, length + 1)]


class Shares:
    """How probable each span and each root is, by adding up all valid sequences of a sentence."""

    def __init__(self, vocabulary: Vocabulary, heads: Heads, length: int, deepest: int) -> None:
        self.length = length
        self.span = dict.fromkeys(spans_to(length), 0.0)
        self.root: dict[int, float] = {}
        if vocabulary.encoding == "4tg":
            ways = [(tree.nodes(), 1, score) for tree, score in tetra_sequences(vocabulary, heads, length, total)]
        else:
            sequences = depth_sequences(vocabulary, heads, length, deepest, total)
            ways = [(depth_nodes(way.depths), way.root, way.score) for way in sequences]
        whole = total([score for _, _, score in ways])
        for nodes, root, score in ways:
            share = exp(score - whole)
            self.root[root] = self.root.get(root, 0) + share
            for span in {(node.start, node.end) for node in nodes}:
                self.span[span] += share


def rate_by_hand(
    vocabulary: Vocabulary, heads: Heads, shares: Shares, found: list[Entity], sure: set[Span] | None = None
) -> list[float]:
    """The probability of each entity as decoding/posterior.py describes it; gaps in smaller sure spans do not count."""

    def own_gaps(span: tuple[int, int]) -> list[int]:
        inside = [other for other in inner if other != span and span[0] <= other[0] and other[1] <= span[1]]
        return [gap for gap in range(span[0], span[1] - 1) if not any(a <= gap < b - 1 for a, b in inside)]

    def pooled(values: list[float]) -> float:
        return sum(values) / len(values)

    def share(rated: list[tuple[Name, float]], kind: str, others: tuple[float, ...] = ()) -> float:
        if not rated:
            return 0.0
        whole = total([score for _, score in rated] + list(others))
        return sum(exp(score - whole) for name, score in rated if kind in name.types)

    def depth_share(span: tuple[int, int], kind: str) -> float:
        gaps = own_gaps(span)
        names = below(vocabulary)
        value = shares.span[span] * share([(x, pooled([heads.c(i, x) for i in gaps])) for x in names], kind)
        if span == (0, length):
            for root, probability in shares.root.items():
                rated = [(x, pooled([heads.c(i, x) for i in [*gaps, length - 1]])) for x in at_root(vocabulary, root)]
                value += probability * share(rated, kind)
        return min(value, 1)

    def tetra_share(span: tuple[int, int], kind: str) -> float:
        first, *rest = own_gaps(span)
        whole = span == (0, length)
        bases = [x for x in vocabulary.c if x.chain_length and not x.prime]
        helper = {x: x._replace(prime=True) for x in bases}
        rated = [(x, pooled([heads.c(first, x), *(heads.c(i, helper[x]) for i in rest)])) for x in bases
                 if x.root == whole]  # fmt: skip
        with_parent = span[1] == length or any(start < span[0] and end == span[1] for start, end in spans)
        helpers = [pooled([heads.c(i, helper[x]) for i in [first, *rest]]) for x in bases]
        others = tuple(helpers) if not whole and with_parent else ()
        return (1 if whole else shares.span[span]) * share(rated, kind, others)

    length = shares.length
    spans = {(start, end) for start, end, _ in found if end - start > 1}
    inner = spans if sure is None else sure
    values = []
    for start, end, kind in found:
        if end - start == 1:
            values.append(share([(Name(types), heads.u(start, types)) for types in heads.u.table], kind))
        else:
            values.append((tetra_share if vocabulary.encoding == "4tg" else depth_share)((start, end), kind))
    return values
