"""Entities and sentences: the values that every reader makes and every evaluator takes.

Positions count tokens and are half-open everywhere: `Entity(2, 6, "PER")` covers the tokens 2, 3, 4 and 5.
Entities of a sentence may cross; only a tree requires that they nest (tree.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import NamedTuple

from nestag.errors import DataError, visible


class Entity(NamedTuple):
    """A typed span of tokens, `start` included and `end` not.

    >>> Entity(4, 6, "GPE")
    Entity(start=4, end=6, type='GPE')
    """

    start: int
    end: int
    type: str


class Origin(NamedTuple):
    """The place of a sentence in a document, in characters.

    Every sentence has its own piece of the text. The pieces of a document, joined, are the whole text.
    """

    document: str
    start: int  # of the piece in the document
    text: str  # the piece, with the characters before, between and after its tokens
    offsets: tuple[tuple[int, int], ...]  # start and end of each token in the document


def outermost_first(entity: Entity) -> tuple[int, int, str]:
    """Return the sort key of the canonical order: by start, the longer first, then by type.

    >>> sorted([Entity(4, 6, "GPE"), Entity(2, 6, "PER")], key=outermost_first)[0].type
    'PER'
    """
    return entity.start, -entity.end, entity.type


@dataclass(frozen=True, slots=True, init=False)
class Sentence:
    """Tokens, the set of entities over them, and an optional identifier.

    Equal entities merge, and `entities` is always in canonical order; `annotated` has the order in which they were
    given. Comparisons ignore `annotated` and `origin`.

    >>> Sentence(["the", "USA"], [Entity(0, 2, "GPE"), Entity(0, 2, "GPE")]).entities
    (Entity(start=0, end=2, type='GPE'),)
    >>> Sentence(["the", "USA"], [Entity(1, 3, "GPE")])
    Traceback (most recent call last):
    nestag.errors.DataError: entity [1, 3) GPE ends outside the sentence of 2 tokens; ends go up to 2
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
        store = partial(object.__setattr__, self)  # the class is frozen
        store("tokens", _check_tokens(tokens))
        store("annotated", annotated := _check_entities(entities, len(tokens)))
        store("entities", annotated if len(annotated) < 2 else tuple(sorted(annotated, key=outermost_first)))
        if id is not None and not isinstance(id, str):
            raise DataError(f"id is {id!r}; make it a string")
        refuse_half_characters(id or "")
        store("id", id)
        store("origin", origin if origin is None else _check_origin(origin, len(tokens)))

    def __len__(self) -> int:
        return len(self.tokens)

    def with_entities(self, entities: Iterable[Entity]) -> Sentence:
        """Return the same sentence with other entities."""
        return Sentence(self.tokens, entities, self.id, self.origin)

    def __str__(self) -> str:
        """Return the tokens on one line, entities in brackets with their types.

        >>> print(Sentence(["Lincoln", "left", "the", "USA"], [Entity(0, 1, "PER"), Entity(2, 4, "GPE")]))
        [Lincoln PER] left [the USA GPE]
        """
        words = list(self.tokens)
        for start, end, kind in reversed(self.entities):  # the innermost first
            words[start] = f"[{words[start]}"
            words[end - 1] += f" {kind}]"
        return visible(" ".join(words))

    def _repr_html_(self) -> str:
        """Draw the nested entities in a notebook."""
        return str(import_module("nestag.inspect.rendering").render(self)._repr_html_())


def fingerprint(sentences: Iterable[Sentence]) -> str:
    """Return the sha256 of sentences: their words, entities and ids."""
    digest = hashlib.sha256()
    for sentence in sentences:
        record = [sentence.tokens, sorted(sentence.entities), sentence.id]
        digest.update(json.dumps(record, ensure_ascii=True).encode())
    return digest.hexdigest()


def _check_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the tokens as a tuple, or raise a DataError that names the first that is not a non-empty string."""
    if isinstance(tokens, str):
        raise DataError(f"tokens is the string {tokens[:40]!r}; split it into a list of tokens")
    if not all(tokens) or not set(map(type, tokens)) <= {str}:  # rare, and slow
        for position, token in enumerate(tokens):
            if not isinstance(token, str) or not token:
                raise DataError(f"token {position} is {token!r}; every token must be a non-empty string")
    refuse_half_characters("".join(tokens))
    return tuple(tokens)


def _check_entities(entities: Iterable[Entity], length: int) -> tuple[Entity, ...]:
    """Return each entity once, in the order given, or raise a DataError that names the first invalid one."""
    checked = [_check_entity(entity, length) for entity in entities]
    refuse_half_characters("".join([entity.type for entity in checked]))
    return tuple(checked) if len(set(checked)) == len(checked) else tuple(dict.fromkeys(checked))


def refuse_half_characters(text: str) -> None:
    """Raise a DataError if a text has a lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 20) : error.end + 20]
        raise DataError(f"{around!r} holds half of a character (a lone surrogate); write the whole one") from None


def _check_entity(entity: Entity, length: int) -> Entity:
    """Return the entity as an `Entity`, or raise a DataError."""
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


def _check_origin(origin: Origin, length: int) -> Origin:
    """Return the origin, or raise a DataError that names the first token outside its piece of text."""
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
