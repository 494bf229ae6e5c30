"""Scores match nervaluate on flat data and a literal implementation on nested data."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import nervaluate
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence, outermost_first
from nestag.data.validation import from_mapping, to_mapping
from nestag.evaluation import significance
from nestag.evaluation.evaluator import Evaluator, evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import DEPTHS, LENGTHS, PAPER_LENGTHS, Evaluation, Score, total
from strategies import typed_places

types = st.sampled_from("ABC")
maybe_types = st.none() | types
letters = st.lists(st.sampled_from("xyz"), max_size=6)
ids = st.none() | st.sampled_from(["1", "2"])


@pytest.fixture(scope="module", autouse=True)
def _few_draws() -> Iterator[None]:
    """Intervals are compared here, not judged: test_significance.py does that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "DRAWS", 50)
        yield


@cache  # making a strategy takes longer than drawing from it
def ends_in(length: int) -> st.SearchStrategy[set[int]]:
    return st.sets(st.integers(1, length))


@st.composite
def flat(draw: st.DrawFn, length: int) -> list[Entity]:
    """Entities of which no two share a token."""
    ends = sorted(draw(ends_in(length)))
    spans = zip([0, *ends], ends, strict=False)
    found = [(start, end, draw(maybe_types)) for start, end in spans]
    return [Entity(start, end, kind) for start, end, kind in found if kind]


@st.composite
def flat_pairs(draw: st.DrawFn) -> list[Pair]:
    pairs = []
    for length in draw(st.lists(st.integers(1, 8), min_size=1, max_size=5)):
        gold, predicted = draw(flat(length)), draw(flat(length))
        kept = [entity for entity in gold if draw(st.booleans())]
        kept += [e for e in predicted if all(e.end <= o.start or o.end <= e.start for o in kept)]
        pairs.append(Pair(Sentence(["w"] * length, gold), Sentence(["w"] * length, kept)))
    return pairs


