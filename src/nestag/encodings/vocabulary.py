"""The vocabulary: which labels a corpus uses, as three numbered tables, and the order of same-span types.

Numbers are what a tagger predicts. Labels that were not seen get the number `UNSEEN`, which losses ignore and
reports count. The order is learned: a type that more often holds others than lies in them stands outside.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name, in_order
from nestag.encodings import Encoding, encode, encoding
from nestag.encodings.base import Label, N
from nestag.encodings.notation import read_chain, read_name, write_chain, write_name
from nestag.errors import LabelError, UnknownNameError

UNSEEN = -100
"""The number of a label part that the vocabulary lacks (what torch's losses leave out)."""

FORMAT = 1
"""The layout of the saved file; a file of another layout is refused."""

MOST_TYPES = 64
"""Types over the same tokens; the time and memory of constrained decoding grow with their square."""

T = TypeVar("T")


class LabelIds(NamedTuple):
    """A sentence's labels as numbers, one list for each head."""

    n: list[int]
    c: list[int]
    u: list[int]

    @property
    def unseen(self) -> int:
        """How many parts of labels the vocabulary lacks."""
        return sum(part.count(UNSEEN) for part in self)


@dataclass(frozen=True)
class Vocabulary:
    """Three tables of label parts, the frequent first, and the order of types over the same tokens.

    >>> sentence = Sentence(["Lincoln", "slept"], [Entity(0, 1, "PER")])
    >>> vocabulary = Vocabulary.learn([sentence], "abs")
    >>> vocabulary.n, vocabulary.u, vocabulary.ids(encode(sentence, "abs"))
    ((1,), ((), ('PER',)), LabelIds(n=[0, 0], c=[0, 0], u=[1, 0]))
    """

    encoding: str
    n: tuple[N, ...]
    c: tuple[Name, ...]
    u: tuple[tuple[str, ...], ...]
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse tables that only a mistake or an attack can have."""
        for name in ("n", "c", "u"):
            if len(set(table := getattr(self, name))) < len(table):
                raise LabelError(f"a label stands twice in the table of {name}; every label has one number")
        longest = max((types for types in (*self.u, *(name.types for name in self.c))), key=len, default=())
        if len(longest) > MOST_TYPES:
            raise LabelError(
                f"{len(longest):,} types over the same tokens, {'+'.join(longest)[:60]}...; at most {MOST_TYPES} can be"
            )

    @classmethod
    def learn(cls, sentences: Iterable[Sentence], by: str | Encoding) -> Vocabulary:
        """Read a training corpus once."""
        chosen = encoding(by)
        nesting = _HoldingCounts()
        ns: Counter[N] = Counter()
        cs: Counter[Name] = Counter()
        us: Counter[tuple[str, ...]] = Counter()
        for sentence in sentences:
            nesting.see(sentence.entities)
            for n, c, u in encode(sentence, chosen):
                ns[n] += 1
                cs[c] += 1
                us[u] += 1
        order = nesting.order()
        return cls(
            chosen.name,
            _by_frequency(ns, chosen.write_n),
            _by_frequency(_merged(cs, lambda c: c._replace(types=in_order(c.types, order))), write_name),
            _by_frequency(_merged(us, lambda u: in_order(u, order)), write_chain),
            order,
        )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many labels n, c and u have."""
        return len(self.n), len(self.c), len(self.u)

    @property
    def types(self) -> tuple[str, ...]:
        """Every entity type that a label names, by name."""
        return tuple(sorted({kind for types in (*self.u, *(name.types for name in self.c)) for kind in types}))

    @cached_property
    def _numbers(self) -> tuple[dict[N, int], dict[Name, int], dict[tuple[str, ...], int]]:
        return _numbered(self.n), _numbered(self.c), _numbered(self.u)

    def encode(self, sentence: Sentence) -> list[Label]:
        """The sentence's labels in this vocabulary's encoding and order."""
        return encode(sentence, self.encoding, self.order)

    def ids(self, labels: Iterable[Label]) -> LabelIds:
        """Labels as numbers, `UNSEEN` where the tables lack a part."""
        ns, cs, us = self._numbers
        ids = LabelIds([], [], [])
        for n, c, u in labels:
            ids.n.append(ns.get(n, UNSEEN))
            ids.c.append(cs.get(c, UNSEEN))
            ids.u.append(us.get(u, UNSEEN))
        return ids

    def labels(self, ids: LabelIds) -> list[Label]:
        """The inverse of `ids`."""
        return [
            Label(_part(self.n, n, "n", i), _part(self.c, c, "c", i), _part(self.u, u, "u", i))
            for i, (n, c, u) in enumerate(zip(*ids, strict=True))
        ]

    def to_json(self) -> str:
        """As text that people can read, parts written as in label files."""
        tables = {
            "format": FORMAT,
            "encoding": self.encoding,
            "n": list(map(encoding(self.encoding).write_n, self.n)),
            "c": list(map(write_name, self.c)),
            "u": list(map(write_chain, self.u)),
            "order": list(self.order),
        }
        return json.dumps(tables, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """The inverse of `to_json`; a LabelError says what the text lacks."""
        try:
            tables = json.loads(text)
            if tables["format"] != FORMAT:
                raise LabelError(f"the vocabulary has format {tables['format']!r}; this version reads {FORMAT}")
            chosen = encoding(tables["encoding"])
            if not all(isinstance(tables[name], list) for name in ("n", "c", "u", "order")):
                raise TypeError("n, c, u and order are lists")
            return cls(
                chosen.name,
                tuple(map(chosen.read_n, tables["n"])),
                tuple(map(read_name, tables["c"])),
                tuple(map(read_chain, tables["u"])),
                tuple(map(str, tables["order"])),
            )
        except UnknownNameError as error:
            raise LabelError(f"the vocabulary cannot be read: {error}") from None
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, RecursionError) as error:
            raise LabelError(
                f"the vocabulary cannot be read ({type(error).__name__}: {error}); save it again with to_json"
            ) from None


class _HoldingCounts:
    """How often each type strictly holds others, and lies in others."""

    def __init__(self) -> None:
        self.holds: Counter[str] = Counter()
        self.lies: Counter[str] = Counter()

    def see(self, entities: Sequence[Entity]) -> None:
        """Count the pairs of one sentence; entities come in canonical order."""
        opened: list[Entity] = []
        for entity in entities:
            while opened and opened[-1].end <= entity.start:
                opened.pop()
            self.holds[entity.type] += 0
            if opened and opened[-1][:2] != entity[:2]:
                self.holds[opened[-1].type] += 1
                self.lies[entity.type] += 1
            opened.append(entity)

    def order(self) -> tuple[str, ...]:
        """Types from the outside in: by the share of pairs in which they are the outer one, then by name."""
        return tuple(sorted(self.holds, key=lambda kind: (-self._outer_share(kind), kind)))

    def _outer_share(self, kind: str) -> float:
        pairs = self.holds[kind] + self.lies[kind]
        return self.holds[kind] / pairs if pairs else 0.5


def _merged(counts: Counter[T], rename: Callable[[T], T]) -> Counter[T]:
    """The same counts under other names."""
    merged: Counter[T] = Counter()
    for part, count in counts.items():
        merged[rename(part)] += count
    return merged


def _by_frequency(counts: Counter[T], text: Callable[[T], str]) -> tuple[T, ...]:
    """The frequent first; what is equally frequent by its text, so that corpus order never matters."""
    return tuple(sorted(counts, key=lambda part: (-counts[part], text(part))))


def _numbered(parts: Sequence[T]) -> dict[T, int]:
    return {part: number for number, part in enumerate(parts)}


def _part(table: Sequence[T], number: int, head: str, position: int) -> T:
    if not 0 <= number < len(table):
        raise LabelError(f"label {position}: {head} is number {number}; the vocabulary has 0 to {len(table) - 1}")
    return table[number]
