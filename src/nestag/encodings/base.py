"""Labels, and the interface of an encoding: trees -> labels and labels -> trees.

`encode` is exact: `decode` returns the same tree. `decode` is total and pure: any sequence of well-formed labels gives
a tree, by the repair rules of the paper's appendix. notation.py writes labels to files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import ClassVar, Literal, NamedTuple, SupportsIndex

from nestag.data.tree import Name, Tree
from nestag.errors import LabelError

Naming = Literal["first", "majority"]
"""Which of several names a node keeps: the first, as in the paper, or the most frequent (the first of equals)."""

DEEPEST = 1_000_000
"""The largest n, up or down, that is well formed."""


@dataclass(frozen=True, slots=True, order=True)
class Absolute:
    """A depth counted from the root, where the encoding (dyn) counts from the word before by default."""

    depth: int


N = int | Absolute | str
"""A number (abs, rel, dyn), an absolute depth (dyn) or the marks of a word and its gap (4tg)."""


class Label(NamedTuple):
    """The paper's triple, one for each word.

    >>> Label(2, Name(("PER",)), ())
    Label(n=2, c=Name(types=('PER',), root=False, prime=False), u=())
    """

    n: N  # how many ancestors the word shares with the next one, or the marks of its place in the binarized tree
    c: Name  # the name of the lowest of these ancestors
    u: tuple[str, ...]  # the types of the entities over this word alone, outermost first


class Encoding(ABC):
    """A way to write a tree as one label per word and to read it back."""

    name: ClassVar[str]

    @abstractmethod
    def encode(self, tree: Tree) -> list[Label]:
        """Return one label for each token of the tree."""

    @abstractmethod
    def decode(self, labels: Sequence[Label], naming: Naming = "first") -> Tree:
        """Return the tree that the labels describe, repaired where they describe none."""

    @abstractmethod
    def write_n(self, n: N) -> str:
        """Return `n` as text; a LabelError says why it is not well formed."""

    @abstractmethod
    def read_n(self, text: str) -> N:
        """Return the `n` of a text, the inverse of `write_n`."""

    def check(self, labels: Sequence[Label]) -> list[Label]:
        """Return the labels, or raise a LabelError that names the first that is not well formed."""
        for position, label in enumerate(labels):
            if not isinstance(label, tuple) or len(label) != 3:
                raise LabelError(f"label {position} is {label!r}; make it a Label(n, c, u)")
            n, c, u = label
            if not isinstance(c, Name) or not _is_chain(c.types):
                raise LabelError(f"label {position}: c is {c!r}; make it a Name(types, root, prime)")
            if not _is_chain(u):
                raise LabelError(f"label {position}: u is {u!r}; make it a tuple of type names")
            try:
                self.write_n(n)
            except LabelError as error:
                raise LabelError(f"label {position}: {error}") from None
        return [Label(*label) for label in labels]


def number(n: object) -> int:
    """Return `n` as an integer within bounds, or raise a LabelError.

    >>> number("2")
    Traceback (most recent call last):
    nestag.errors.LabelError: n is '2'; this encoding takes an integer
    """
    if isinstance(n, bool) or not isinstance(n, SupportsIndex):
        raise LabelError(f"n is {n!r}; this encoding takes an integer")
    depth = index(n)
    if not -DEEPEST <= depth <= DEEPEST:
        raise LabelError(f"n is {depth}; depths go from -{DEEPEST} to {DEEPEST}")
    return depth


def _is_chain(types: object) -> bool:
    return isinstance(types, tuple) and all(isinstance(kind, str) and kind for kind in types)
