from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, outermost_first
from nestag.evaluation.counts import Listed, SpanArrays, TypeNames, crossing, spans_of
from nestag.inspect.statistics import count_crossing, depths_of
from strategies import sentences, types

LENGTH = 8


@st.composite
def crossing_sets(draw: st.DrawFn) -> list[Entity]:
    """Entities that may cross and may be given twice."""
    places = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, LENGTH), types)
    return [Entity(a, b, kind) for a, b, kind in draw(st.lists(places, max_size=8)) if a < b]


def spans(sets: list[list[Entity]]) -> SpanArrays:
    names = TypeNames()
    return spans_of(Listed.of(sets, names), np.array([0, *accumulate([LENGTH] * len(sets))]), names)


def merged(entities: list[Entity]) -> list[Entity]:
    return sorted(set(entities), key=outermost_first)


def holds(entity: Entity, others: Iterable[Entity]) -> bool:
    """Whether it contains another over other tokens."""
    return any(entity.start <= other.start and other.end <= entity.end and entity[:2] != other[:2] for other in others)


nested_sets = sentences(LENGTH).map(lambda sentence: list(sentence.entities))


@given(st.lists(nested_sets | crossing_sets(), min_size=1, max_size=5))
def test_depths_are_those_of_the_definition(sets: list[list[Entity]]) -> None:
    found = spans(sets)
    assert found.depth.tolist() == [depth for one in sets for depth in depths_of(merged(one))]
    assert [found.entities[place] for place in found.order] == [entity for one in sets for entity in merged(one)]


@given(st.lists(nested_sets | crossing_sets(), min_size=1, max_size=5))
def test_outer_entities_hold_another_and_are_in_none(sets: list[list[Entity]]) -> None:
    expected = [
        holds(entity, one) and not any(holds(other, [entity]) or other[:2] == entity[:2] for other in one - {entity})
        for one in map(set, sets)
        for entity in merged(list(one))
    ]
    assert spans(sets).outer.tolist() == expected


@given(st.lists(nested_sets | crossing_sets(), min_size=1, max_size=5))
def test_crossing_sentences_are_noticed(sets: list[list[Entity]]) -> None:
    rows = [(LENGTH * i + e.start, LENGTH * i + e.end, i) for i, one in enumerate(sets) for e in merged(one)]
    start, end, sentence = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    assert crossing(start, end, sentence).tolist() == [i for i, one in enumerate(sets) if count_crossing(merged(one))]


@given(nested_sets, nested_sets)
def test_keys_tell_which_entities_are_shared(one: list[Entity], other: list[Entity]) -> None:
    names = TypeNames()
    listed = [Listed.of([side], names) for side in (one, other)]
    first, second = (spans_of(side, np.array([0, LENGTH]), names) for side in listed)
    assert first.also_in(second).tolist() == [entity in other for entity in merged(one)]
    shared = first.also_in(second)
    places = first.places_in(second)[shared]
    assert [second.entities[second.order[place]] for place in places] == [e for e in merged(one) if e in other]


def test_very_many_entities_that_cross_are_placed_in_time() -> None:
    size = 30_000
    names = TypeNames()
    listed = Listed.of([[Entity(2 * i, 2 * i + 3, "A") for i in range(size)]], names)
    found = spans_of(listed, np.array([0, 2 * size + 1]), names)
    assert not found.depth.any()
    assert not found.outer.any()