def tags(sentence: Sentence) -> list[str]:
    """As IOB2 writes it."""
    found = ["O"] * len(sentence)
    for start, end, kind in sentence.entities:
        found[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    return found


def test_interval_of_the_macro_average_ignores_entity_counts() -> None:
    """A is always right and B always missed, three times as often."""
    right, missed = Entity(0, 1, "A"), [Entity(start, start + 1, "B") for start in (1, 2, 3)]
    pair = Pair(Sentence(["w"] * 4, [right, *missed]), Sentence(["w"] * 4, [right]))
    found = evaluate_pairs([pair] * 5).intervals
    assert found["macro"].recall == (0.5, 0.5)
    assert found["all"].recall == (0.25, 0.25)


@given(flat_pairs())
def test_flat_scores_match_nervaluate(pairs: list[Pair]) -> None:
    evaluation = evaluate_pairs(pairs)
    sides = [tags(gold) for gold, _ in pairs], [tags(predicted) for _, predicted in pairs]
    theirs = nervaluate.Evaluator(*sides, tags=list(evaluation.types), loader="list").evaluate()
    expected = {kind: strategies["strict"] for kind, strategies in theirs["entities"].items()}
    assert evaluation.types.keys() == expected.keys()
    for score, strict in [(evaluation.overall, theirs["overall"]["strict"])] + [
        (score, expected[kind]) for kind, score in evaluation.types.items()
    ]:
        assert (score.correct, score.predicted, score.gold) == (strict.correct, strict.actual, strict.possible)
        assert (score.precision, score.recall) == pytest.approx((strict.precision, strict.recall))
        assert score.f1 == pytest.approx(strict.f1)


@st.composite
def nested(draw: st.DrawFn, length: int) -> list[Entity]:
    """Entities that nest, cross and share their tokens."""
    found = draw(typed_places(length, types, 6))
    return [Entity(min(a, b), max(a, b), kind) for a, b, kind in found if a != b]


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    tokens = draw(letters)
    return Sentence(tokens, draw(nested(len(tokens))), draw(ids))


@st.composite
def nested_pairs(draw: st.DrawFn) -> list[Pair]:
    pairs = []
    for gold in draw(st.lists(sentences(), max_size=5)):
        kept = [entity for entity in gold.entities if draw(st.booleans())]
        pairs.append(Pair(gold, gold.with_entities(kept + draw(nested(len(gold))))))
    return pairs


def holds(outer: Entity, inner: Entity) -> bool:
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end


def depths(entities: Iterable[Entity]) -> dict[Entity, int]:
    """Visited from the outside in, each one deeper than the deepest that holds it; not visited yet is 0."""
    found: dict[Entity, int] = {}
    ordered = sorted(entities, key=outermost_first)
    for entity in ordered:
        around = [found.get(other, 0) for other in ordered if holds(other, entity)]
        found[entity] = 1 + max(around) if around else 0
    return found


def place(entity: Entity, others: Iterable[Entity]) -> str:
    if any(holds(other, entity) for other in others):
        return "inner"
    return "outer" if any(holds(entity, other) for other in others) else "flat"


def brute_force(pairs: Sequence[Pair], train: Sequence[Sentence]) -> dict[str, dict[object, Score]]:
    """Every breakdown, by its definition."""
    known = {(e.type, one.tokens[e.start : e.end]) for one in train for e in one.entities}
    counts: dict[tuple[str, object], Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        gold, predicted = set(pair.gold.entities), set(pair.predicted.entities)
        for own, other, seen, right in ((gold, predicted, "gold", "found"), (predicted, gold, "predicted", "correct")):
            own_depths, other_depths = depths(own), depths(other)
            for e in own:
                words = pair.gold.tokens[e.start : e.end]
                classes: dict[str, object] = {
                    "overall": 0,
                    "types": e.type,
                    "depths": own_depths[e],
                    "lengths": e.end - e.start,
                    "nesting": place(e, own),
                    "familiar": "seen" if (e.type, words) in known else "unseen",
                    "same_depth": own_depths[e],
                }
                for breakdown, member in classes.items():
                    counts[breakdown, member][seen] += 1
                    strict = breakdown == "same_depth" and right == "correct"
                    if e in other and (not strict or other_depths[e] == own_depths[e]):
                        counts[breakdown, member][right] += 1
    found: dict[str, dict[object, Score]] = defaultdict(dict)
    for (breakdown, member), numbers in counts.items():
        found[breakdown][member] = Score(**numbers)
    return found


def parts(evaluation: Evaluation) -> dict[str, dict[object, Score]]:
    """The breakdowns of an evaluation, without what is empty."""
    names = ("types", "depths", "lengths", "nesting", "familiar", "same_depth")
    found = {name: getattr(evaluation, name) for name in names} | {"overall": {0: evaluation.overall}}
    full = {name: {member: score for member, score in part.items() if any(score)} for name, part in found.items()}
    return {name: part for name, part in full.items() if part}


@given(nested_pairs(), st.lists(sentences(), max_size=3))
def test_nested_scores_match_brute_force(pairs: list[Pair], train: list[Sentence]) -> None:
    found = evaluate_pairs(pairs, train)
    assert parts(found) == brute_force(pairs, train)
    assert found.sentences == len(pairs)
    moved = 0
    for gold, predicted in pairs:
        before, after = depths(gold.entities), depths(predicted.entities)
        moved += sum(before[entity] != after[entity] for entity in set(before) & set(after))
    assert found.mistakes.nesting == moved


@given(nested_pairs(), st.lists(sentences(), max_size=3))
def test_breakdowns_add_up(pairs: list[Pair], train: list[Sentence]) -> None:
    found = evaluate_pairs(pairs, train)
    for part in (found.types, found.depths, found.lengths, found.nesting, found.familiar):
        assert total(part.values()) == found.overall
    figures = found.figures()
    for word, (first, rest) in {"depth": ("0", "≥ 1"), "length": ("1", "≥ 2")}.items():
        assert total([figures[f"{word} {first}"], figures[f"{word} {rest}"]]) == found.overall
    assert {f"depth {group.name}" for group in DEPTHS} | {f"length {group.name}" for group in LENGTHS} <= set(figures)
    kinds = found.mistakes.kinds
    paired = kinds["type"] + kinds["boundary"] + kinds["boundary and type"]
    assert found.overall.correct + paired + kinds["spurious"] == found.overall.predicted
    assert found.overall.correct + paired + kinds["missed"] == found.overall.gold
    for kind, score in found.types.items():
        confused = found.mistakes.confusion
        assert sum(one.times for one in confused if one.gold == kind) == score.gold
        assert sum(one.times for one in confused if one.predicted == kind) == score.predicted


@given(nested_pairs(), st.lists(sentences(), max_size=3), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_order_and_chunks(pairs: list[Pair], train: list[Sentence], rng: random.Random) -> None:
    expected = evaluate_pairs(pairs, train)
    mixed = []
    for gold, predicted in pairs:
        sides = [list(gold.entities), list(predicted.entities)]
        for side in sides:
            rng.shuffle(side)
        mixed.append(Pair(gold.with_entities(sides[0]), predicted.with_entities(sides[1])))
    rng.shuffle(mixed)
    assert evaluate_pairs(mixed, train) == expected
    evaluator = Evaluator(train)
    for pair in mixed:
        evaluator.see([pair])
    assert evaluator.result() == expected


@given(nested_pairs())
def test_every_score_has_an_interval_and_round_trips(pairs: list[Pair]) -> None:
    found = evaluate_pairs(pairs)
    assert {name for name, score in found.figures().items() if any(score)} <= set(found.intervals)
    assert all(0 <= low <= high <= 1 for three in found.intervals.values() for low, high in three)
    assert from_mapping(Evaluation, json.loads(json.dumps(to_mapping(found))), "evaluation") == found


def test_comparison_counts_cover_all_entities() -> None:
    gold = Sentence(["a"] * 4, [Entity(0, 4, "A"), Entity(1, 2, "B")])
    evaluator = Evaluator()
    evaluator.see([Pair(gold, gold.with_entities([Entity(0, 4, "A"), Entity(2, 3, "B"), Entity(3, 4, "B")]))])
    assert (
        Score(*evaluator.counts().rows.sum(axis=0).tolist())
        == evaluator.result().overall
        == Score.of(correct=1, predicted=3, gold=2)
    )


def test_confusions_are_sorted_by_gold_type() -> None:
    gold = Sentence(["a"] * 5, [Entity(0, 1, "A"), Entity(1, 2, "B"), Entity(2, 3, "B")])
    guess = [Entity(0, 1, "B"), Entity(1, 2, "B"), Entity(4, 5, "A")]
    found = evaluate_pairs([Pair(gold, gold.with_entities(guess))]).mistakes.confusion
    assert found == (("A", "B", 1), ("B", None, 1), ("B", "B", 1), (None, "A", 1))


def test_paper_length_classes_are_one_token_longer() -> None:
    assert PAPER_LENGTHS == (("1", 2, 2), ("2–4", 3, 5), ("≥ 2", 3, None), ("5–9", 6, 10), ("≥ 10", 11, None))


def test_any_tokens_are_compared_exactly() -> None:
    train = Sentence(["a", "b"], [Entity(0, 2, "A")])
    for tokens, seen in ((["a", "b"], True), (["a\x1fb"], False), (["a b"], False)):
        gold = Sentence(tokens, [Entity(0, len(tokens), "A")])
        assert bool(evaluate_pairs([Pair(gold, gold)], [train]).familiar["seen"].gold) == seen


def test_depth_groups_follow_the_paper() -> None:
    """An entity at depth 1 of gold that is predicted at 0: found at depth 1, but not at depths of 1 and more."""
    words = ["a"] * 40
    gold = [Entity(place, place + 4, "A") for place in range(0, 40, 4)]
    inner = [Entity(place, place + 1, "B") for place in range(0, 40, 4)]
    right = Sentence(words, [*gold, *inner])
    found = evaluate_pairs([Pair(right, right.with_entities([*gold[1:], *inner]))])
    figures = found.figures()
    assert figures["same depth 1"].recall == 1
    assert figures["same depth ≥ 1"].recall == figures["depth ≥ 1"].recall - 0.1 == 0.9
    assert found.intervals["same depth ≥ 1"].recall == (0.9, 0.9)  # one sentence: every draw is the same
    assert found.intervals["same depth 1"].recall == (1, 1)
