"""Constituent trees: entities <-> tree.

A leaf is a token position, not a word, so no bracket has to be escaped. Entities over the same tokens share one node.
Its name is the chain of their types, outermost first. Entities over the whole sentence share the root:

    Lincoln was president of the USA              S
    PER                                 ┌─────┬───┴───────┐
                ─────── PER ────────   PER   was         PER
                             ─ GPE ─    │           ┌─────┼───┐
                                     Lincoln  president  of  GPE
                                                            ┌─┴─┐
                                                           the USA

There is no recursion, so only memory limits the depth. `encodings` makes labels from trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from nestag.data.sentence import Entity, outermost_first
from nestag.errors import CrossingError

Span = tuple[int, int]


class Name(NamedTuple):
    """The name of a node: a chain of entity types, outermost first, and the kind of node.

    The root's own symbol (`S` in the paper) is the mark `root` and not a type, so a type may be called S too.

    >>> Name(("protein", "DNA")), Name((), root=True).chain_length, Name(("PER",), root=True).chain_length
    (Name(types=('protein', 'DNA'), root=False, prime=False), 1, 2)
    """

    types: tuple[str, ...]
    root: bool = False
    prime: bool = False  # a helper of binarization (`PER'`) inside the node of that name, not an entity

    @property
    def chain_length(self) -> int:
        """Return how many levels the node has: one for each type, and one for the root's symbol."""
        return len(self.types) + self.root

    @property
    def entities(self) -> tuple[str, ...]:
        """Return the types of its entities: none for a helper."""
        return () if self.prime else self.types


class Tree:
    """A node: its name and its children, which are nodes and token positions, from left to right.

    >>> tree = Tree.from_entities(6, [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")])
    >>> print(tree)
    (S (PER 0) 1 (PER 2 3 (GPE 4 5)))
    >>> tree.entities()
    (Entity(start=0, end=1, type='PER'), Entity(start=2, end=6, type='PER'), Entity(start=4, end=6, type='GPE'))
    """

    __slots__ = ("children", "end", "name", "start")

    def __init__(self, name: Name, children: tuple[Tree | int, ...]) -> None:
        """Make a node; where it starts and ends follows from its children."""
        self.name = name
        self.children = children
        self.start: int = 0 if not children else first if isinstance(first := children[0], int) else first.start
        self.end: int = 0 if not children else last + 1 if isinstance(last := children[-1], int) else last.end

    @classmethod
    def from_entities(cls, length: int, entities: Iterable[Entity], order: Sequence[str] | None = ()) -> Tree:
        """Return the tree of a sentence of `length` tokens; a CrossingError names two entities that do not nest.

        Types over the same tokens follow `order` (learned with a vocabulary); types that it lacks come last, by name.
        Without an order (None) they follow the order of the entities.
        """
        chains: dict[Span, list[str]] = {}
        for start, end, kind in entities:
            chains.setdefault((start, end), []).append(kind)
        put = tuple if order is None else partial(in_order, order=order)
        return cls.from_chains(length, {span: put(types) for span, types in chains.items()})

    @classmethod
    def from_chains(cls, length: int, chains: Mapping[Span, tuple[str, ...]]) -> Tree:
        """Return the tree whose nodes are these spans, each with its chain of types; a type counts once in a chain."""
        chains = {span: tuple(dict.fromkeys(types)) if len(types) > 1 else types for span, types in chains.items()}
        whole = chains.get((0, length), ()) if length > 1 else ()
        opened = [_OpenNode(0, length, Name(whole, root=True), [])]
        at = 0  # the next token that has no place yet
        for start, end in sorted(chains, key=lambda span: (span[0], -span[1])):
            if whole and (start, end) == (0, length):
                continue
            while opened[-1].end <= start:
                at = _close(opened, at)
            if end > opened[-1].end:
                above = opened[-1]
                raise CrossingError(
                    f"entities [{above.start}, {above.end}) {'+'.join(above.name.types)} and [{start}, {end})"
                    f" {'+'.join(chains[start, end])} cross, so no tree can have both; remove one of them"
                )
            opened[-1].children.extend(range(at, start))
            at = start
            opened.append(_OpenNode(start, end, Name(chains[start, end]), []))
        while len(opened) > 1:
            at = _close(opened, at)
        return Tree(opened[0].name, (*opened[0].children, *range(at, length)))

    def nodes(self) -> Iterator[Tree]:
        """Yield every node from the root down, left to right."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(child for child in reversed(node.children) if not isinstance(child, int))

    def entities(self) -> tuple[Entity, ...]:
        """Return the entities of the tree in canonical order."""
        entities = {Entity(node.start, node.end, kind) for node in self.nodes() for kind in node.name.types}
        return tuple(sorted(entities, key=outermost_first))

    def _brackets(self) -> Iterator[Name | int | None]:
        """Yield the tree as one flat sequence: a name opens a node, None closes it."""
        pending: list[Tree | int | None] = [self]
        while pending:
            item = pending.pop()
            if not isinstance(item, Tree):
                yield item
                continue
            yield item.name
            pending.append(None)
            pending.extend(reversed(item.children))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(a == b for a, b in zip_longest(self._brackets(), other._brackets(), fillvalue=()))

    def __hash__(self) -> int:
        return hash(tuple(self._brackets()))

    def __str__(self) -> str:
        text = ""
        for item in self._brackets():
            if item is None:
                text += ")"
            else:
                text += f" {item}" if isinstance(item, int) else f" ({'+'.join(item.root * ('S',) + item.types)}"
        return text.lstrip()

    def __repr__(self) -> str:
        return f"<Tree {self}>"


class _OpenNode(NamedTuple):
    """A node whose right end is not reached yet."""

    start: int
    end: int
    name: Name
    children: list[Tree | int]


def _close(opened: list[_OpenNode], at: int) -> int:
    """Close the lowest open node with the tokens from `at` on, and add it to the node above; return its end."""
    node = opened.pop()
    opened[-1].children.append(Tree(node.name, (*node.children, *range(at, node.end))))
    return node.end


def in_order(types: Iterable[str], order: Sequence[str] = ()) -> tuple[str, ...]:
    """Return each type once, in the given order; types that it lacks come last, by name.

    >>> in_order(["NAME", "FIRST", "PER"], order=["PER"])
    ('PER', 'FIRST', 'NAME')
    """
    unique = set(types)
    if len(unique) < 2:
        return tuple(unique)
    return tuple(kind for kind in order if kind in unique) + tuple(sorted(unique.difference(order)))
