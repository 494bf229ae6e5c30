"""Random sentences and labels for property tests."""

from __future__ import annotations

import random
from functools import cache

from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name
from nestag.encodings.base import Absolute, Label, N
from nestag.encodings.tetra import MARKS
from nestag.encodings.vocabulary import Vocabulary

ENCODINGS = ("abs", "rel", "dyn", "4tg")
AWKWARD = ("S", "-", "PER", "a b", "a+b", "PER'", "=1", "x\ty", "\\", "\\S", "é\u2028", "+", "'", "DNA\n")

types = st.sampled_from(AWKWARD) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
names = st.none() | words


TypedPlaces = list[tuple[int, int, str]]


@cache  # making a strategy takes longer than drawing from it
def typed_places(length: int, types: st.SearchStrategy[str], most: int) -> st.SearchStrategy[TypedPlaces]:
    """Two places in a sentence of so many tokens, in any order, and a type; up to `most` of them."""
    place = st.integers(0, length)
    return st.lists(st.tuples(place, place, types), max_size=most)


@cache
def words_up_to(most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(words, max_size=most)


@st.composite
def sentences(draw: st.DrawFn, most: int = 14) -> Sentence:
    """Up to `most` tokens and entities that nest, same-span chains and whole-sentence entities among them."""
    tokens = draw(words_up_to(most))
    length = len(tokens)
    if not length:
        return Sentence([])
    entities: list[Entity] = []
    for first, second, kind in draw(typed_places(length, types, 12)):
        start, end = sorted((first, second))
        new = Entity(start, end, kind)
        if start < end and not any(crosses(new, old) for old in entities):
            entities.append(new)
    return Sentence(tokens, entities, draw(names))


def crosses(a: Entity, b: Entity) -> bool:
    return a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end


def random_sentence(rng: random.Random, length: int, depth: int) -> Sentence:
    """A sentence whose entities nest as deep as asked, with chains over the same tokens now and then."""
    entities: list[Entity] = []
    spans = [(0, length, 0)]
    while spans:
        start, end, level = spans.pop()
        if level:
            entities += [Entity(start, end, rng.choice(AWKWARD)) for _ in range(rng.choice((1, 1, 1, 2)))]
        if level >= depth:
            continue
        at = start
        while at < end:
            stop = rng.randint(at + 1, end)
            if rng.random() < 0.6:
                spans.append((at, stop, level + 1))
            at = stop
    return Sentence(["w"] * length, entities)


NAMES = tuple(Name(kinds, root, prime) for kinds in [(), ("A",), ("B",), ("A", "B"), ("S",), ("A", "A")]
              for root in (False, True) for prime in (False, True))  # fmt: skip
CHAINS = ((), ("A",), ("B", "A"), ("S", "S"))


def numbers(encoding: str) -> tuple[N, ...]:
    """Some n that the encoding knows, those out of range included."""
    if encoding == "4tg":
        return MARKS
    depths: tuple[N, ...] = tuple(range(-4, 9))
    return depths + tuple(Absolute(k) for k in range(-1, 6)) if encoding == "dyn" else depths


def loose_vocabulary(encoding: str) -> Vocabulary:
    """All that a tagger could say, sense or not."""
    return Vocabulary(encoding, numbers(encoding), NAMES, CHAINS)


@cache
def any_labels(encoding: str, most: int = 20) -> st.SearchStrategy[list[Label]]:
    """Any well-formed labels in any order."""
    n = st.sampled_from(numbers(encoding))
    if encoding != "4tg":
        n |= st.integers(-1_000_000, 1_000_000)
    return st.lists(st.builds(Label, n, st.sampled_from(NAMES), st.sampled_from(CHAINS)), max_size=most)
