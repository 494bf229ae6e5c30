"""The vocabulary: the labels of a corpus as three numbered tables, and the order of types over the same tokens.

A tagger predicts the numbers. Unseen labels get the number `UNSEEN`, which losses ignore and reports count. The order
is learned: a type that more often contains others than lies in them is the outer one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name, in_order
from nestag.encodings import Encoding, encode, encoding
from nestag.encodings.base import Label, N
from nestag.encodings.notation import read_chain, read_name, write_chain, write_name
from nestag.errors import LabelError, UnknownNameError

UNSEEN = -100  # the number of a label part that the vocabulary lacks, which torch's losses ignore
FORMAT = 1  # of the saved file; other formats are refused
MOST_TYPES = 64  # over the same tokens; time and memory of constrained decoding grow with their square

T = TypeVar("T")


class LabelIds(NamedTuple):
    """A sentence's labels as numbers, one list for each head."""

    n: list[int]
    c: list[int]
    u: list[int]

    @property
    def unseen(self) -> int:
        """Return how many parts of labels the vocabulary lacks."""
        return sum(part.count(UNSEEN) for part in self)


@dataclass(frozen=True)
class Vocabulary:
    """Three tables of label parts, the most frequent first, and the order of types over the same tokens.

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
        """Refuse tables with duplicates, which are a mistake, and with endless chains of types."""
        for name in ("n", "c", "u"):
            if len(set(table := getattr(self, name))) < len(table):
                raise LabelError(f"a label is in the table of {name} twice; every label has one number")
        longest = max((types for types in (*self.u, *(name.types for name in self.c))), key=len, default=())
        if len(longest) > MOST_TYPES:
            raise LabelError(
                f"{len(longest):,} types over the same tokens, {'+'.join(longest)[:60]}...; at most {MOST_TYPES} can be"
            )

    @classmethod
    def learn(cls, sentences: Iterable[Sentence], by: str | Encoding) -> Vocabulary:
        """Learn the vocabulary of a training corpus, which is read once."""
        chosen = encoding(by)
        nesting = _NestingCounts()
        labels: Counter[Label] = Counter()
        for sentence in sentences:
            nesting.add(sentence.entities)
            labels.update(encode(sentence, chosen))
        order = nesting.order()
        ns: Counter[N] = Counter()
        cs: Counter[Name] = Counter()
        us: Counter[tuple[str, ...]] = Counter()
        for (n, c, u), count in labels.items():
            ns[n] += count
            cs[c._replace(types=in_order(c.types, order))] += count
            us[in_order(u, order)] += count
        return cls(
            chosen.name,
            _by_frequency(ns, chosen.write_n),
            _by_frequency(cs, write_name),
            _by_frequency(us, write_chain),
            order,
        )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Return the number of labels of n, c and u."""
        return len(self.n), len(self.c), len(self.u)

    @property
    def types(self) -> tuple[str, ...]:
        """Return every entity type of the labels, sorted by name."""
        return tuple(sorted({kind for types in (*self.u, *(name.types for name in self.c)) for kind in types}))

    @cached_property
    def _numbers(self) -> tuple[dict[Any, int], ...]:
        return tuple({part: number for number, part in enumerate(table)} for table in (self.n, self.c, self.u))

    def encode(self, sentence: Sentence) -> list[Label]:
        """Return the sentence's labels in this vocabulary's encoding and order."""
        return encode(sentence, self.encoding, self.order)

    def ids(self, labels: Iterable[Label]) -> LabelIds:
        """Return labels as numbers, `UNSEEN` where the tables lack a part."""
        ns, cs, us = self._numbers
        ids = LabelIds([], [], [])
        for n, c, u in labels:
            ids.n.append(ns.get(n, UNSEEN))
            ids.c.append(cs.get(c, UNSEEN))
            ids.u.append(us.get(u, UNSEEN))
        return ids

    def labels(self, ids: LabelIds) -> list[Label]:
        """Return numbers as labels, the inverse of `ids`."""
        return [
            Label(_part(self.n, n, "n", i), _part(self.c, c, "c", i), _part(self.u, u, "u", i))
            for i, (n, c, u) in enumerate(zip(*ids, strict=True))
        ]

    def to_json(self) -> str:
        """Return readable text, with parts written as in label files."""
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
        """Read what `to_json` writes; a LabelError says what is wrong with the text."""
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


class _NestingCounts:
    """How often each type strictly contains another one, and lies in another one."""

    def __init__(self) -> None:
        self.outer: Counter[str] = Counter()
        self.inner: Counter[str] = Counter()

    def add(self, entities: Sequence[Entity]) -> None:
        """Count the pairs of one sentence; entities come in canonical order."""
        opened: list[Entity] = []
        for entity in entities:
            while opened and opened[-1].end <= entity.start:
                opened.pop()
            self.outer[entity.type] += 0
            if opened and opened[-1][:2] != entity[:2]:
                self.outer[opened[-1].type] += 1
                self.inner[entity.type] += 1
            opened.append(entity)

    def order(self) -> tuple[str, ...]:
        """Return the types from the outside in: by the share of pairs in which they are the outer one, then by name."""

        def rank(kind: str) -> tuple[float, str]:
            pairs = self.outer[kind] + self.inner[kind]
            return -self.outer[kind] / pairs if pairs else -0.5, kind

        return tuple(sorted(self.outer, key=rank))


def _by_frequency(counts: Counter[T], text: Callable[[T], str]) -> tuple[T, ...]:
    """Return the frequent parts first, equally frequent ones by their text, so that corpus order does not matter."""
    return tuple(sorted(counts, key=lambda part: (-counts[part], text(part))))


def _part(table: Sequence[T], number: int, head: str, position: int) -> T:
    if not 0 <= number < len(table):
        raise LabelError(f"label {position}: {head} is number {number}; the vocabulary has 0 to {len(table) - 1}")
    return table[number]
