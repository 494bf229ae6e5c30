"""A fifth encoding as another package would define it: trees to labels and back.

n is the depth of a gap less that of the gap after it, so the sentence is read from the right.
"""

from __future__ import annotations

from collections.abc import Sequence

from nestag.data.tree import Tree
from nestag.encodings import Encoding, Label, Naming
from nestag.encodings.base import N, number
from nestag.encodings.depth import AbsoluteDepth

ABSOLUTE = AbsoluteDepth()


class FromTheRight(Encoding):
    """The change of depth since the gap after; the sentence ends at depth 0."""

    name = "right"

    def encode(self, tree: Tree) -> list[Label]:
        labels = ABSOLUTE.encode(tree)
        depths = [*(number(label.n) for label in labels), 0]
        return [label._replace(n=depths[i] - depths[i + 1]) for i, label in enumerate(labels)]

    def decode(self, labels: Sequence[Label], naming: Naming = "first") -> Tree:
        depth = 0
        found = []
        for label in reversed(labels):
            depth = max(1, depth + number(label.n))
            found.append(label._replace(n=depth))
        return ABSOLUTE.decode(found[::-1], naming)

    def write_n(self, n: N) -> str:
        return ABSOLUTE.write_n(n)

    def read_n(self, text: str) -> N:
        return ABSOLUTE.read_n(text)
