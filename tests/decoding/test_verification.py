"""What is verified is what the definition says, one sentence and one entity at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence
from nestag.data.validation import from_mapping, to_mapping
from nestag.decoding import (
    EntityTable,
    Scores,
    Search,
    SpanPlaces,
    Verification,
    decode_scores,
    judged,
    likely_entities,
    propose_entities,
    verify_entities,
)
from nestag.decoding.verification import without_crossing
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import SettingError
from random_scores import RICH, by_sentence, learned, random_scores
from strategies import ENCODINGS, crosses

BY = Verification(0.4, bias=-0.7, logit=0.8, biases=(0.0, 2.0, -1.5), found=(1.5, -0.3, 0.2))


def biased(vocabulary: Vocabulary, heads: list[np.ndarray], bias: float) -> list[np.ndarray]:
    """Scores with those of a word outside all entities lowered."""
    outside = vocabulary.encode(Sentence(["x", "y", "z"]))[1]
    n, c, u = (head.copy() for head in heads)
    if outside.n in vocabulary.n:
        n[:, vocabulary.n.index(outside.n)] -= bias
    if outside.u in vocabulary.u:
        u[:, vocabulary.u.index(outside.u)] -= bias
    return [n, c, u]


def logit(word: int, last: int, kind: int, opens: bool, closes: bool) -> float:
    """Any function of a span's place in its sentence will do."""
    return 4 * math.sin(3.3 * word + 1.7 * last + 2.1 * kind + opens + 0.5 * closes)


class Judging:
    """Judges by places in sentences, whatever else is in the batch."""

    def __init__(self, types: int, lengths: list[int]) -> None:
        self.types = types
        self.words = [(word, word == 0, word == length - 1) for length in lengths for word in range(length)]

    def __call__(self, places: SpanPlaces) -> np.ndarray:
        rows = []
        for first, last, opens, closes in zip(*(column.tolist() for column in places), strict=True):
            word, begins, _ = self.words[first]
            end, _, ends = self.words[last]
            assert (opens, closes) == (begins, ends)
            rows.append([logit(word, end, kind, opens, closes) for kind in range(self.types)])
        return np.array(rows, dtype=np.float32)


def wanted(vocabulary: Vocabulary, heads: list[np.ndarray], length: int, search: Search) -> dict[Entity, float]:
    """The proposed entities of a sentence and their probabilities, by the definition."""
    found = [
        set(decode_scores(vocabulary, *biased(vocabulary, heads, bias), [length], search=search).to_lists()[0])
        for bias in BY.biases
    ]
    spans = {(start, end) for entities in found for start, end, _ in entities}
    spans |= {
        (start + left, end + right)
        for start, end, _ in found[0]
        for left in range(-2, 3)
        for right in range(-2, 3)
        if max(abs(left), abs(right)) < 2 or 0 in (left, right)
        if 0 <= start + left < end + right <= length
    }
    rated = {}
    for start, end in spans:
        for kind, name in enumerate(vocabulary.types):
            votes = sum(w for w, one in zip(BY.found, found, strict=True) if Entity(start, end, name) in one)
            value = BY.bias + BY.logit * logit(start, end - 1, kind, start == 0, end == length) + votes
            rated[Entity(start, end, name)] = 1 / (1 + math.exp(-value))
    return rated


def kept(rated: dict[Entity, float], threshold: float) -> dict[Entity, float]:
    """From the most probable on, whatever crosses nothing that stays."""
    staying: dict[Entity, float] = {}
    for entity, probability in sorted(rated.items(), key=lambda pair: -pair[1]):
        if probability >= threshold and not any(crosses(entity, other) for other in staying):
            staying[entity] = probability
    return staying


