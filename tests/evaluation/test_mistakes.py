"""Mistakes match a literal implementation of their definitions."""

import random
from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence, outermost_first
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import MOST_KEPT, Mistake, MistakeCounter, mistakes_of
from nestag.evaluation.result import KINDS
from strategies import typed_places

TOKENS = tuple("abcdefg")
types = st.sampled_from("ABC")
ids = st.none() | st.sampled_from(["1", "2"])


@st.composite
def entities(draw: st.DrawFn) -> list[Entity]:
    """Some that nest, cross or share their tokens."""
    found = draw(typed_places(len(TOKENS), types, 7))
    return [Entity(min(a, b), max(a, b), kind) for a, b, kind in found if a != b]


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """A prediction that has some of the gold entities."""
    gold = draw(entities())
    kept = draw(st.lists(st.sampled_from(gold), max_size=4)) if gold else []
    name = draw(ids)
    return Pair(Sentence(TOKENS, gold, name), Sentence(TOKENS, kept + draw(entities()), name))


def share(one: Entity, two: Entity) -> Fraction:
    """Of the tokens that either covers, the share that both do."""
    first, second = set(range(*one[:2])), set(range(*two[:2]))
    return Fraction(len(first & second), len(first | second))


def literal(gold: set[Entity], predicted: set[Entity]) -> list[Mistake]:
    """The definitions, one after the other."""
    unfound, wrong = sorted(gold - predicted, key=outermost_first), sorted(predicted - gold, key=outermost_first)
    found = []
    for kind in KINDS[:3]:
        while True:
            fitting = [
                (right, guess)
                for right in unfound
                for guess in wrong
                if {
                    "type": right[:2] == guess[:2],
                    "boundary": right.type == guess.type and share(right, guess) > 0,
                    "boundary and type": share(right, guess) > 0,
                }[kind]
            ]
            if not fitting:
                break
            right, guess = max(fitting, key=lambda both: share(*both))  # the first of equals
            found.append(Mistake(kind, right, guess))
            unfound.remove(right)
            wrong.remove(guess)
    found += [Mistake("missed", right, None) for right in unfound]
    return found + [Mistake("spurious", None, guess) for guess in wrong]


@given(entities(), entities())
def test_mistakes_follow_their_definitions(gold: list[Entity], predicted: list[Entity]) -> None:
    found = mistakes_of(gold, predicted)
    assert Counter(found) == Counter(literal(set(gold), set(predicted)))
    assert mistakes_of(gold[::-1], predicted[::-1] + predicted) == found


@given(st.lists(pairs(), max_size=6))
def test_mistake_counts_add_up(seen: list[Pair]) -> None:
    counter = MistakeCounter()
    for pair in seen:
        counter.see(pair)
    correct = sum(len(set(gold.entities) & set(predicted.entities)) for gold, predicted in seen)
    kinds = counter.kinds
    paired = kinds["type"] + kinds["boundary"] + kinds["boundary and type"]
    assert set(kinds) == set(KINDS)
    assert correct + paired + kinds["spurious"] == sum(len(predicted.entities) for _, predicted in seen)
    assert correct + paired + kinds["missed"] == sum(len(gold.entities) for gold, _ in seen)


@given(st.lists(pairs(), max_size=6))
def test_confusion_has_every_type_on_both_sides(seen: list[Pair]) -> None:
    counter = MistakeCounter()
    for pair in seen:
        counter.see(pair)
    rows, columns = Counter[str | None](), Counter[str | None]()
    for (gold, predicted), times in counter.confusion.items():
        assert gold != predicted
        rows[gold] += times
        columns[predicted] += times
    wrong = [(set(gold.entities), set(predicted.entities)) for gold, predicted in seen]
    unfound = Counter(entity.type for gold, predicted in wrong for entity in gold - predicted)
    spurious = Counter(entity.type for gold, predicted in wrong for entity in predicted - gold)
    assert {kind: times for kind, times in rows.items() if kind} == unfound
    assert {kind: times for kind, times in columns.items() if kind} == spurious
    over_spans = sum(times for (gold, predicted), times in counter.confusion.items() if gold and predicted)
    assert over_spans == counter.kinds["type"]


@given(st.lists(pairs(), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(seen: list[Pair], rng: random.Random) -> None:
    one, two = MistakeCounter(), MistakeCounter()
    for pair in seen:
        one.see(pair)
    rng.shuffle(seen)
    for pair in seen:
        two.see(pair)
    assert (one.kinds, one.confusion, one.worst()) == (two.kinds, two.confusion, two.worst())


def test_worst_sentences_come_first() -> None:
    rng = random.Random(0)
    seen = []
    for number in range(4 * MOST_KEPT):
        kinds = [Entity(0, 1, f"T{i}") for i in range(rng.randrange(4))]
        gold = Sentence([f"w{rng.randrange(50)}"], kinds, str(number))
        seen.append(Pair(gold, gold.with_entities([])))
    counter = MistakeCounter()
    for pair in seen:
        counter.see(pair)
    wrong = sorted(
        (-len(gold.entities), gold.tokens, gold.entities, gold.id or "") for gold, _ in seen if gold.entities
    )
    assert [one.id for one in counter.worst()] == [bad[-1] for bad in wrong[:MOST_KEPT]]


def test_correct_sentences_are_not_stored() -> None:
    gold = Sentence(["a"], [Entity(0, 1, "A")])
    counter = MistakeCounter()
    counter.see(Pair(gold, gold))
    assert (counter.kinds.total(), counter.confusion, counter.worst()) == (0, Counter(), ())


def test_many_mistakes_in_one_sentence_are_fast() -> None:
    size = 20_000
    gold = [Entity(2 * i, 2 * i + 2, "A") for i in range(size)]
    predicted = [Entity(2 * i + 1, 2 * i + 3, "A") for i in range(size)]
    kinds = Counter(mistake.kind for mistake in mistakes_of(gold, predicted))
    assert kinds == {"boundary": size}


def test_long_entity_over_many_mistakes_is_fast() -> None:
    size = 20_000
    gold = [Entity(0, 2 * size, "A"), *(Entity(2 * i, 2 * i + 1, "A") for i in range(size))]
    predicted = [Entity(2 * i, 2 * i + 2, "B") for i in range(size)]
    kinds = Counter(mistake.kind for mistake in mistakes_of(gold, predicted))
    assert kinds == {"boundary and type": size, "missed": 1}
