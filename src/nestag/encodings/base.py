"""Labels, and what an encoding is: trees -> labels and labels -> trees, each the inverse of the other.

`encode` is exact: every tree comes back. `decode` is total: any sequence of well-formed labels gives a tree, by the
repair rules of the paper's appendix, and it is pure. How a label is written in a file is said in notation.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import ClassVar, Literal, NamedTuple

from nestag.data.tree import Name, Tree
from nestag.errors import LabelError

Naming = Literal["first", "majority"]
"""Which of several names given to one node it keeps: the paper's first, or the most frequent (the first of equals)."""

DEEPEST = 1_000_000
"""The largest n, up or down, that counts as well formed."""


@dataclass(frozen=True, slots=True, order=True)
class Absolute:
    """A depth counted from the root, where the encoding (dyn) counts from the word before by default."""

    depth: int


N = int | Absolute | str
"""What n can be: a number (abs, rel, dyn), an absolute depth (dyn) or the marks of a word and its gap (4tg)."""


class Label(NamedTuple):
    """The paper's triple, one for each word.

    >>> Label(2, Name(("PER",)), ())
    Label(n=2, c=Name(types=('PER',), root=False, prime=False), u=())
    """

    n: N
    """How many ancestors the word shares with the next one, or how its place in the binarized tree is marked."""
    c: Name
    """The name of the lowest of these ancestors."""
    u: tuple[str, ...]
    """The types of the entities over this word alone, outermost first."""


def as_labels(ns: Iterable[N], names: Iterable[Name], unary: Iterable[tuple[str, ...]]) -> list[Label]:
    """Three columns as labels; neighbours that say the same are one and the same label, to spare memory."""
    labels: list[Label] = []
    label = Label(0, Name(()), ())
    for n, c, u in zip(ns, names, unary, strict=True):
        if n is not label[0] or c is not label[1] or u is not label[2]:
            label = Label(n, c, u)
        labels.append(label)
    return labels


class Encoding(ABC):
    """A way to write a tree as one label a word and to read it back; a new one is a file beside this one."""

    name: ClassVar[str]

    @abstractmethod
    def encode(self, tree: Tree) -> list[Label]:
        """One label for each token of the tree."""

    @abstractmethod
    def decode(self, labels: Sequence[Label], naming: Naming = "first") -> Tree:
        """The tree that the labels describe, repaired where they describe none."""

    @abstractmethod
    def write_n(self, n: N) -> str:
        """`n` as text; a LabelError says why it is not well formed."""

    @abstractmethod
    def read_n(self, text: str) -> N:
        """The inverse of `write_n`."""


def number(n: object) -> int:
    """`n` as a plain integer within bounds, or a LabelError.

    >>> number("2")
    Traceback (most recent call last):
    nestag.errors.LabelError: n is '2'; this encoding takes an integer
    """
    if type(n) is not int:
        if isinstance(n, bool | str) or not hasattr(n, "__index__"):
            raise LabelError(f"n is {n!r}; this encoding takes an integer")
        n = index(n)
    if not -DEEPEST <= n <= DEEPEST:
        raise LabelError(f"n is {n}; depths go from -{DEEPEST} to {DEEPEST}")
    return n


def check(label: object, position: int) -> Label:
    """The label, if its c and u are well formed; n is its encoding's to judge."""
    if not isinstance(label, tuple) or len(label) != 3:
        raise LabelError(f"label {position} is {label!r}; make it a Label(n, c, u)")
    _, c, u = label
    if not isinstance(c, Name) or not isinstance(c.types, tuple) or not all(map(_is_type, c.types)):
        raise LabelError(f"label {position}: c is {c!r}; make it a Name(types, root, prime)")
    if not isinstance(u, tuple) or not all(map(_is_type, u)):
        raise LabelError(f"label {position}: u is {u!r}; make it a tuple of type names")
    return label if isinstance(label, Label) else Label(*label)


def at(position: int, error: LabelError) -> LabelError:
    """The same error, saying which label it is about."""
    return LabelError(f"label {position}: {error}")


def _is_type(kind: object) -> bool:
    return isinstance(kind, str) and kind != ""