def as_dicts(table: EntityTable) -> list[dict[Entity, float]]:
    assert table.confidence is not None
    rated = iter(table.confidence.tolist())
    return [{entity: next(rated) for entity in entities} for entities in table.to_lists()]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_verified_as_each_sentence_alone(encoding: str, seed: int) -> None:
    vocabulary = learned(RICH, encoding)
    lengths = [0, 1, 4, 9, 0, 2, 17, 30, 5, 0]
    heads = random_scores(vocabulary, lengths, seed)
    proposals = propose_entities(vocabulary, Scores.of(vocabulary, *heads, lengths), Search(), BY.biases)
    logits = judged(proposals, Judging(len(vocabulary.types), lengths))
    verified, likely = as_dicts(verify_entities(proposals, logits, BY)), likely_entities(proposals, logits, BY, 0.1)
    alone = [
        wanted(vocabulary, parts, length, Search())
        for parts, length in zip(by_sentence(heads, lengths), lengths, strict=True)
    ]
    assert sum(map(len, verified)) > 20
    for found, rated in zip(verified, alone, strict=True):
        assert found == pytest.approx(kept(rated, BY.threshold), abs=1e-6)
        assert list(found) == sorted(found, key=lambda one: (one.start, -one.end, one.type))
        assert not any(crosses(a, b) for a in found for b in found)
        assert set(vocabulary.encode(Sentence(["x"] * 30, list(found)))) or not found  # a tree has them all
    for found, rated in zip(as_dicts(likely), alone, strict=True):
        assert found == pytest.approx({one: share for one, share in rated.items() if share >= 0.1}, abs=1e-6)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_with_one_plain_decoding_and_no_doubt_it_is_the_plain_decoding(encoding: str) -> None:
    vocabulary, lengths = learned(RICH, encoding), [3, 0, 8, 20]
    heads = random_scores(vocabulary, lengths, 5)
    trusting = Verification(0.5, bias=-9.0, logit=0.0, biases=(0.0, 1.0), found=(18.0, 0.0))
    proposals = propose_entities(vocabulary, Scores.of(vocabulary, *heads, lengths), Search(), trusting.biases)
    logits = judged(proposals, Judging(len(vocabulary.types), lengths))
    found = verify_entities(proposals, logits, trusting)
    assert found.to_lists() == decode_scores(vocabulary, *heads, lengths).to_lists()


def test_nothing_proposed_is_nothing_found() -> None:
    vocabulary = learned(RICH, "rel")
    none = Scores.of(vocabulary, *random_scores(vocabulary, [], 0), [])
    proposals = propose_entities(vocabulary, none, Search(), BY.biases)

    def never(_: SpanPlaces) -> np.ndarray:
        raise AssertionError("there is nothing to judge")

    assert verify_entities(proposals, judged(proposals, never), BY).to_lists() == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 6), st.integers(0, 3)), max_size=25))
def test_of_two_that_cross_the_more_probable_stays(drawn: list[tuple[int, int, int, int]]) -> None:
    rows = sorted({(sentence, start, start + size): value for sentence, start, size, value in drawn}.items(),
                  key=lambda row: (row[0][0], row[0][1], -row[0][2]))  # fmt: skip
    sentence, start, end = np.array([row for row, _ in rows], dtype=np.int64).reshape(-1, 3).T
    value = np.array([value for _, value in rows], dtype=np.float64)
    table = EntityTable(sentence, start, end, np.zeros(len(rows), dtype=np.int64), ("A",), 3)
    staying: list[int] = []
    for row in sorted(range(len(rows)), key=lambda row: -value[row]):
        entity = Entity(int(start[row]), int(end[row]), "A")
        others = [Entity(int(start[one]), int(end[one]), "A") for one in staying if sentence[one] == sentence[row]]
        if not any(crosses(entity, other) for other in others):
            staying.append(row)
    assert np.flatnonzero(without_crossing(table, value)).tolist() == sorted(staying)


def test_logits_may_be_as_large_as_they_like() -> None:
    model = Verification(threshold=0.5, bias=0, logit=1, biases=(0,), found=(0,))
    none, all_of_it = model.probabilities(np.array([[-1e30, 1e30]], dtype=np.float32), np.zeros((1, 1, 2), dtype=bool))[
        0
    ]
    assert 0 < none < 1e-217
    assert all_of_it == 1


def test_it_is_stored_as_json_has_it() -> None:
    assert from_mapping(Verification, to_mapping(BY), "nestag.json") == BY
    with pytest.raises(SettingError, match="give as many, one at least"):
        from_mapping(Verification, {**to_mapping(BY), "found": [1.0]}, "nestag.json")
