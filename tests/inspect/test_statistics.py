"""Statistics match literal implementations and the published table."""

import math
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence, outermost_first
from nestag.formats import jsonl
from nestag.inspect.statistics import SPANS, Statistics, count_same_span, depths_of, describe, stats

CORPORA = os.environ.get("NESTAG_CORPORA")

entities = st.lists(
    st.builds(lambda a, n, t: Entity(a, a + n, t), st.integers(0, 8), st.integers(1, 6), st.sampled_from("ABC")),
    max_size=12,
    unique=True,
)


def literal_depths(given: list[Entity]) -> list[int]:
    """The rule as it is written: one sweep from the outside in over all the others, at 0 until they are visited."""
    ordered = sorted(given, key=outermost_first)
    depth = dict.fromkeys(ordered, 0)
    for entity in ordered:
        around = [o for o in ordered if o != entity and o.start <= entity.start and o.end >= entity.end]
        depth[entity] = max((depth[other] + 1 for other in around), default=0)
    return [depth[entity] for entity in ordered]


@given(entities)
def test_depths_match_a_literal_implementation(found: list[Entity]) -> None:
    assert depths_of(found) == literal_depths(found)


def test_depth_of_entities_over_the_same_tokens() -> None:
    same = [Entity(0, 4, "A"), Entity(0, 4, "B"), Entity(1, 2, "C")]
    assert depths_of(same) == [1, 2, 3]
    assert depths_of([Entity(0, 5, "O"), *same]) == [0, 1, 2, 3]


def test_many_crossing_entities_are_counted() -> None:
    """Quadratic code would exceed the time limit of a test."""
    rng = random.Random(1)
    many = list({Entity(a, a + rng.randint(1, 4000), "A") for a in (rng.randint(0, 4000) for _ in range(20_000))})
    assert max(depths_of(many)) > 10
    statistics = Statistics()
    statistics.add(Sentence(["w"] * 8_001, many))
    assert statistics.crossing > 1_000_000


@given(entities)
def test_shared_spans_are_counted_as_pairs_tell(found: list[Entity]) -> None:
    assert count_same_span(found) == sum(any(a != b and a[:2] == b[:2] for b in found) for a in found)


def test_mean_of_nothing_is_missing() -> None:
    nothing = describe({"train": []})["train"]
    assert (nothing.sentences, nothing.mean_length, nothing.mean_depth, nothing.share_at(0)) == (0, None, None, None)
    assert (nothing.median_depth, nothing.largest_depth, nothing.length_deviation) == (None, None, None)


def test_small_corpus_counts_by_split() -> None:
    nested = Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE"), Entity(1, 2, "GPE")])
    other = Sentence(["a", "b"], [Entity(0, 2, "X"), Entity(0, 2, "Y")])
    found = describe({"test": [nested, other], "train": [nested, nested]})
    assert list(found) == ["test", "train"]
    assert (found["train"].repeated, found["train"].in_train) == (1, 0)
    assert (found["test"].repeated, found["test"].in_train) == (0, 1)  # though test was given first
    both = found["train"] + found["test"]
    assert (both.sentences, both.tokens, both.entities, both.same_span) == (4, 11, 8, 2)
    assert both.types == {"GPE": 6, "X": 1, "Y": 1}
    assert both.depths == {0: 3, 1: 4, 2: 1}
    assert (both.mean_depth, both.median_depth, both.largest_depth) == (0.75, 1, 2)
    assert both.mean_length == 2.75
    assert sum(filter(None, (both.share_of(*span) for span in SPANS))) == pytest.approx(100)
    assert both.share_of(1, 1) == 37.5


def test_different_tokenization_is_another_sentence() -> None:
    found = describe({"train": [Sentence(["a b"])], "dev": [Sentence(["a", "b"])]})
    assert found["dev"].in_train == 0


@pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA is not set")
def test_genia_has_published_statistics() -> None:
    found = describe(
        {name: jsonl.read(Path(CORPORA or "") / f"genia/{name}.jsonl.gz") for name in ("train", "dev", "test")}
    )
    every = sum(found.values(), Statistics())
    assert (every.sentences, every.entities, len(every.types)) == (18_546, 57_063, 5)
    assert (round(every.mean_length or 0, 1), round(every.length_deviation or 0, 1)) == (26.5, 11.8)
    assert (round(every.mean_depth or 0, 2), every.median_depth, every.largest_depth) == (0.10, 0, 3)
    assert [round(every.share_at(depth) or 0, 2) for depth in range(4)] == [90.29, 9.45, 0.25, 0.0]
    assert math.isclose(sum(every.share_at(depth) or 0 for depth in range(4)), 100)


@pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA is not set")
def test_nne_has_published_statistics() -> None:
    found = describe(
        {name: jsonl.read(Path(CORPORA or "") / f"nne_notext/{name}.jsonl.gz") for name in ("train", "dev", "test")}
    )
    every = sum(found.values(), Statistics())
    assert len(every.types) == 114
    assert (round(every.mean_depth or 0, 2), every.median_depth, every.largest_depth) == (0.88, 1, 5)
    assert [round(every.share_at(depth) or 0, 2) for depth in range(6)] == [36.45, 42.73, 17.83, 2.83, 0.15, 0.0]


def test_statistics_print_as_a_table() -> None:
    lines = repr(stats([Sentence(["the", "USA"], [Entity(0, 2, "GPE")])])).splitlines()
    assert lines[0] == "Corpus statistics"
    assert ["entities", "1"] in [line.split() for line in lines]
