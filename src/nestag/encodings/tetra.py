"""4tg: tetra-tagging (Kitaev and Klein 2020) of the right-binarized tree.

A node of several children becomes its first child and a helper that holds the rest:

          S                  word and gap   Lincoln  was  president   of   the   USA
     ┌────┴────┐             n                   rR   rL         rL   rL    rL     l
    PER        S'            c                    S   S'        PER  PER'  GPE   GPE
     │     ┌───┴───┐         u                  PER    -          -    -     -     -
  Lincoln was     PER
                ┌──┴──┐      r, l  the word is a left, a right child
          president  PER'    R, L  the lowest node over the gap is a left, a right child
                    ┌─┴─┐          (the root counts as left)
                   of  GPE
                      ┌─┴─┐  The last word has no gap: its n is r or l, and its c repeats the one before.
                     the USA

Decoding is a left-corner machine over a stack of subtrees. Impossible transitions are skipped, and words without a
place become children of the lowest node of the right branch. The binary tree is never built: the gap after a node's
first child has the node's name, and the gaps after further children, except for the last, have its helper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from nestag.data.tree import Name, Tree
from nestag.encodings.base import Encoding, Label, N, Naming
from nestag.errors import LabelError

MARKS = ("rR", "rL", "lR", "lL", "r", "l")


class TetraTagging(Encoding):
    """4tg: n has the marks of a word and of the gap after it."""

    name = "4tg"

    def encode(self, tree: Tree) -> list[Label]:
        """Return one label for each token of the tree."""
        length = tree.end
        words = [""] * length
        gaps = [""] * length
        names = [tree.name] * length
        unary: list[tuple[str, ...]] = [()] * length
        pending = [(tree, "R")]
        while pending:
            node, side = pending.pop()
            name = node.name
            for child in node.children:
                last = child if isinstance(child, int) else child.end - 1
                left = last < node.end - 1
                if not isinstance(child, int) and child.start < last:
                    pending.append((child, "R" if left else "L"))
                else:
                    words[last] = "r" if left else "l"
                    unary[last] = () if isinstance(child, int) else child.name.types
                if left:  # a gap follows, and after it a helper, which is a right child
                    gaps[last], names[last] = side, name
                    side, name = "L", helper(name)
        if length == 1:
            words = ["r"]
        elif length:
            names[-1] = names[-2]
        return [Label(word + gap, c, u) for word, gap, c, u in zip(words, gaps, names, unary, strict=True)]

    def decode(self, labels: Sequence[Label], naming: Naming = "first") -> Tree:
        """Return the tree that the labels describe, repaired where they describe none."""
        labels = self.check(labels)
        chains = {(i, i + 1): label.u for i, label in enumerate(labels) if label.u}
        for label, start, end in zip(labels, *run([str(label.n) for label in labels]), strict=True):
            if end and (types := label.c.entities):
                chains[start, end] = types
        return Tree.from_chains(len(labels), chains)

    def write_n(self, n: N) -> str:
        """Return the marks as they are."""
        if n not in MARKS:
            raise LabelError(f"n is {n!r}; this encoding takes one of {', '.join(MARKS)}")
        return str(n)

    def read_n(self, text: str) -> N:
        """Read what `write_n` writes."""
        return self.write_n(text)


@cache
def helper(name: Name) -> Name:
    """Return the name of the helper inside a node of this name."""
    return name._replace(prime=True)


@dataclass(slots=True)
class _Subtree:
    start: int  # its first token
    branch: int  # where its right branch begins among the open nodes
    has_slot: bool = False  # whether the end of the branch lacks a child


class NodeSpans(NamedTuple):
    """The node of the gap after each word: its first token and its end, which is 0 if there is no node."""

    start: list[int]
    end: list[int]


def run(marks: Sequence[str]) -> NodeSpans:
    """Run the machine over the marks; every node it makes has two words or more.

    The right end of a subtree on the stack is open: new children of its right branch lengthen all nodes of the branch.
    So their gaps are remembered until the subtree becomes a left child.

    >>> run(["rR", "rL", "l"])
    NodeSpans(start=[0, 1, 0], end=[3, 3, 0])
    """
    nodes = NodeSpans([0] * len(marks), [0] * len(marks))
    opened: list[int] = []  # the gaps of the right branches of all subtrees on the stack, the lowest node last
    stack: list[_Subtree] = []
    last = len(marks) - 1
    for i, mark in enumerate(marks):
        if mark[0] == "r":
            stack.append(_Subtree(i, len(opened)))
        elif stack and stack[-1].has_slot:
            stack[-1].has_slot = False
        else:  # the word becomes a child of the right branch, with any words before it that are in no node
            while stack and stack[-1].branch == len(opened):
                stack.pop()
            if stack:
                stack[-1].has_slot = False
        if i == last or len(mark) == 1 or not stack:
            continue
        start, branch = stack[-1].start, stack[-1].branch
        if mark[1] == "R":  # the subtree becomes the left child of a new node
            stack[-1].has_slot = True
        elif len(stack) > 1 and stack[-2].has_slot:  # so it does here, and the new node fills the slot below
            stack.pop()
        else:
            continue
        if len(opened) > branch:
            _close(opened, branch, nodes, i + 1)
        nodes.start[i] = start
        opened.append(i)
    _close(opened, 0, nodes, last + 1)
    return nodes


def _close(opened: list[int], branch: int, nodes: NodeSpans, end: int) -> None:
    """End the nodes of a branch here."""
    for gap in opened[branch:]:
        nodes.end[gap] = end
    del opened[branch:]
