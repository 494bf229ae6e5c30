from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.crossing import MOST_CROSSING, count_crossing, crossing_pairs, drop_crossing
from nestag.data.sentence import Entity
from nestag.errors import CrossingError
from strategies import crosses

spans = st.tuples(st.integers(0, 9), st.integers(1, 6), st.sampled_from("AB"))
entity_sets = st.lists(spans.map(lambda s: Entity(s[0], s[0] + s[1], s[2])), max_size=8)


def nest(entities: tuple[Entity, ...]) -> bool:
    return not any(crosses(a, b) for a, b in combinations(entities, 2))


@given(entity_sets)
def test_fewest_crossing_entities_are_dropped(entities: list[Entity]) -> None:
    unique = set(entities)
    kept, aside = drop_crossing(entities)
    assert nest(kept)
    assert set(kept) | set(aside) == unique
    assert len(kept) + len(aside) == len(unique)
    largest = max(size for size in range(len(unique) + 1) if any(map(nest, combinations(unique, size))))
    assert len(kept) == largest


@given(entity_sets)
def test_the_order_of_entities_does_not_matter(entities: list[Entity]) -> None:
    assert drop_crossing(entities) == drop_crossing(reversed(entities))


@given(entity_sets)
def test_every_crossing_pair_is_found(entities: list[Entity]) -> None:
    expected = {frozenset(pair) for pair in combinations(set(entities), 2) if crosses(*pair)}
    found = list(crossing_pairs(entities))
    assert {frozenset(pair) for pair in found} == expected
    assert len(found) == len(expected) == count_crossing(entities)


def test_longer_of_two_crossing_entities_is_kept() -> None:
    assert drop_crossing([Entity(0, 3, "A"), Entity(2, 9, "B")]).nested == (Entity(2, 9, "B"),)


def test_too_many_crossing_entities_are_refused() -> None:
    with pytest.raises(CrossingError, match="split the sentence or"):
        drop_crossing(Entity(i, i + 2_000, "A") for i in range(MOST_CROSSING + 1))
