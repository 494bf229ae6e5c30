"""abs, rel and dyn: one table of depths, three ways to write it.

The depth of a gap is the number of ancestors that the words on both sides of it share, and its name is that of the
lowest of them. The last word shares the root with the end of the sentence.

                S                  gap after   Lincoln  was  president   of   the   USA
     ┌─────┬────┴──────┐           depth             1    1          2    2     3     1
    PER   was         PER          abs n             1    1          2    2     3     1
     │           ┌─────┼───┐       rel n             1    0          1    0     1    -2
  Lincoln  president  of  GPE      dyn n             1    0          1    0     1    =1
                         ┌─┴─┐     c                 S    S        PER  PER   GPE     S
                        the USA    u               PER    -          -    -     -     -

Decoding reads depths back: a node of level k is a longest run of gaps at least k deep, named by its gaps exactly k
deep. A run without such a gap has no name and vanishes; the root has only names that carry its mark.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import ClassVar

from nestag.data.tree import Name, Span, Tree
from nestag.encodings.base import Absolute, Encoding, Label, N, Naming, number
from nestag.errors import LabelError


class DepthEncoding(Encoding):
    """The table of depths, which all three share; each writes a row of it in its own way."""

    has_absolute: ClassVar[bool] = False  # whether some n are absolute depths, which are written as `=k`

    @abstractmethod
    def to_n(self, before: int, depth: int) -> N:
        """Return the n of a gap of `depth` after a gap of depth `before`, which is 0 for the first gap."""

    @abstractmethod
    def to_depth(self, before: int, n: N) -> int:
        """Return the depth that `n` means after a gap of depth `before`; it may be out of range."""

    def to_ns(self, depths: Iterable[int]) -> list[N]:
        """Return the n of each gap."""
        return [self.to_n(before, depth) for before, depth in pairwise([0, *depths])]

    def to_depths(self, ns: Iterable[N]) -> list[int]:
        """Return the depth of each gap, the inverse of `to_ns`; a gap above the root gets the root's depth."""
        depths: list[int] = []
        depth = 0
        for n in ns:
            depth = max(1, self.to_depth(depth, n))
            depths.append(depth)
        return depths

    def write_n(self, n: N) -> str:
        """Write an integer, or `=k` for an absolute depth."""
        return f"={number(n.depth)}" if self.has_absolute and isinstance(n, Absolute) else str(number(n))

    def read_n(self, text: str) -> N:
        """Read what `write_n` writes."""
        return Absolute(read_number(text[1:])) if self.has_absolute and text[:1] == "=" else read_number(text)

    def encode(self, tree: Tree) -> list[Label]:
        """Return one label for each token of the tree."""
        length = tree.end
        depths = [tree.name.chain_length] * length
        names = [tree.name] * length
        unary: list[tuple[str, ...]] = [()] * length
        pending: list[tuple[Tree, int]] = [(tree, 0)]
        while pending:
            node, above = pending.pop()
            name, depth = node.name, above + node.name.chain_length
            for child in node.children:
                last = child if isinstance(child, int) else child.end - 1
                if not isinstance(child, int) and child.start < last:
                    pending.append((child, depth))
                elif not isinstance(child, int):
                    unary[last] = child.name.types
                if last < node.end - 1:  # the gap between this child and the next one
                    depths[last], names[last] = depth, name
        return [Label(n, c, u) for n, c, u in zip(self.to_ns(depths), names, unary, strict=True)]

    def decode(self, labels: Sequence[Label], naming: Naming = "first") -> Tree:
        """Return the tree that the labels describe, repaired where they describe none."""
        labels = self.check(labels)
        depths = self.to_depths(label.n for label in labels)
        chains = {(i, i + 1): label.u for i, label in enumerate(labels) if label.u}
        for span, names in runs(depths[:-1], [label.c for label in labels]):
            name = names[0] if naming == "first" else Counter(names).most_common(1)[0][0]
            if types := name.entities:
                chains[span] = types
        return Tree.from_chains(len(labels), chains)


def runs(depths: list[int], names: Sequence[Name]) -> list[tuple[Span, list[Name]]]:
    """Return every node that the gaps between words describe, with the names that they give it.

    >>> runs([1, 2, 2], [Name((), root=True), Name(("PER",)), Name(("ORG",))])[0]
    ((1, 4), [Name(types=('PER',), root=False, prime=False), Name(types=('ORG',), root=False, prime=False)])
    """
    root: list[Name] = []
    opened: list[tuple[int, int, list[Name]]] = [(1, 0, root)]  # level, first token, names
    closed: list[tuple[Span, list[Name]]] = []
    for gap, depth in enumerate(depths):
        start = gap
        while opened[-1][0] > depth:
            _, start, own = opened.pop()
            closed.append(((start, gap + 1), own))
        if opened[-1][0] < depth:
            opened.append((depth, start, []))
        opened[-1][2].append(names[gap])
    end = len(depths) + 1
    closed.extend(((start, end), own) for _, start, own in reversed(opened[1:]))
    marked = [name for name in root if name.root]
    return closed + ([((0, end), marked)] if marked else [])


class AbsoluteDepth(DepthEncoding):
    """abs: n is the depth itself."""

    name = "abs"

    def to_n(self, before: int, depth: int) -> N:
        """Return the depth."""
        return depth

    def to_depth(self, before: int, n: N) -> int:
        """Return `n`."""
        return number(n)


class RelativeDepth(DepthEncoding):
    """rel: n is the change since the gap before; the sentence begins at depth 0."""

    name = "rel"

    def to_n(self, before: int, depth: int) -> N:
        """Return the change."""
        return depth - before

    def to_depth(self, before: int, n: N) -> int:
        """Return the sum."""
        return before + number(n)


class DynamicDepth(DepthEncoding):
    """dyn: relative, but absolute where the depth falls by two or more and ends at three or less."""

    name = "dyn"
    has_absolute = True

    def to_n(self, before: int, depth: int) -> N:
        """Return the change, or the depth itself after a steep fall to near the root."""
        return Absolute(depth) if depth <= 3 and depth - before <= -2 else depth - before

    def to_depth(self, before: int, n: N) -> int:
        """Return an absolute depth, or the sum."""
        return number(n.depth) if isinstance(n, Absolute) else before + number(n)


def read_number(text: str) -> int:
    """Read an integer in ASCII digits; anything else, such as `1_0` and `٣`, is a LabelError."""
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise LabelError(f"n is {text!r}; this encoding takes an integer")
    return number(int(text))
