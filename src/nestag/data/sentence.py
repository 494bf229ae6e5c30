"""Entities and sentences: the values that every reader makes and every evaluator takes.

Positions count tokens and are half-open everywhere: `Entity(2, 6, "PER")` covers the tokens 2, 3, 4 and 5.
Whether the entities of a sentence nest is not asked here; a tree asks that (tree.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nestag.errors import DataError


class Entity(NamedTuple):
    """A typed span of tokens, `start` included and `end` not.

    >>> Entity(4, 6, "GPE")
    Entity(start=4, end=6, type='GPE')
    """

    start: int
    end: int
    type: str


class Characters(NamedTuple):
    """A stretch of a document, half-open, and its text."""

    start: int
    end: int
    text: str


class Origin(NamedTuple):
    """Where a sentence stands in a document, in characters.

    Every sentence has its own piece of the text; the pieces of a document, joined, are the whole of it.
    """

    document: str
    start: int
    """Where the piece begins in the document."""
    text: str
    """The piece, with whatever stands before, between and after its tokens."""
    offsets: tuple[tuple[int, int], ...]
    """Start and end of each token in the document."""

    def characters(self, start: int, end: int) -> Characters:
        """Where the tokens from `start` to `end` stand in the document, and what stands there."""
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        return Characters(first, last, self.text[first - self.start : last - self.start])


def outermost_first(entity: Entity) -> tuple[int, int, str]:
    """Sort key of the canonical order: by start, the longer first, then by type.

    >>> sorted([Entity(4, 6, "GPE"), Entity(2, 6, "PER")], key=outermost_first)[0].type
    'PER'
    """
    return entity.start, -entity.end, entity.type


@dataclass(frozen=True, slots=True, init=False)
class Sentence:
    """Tokens, the set of entities over them, and an identifier if there is one.

    Equal entities merge and the given order does not matter: `entities` is always in canonical order. It is kept in
    `annotated`, for what has to be counted as others counted it; neither that nor the origin counts in comparisons.

    >>> Sentence(["the", "USA"], [Entity(0, 2, "GPE"), Entity(0, 2, "GPE")]).entities
    (Entity(start=0, end=2, type='GPE'),)
    """

    tokens: tuple[str, ...]
    entities: tuple[Entity, ...]
    id: str | None
    annotated: tuple[Entity, ...] = field(compare=False, repr=False)
    origin: Origin | None = field(compare=False, repr=False)

    def __init__(
        self,
        tokens: Sequence[str],
        entities: Iterable[Entity] = (),
        id: str | None = None,
        origin: Origin | None = None,
    ) -> None:
        """Check and store; a DataError names the invalid token or entity."""
        object.__setattr__(self, "tokens", checked_tokens(tokens))
        annotated = checked_entities(entities, len(tokens))
        object.__setattr__(self, "annotated", annotated)
        ordered = annotated if len(annotated) < 2 else tuple(sorted(annotated, key=outermost_first))
        object.__setattr__(self, "entities", ordered)
        object.__setattr__(self, "id", checked_id(id))
        object.__setattr__(self, "origin", origin if origin is None else checked_origin(origin, len(tokens)))

    def __len__(self) -> int:
        return len(self.tokens)

    def with_entities(self, entities: Iterable[Entity]) -> Sentence:
        """The same sentence with other entities."""
        return Sentence(self.tokens, entities, self.id, self.origin)


def checked_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    """The tokens as a tuple, or a DataError naming the first that is not a non-empty string."""
    if isinstance(tokens, str):
        raise DataError(f"tokens is the string {tokens[:40]!r}; split it into a list of tokens")
    if not all(tokens) or not set(map(type, tokens)) <= {str}:  # seldom, and slow
        for position, token in enumerate(tokens):
            if not isinstance(token, str) or not token:
                raise DataError(f"token {position} is {token!r}; every token must be a non-empty string")
    refuse_half_characters("".join(tokens))
    return tuple(tokens)


def checked_entities(entities: Iterable[Entity], length: int) -> tuple[Entity, ...]:
    """The entities, each once, in the order given, or a DataError naming the first invalid one.

    >>> checked_entities([Entity(1, 3, "PER")], 2)
    Traceback (most recent call last):
    nestag.errors.DataError: entity [1, 3) PER ends outside the sentence of 2 tokens; ends go up to 2
    """
    found = [checked_entity(entity, length) for entity in entities]
    refuse_half_characters("".join([entity.type for entity in found]))
    return tuple(found) if len(set(found)) == len(found) else tuple(dict.fromkeys(found))


def checked_id(id: str | None) -> str | None:
    """The identifier, or a DataError if it is not a string."""
    if id is not None:
        if not isinstance(id, str):
            raise DataError(f"id is {id!r}; make it a string")
        refuse_half_characters(id)
    return id


def refuse_half_characters(text: str) -> None:
    """Raise a DataError if a text has half of a character, which no file in UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 20) : error.end + 20]
        raise DataError(f"{around!r} holds half of a character (a lone surrogate); write the whole one") from None


def checked_entity(entity: Entity, length: int) -> Entity:
    """The entity as an `Entity`, or a DataError that says what is wrong with it."""
    try:
        start, end, kind = entity
    except (TypeError, ValueError):
        raise DataError(f"entity {entity!r} is not (start, end, type); make it an Entity") from None
    if type(start) is not int or type(end) is not int:
        raise DataError(f"entity {entity!r} has a position that is not an integer; count tokens from 0")
    if not isinstance(kind, str) or not kind:
        raise DataError(f"entity {entity!r} has the type {kind!r}; a type is a non-empty string")
    if start < 0:
        raise DataError(f"entity [{start}, {end}) {kind} starts before the sentence; count tokens from 0")
    if end <= start:
        raise DataError(f"entity [{start}, {end}) {kind} ends before it starts; the end is exclusive, so end > start")
    if end > length:
        raise DataError(
            f"entity [{start}, {end}) {kind} ends outside the sentence of {length} tokens; ends go up to {length}"
        )
    return entity if type(entity) is Entity else Entity(start, end, kind)


def checked_origin(origin: Origin, length: int) -> Origin:
    """The origin, or a DataError naming the first token that does not stand in its piece of text."""
    if len(origin.offsets) != length:
        raise DataError(f"the origin has offsets of {len(origin.offsets)} tokens, the sentence {length}; give one each")
    refuse_half_characters(origin.document)
    refuse_half_characters(origin.text)
    before, last = origin.start, origin.start + len(origin.text)
    for position, (start, end) in enumerate(origin.offsets):
        if not before <= start < end <= last:
            raise DataError(
                f"token {position} has the offsets {start} to {end}; they must rise and lie in {before} to {last}"
            )
        before = end
    return origin
