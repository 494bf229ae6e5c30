"""Probabilities of candidates match enumeration of all valid sequences."""

import numpy as np
import pytest

from enumeration import Heads, Shares, rate_by_hand
from nestag.data.sentence import Entity
from nestag.data.tree import Name
from nestag.decoding import Search, candidate_entities, decode_scores
from nestag.decoding import posterior as module
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError
from random_scores import RICH, by_sentence, gold_scores, learned, random_scores
from strategies import ENCODINGS, loose_vocabulary

DEEPEST = 4


def candidates(
    vocabulary: Vocabulary, batch: list[np.ndarray], lengths: list[int], floor: float = 0
) -> list[dict[Entity, float]]:
    table = candidate_entities(vocabulary, *batch, lengths, floor=floor, search=Search(deepest=DEEPEST))
    rated = iter(table.confidence.tolist())
    return [{entity: next(rated) for entity in entities} for entities in table.to_lists()]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_candidates_match_enumeration(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST", 0.0)
    vocabulary = learned(RICH, encoding)
    lengths = [1, 4, 3, 2, 4, 3, 2, 1]
    for seed in range(8):
        batch = random_scores(vocabulary, lengths, seed)
        for rated, scores, length in zip(
            candidates(vocabulary, batch, lengths), by_sentence(batch, lengths), lengths, strict=True
        ):
            heads = Heads.of(vocabulary, *scores)
            shares = Shares(vocabulary, heads, length, DEEPEST)
            every = [Entity(a, b, kind) for a in range(length) for b in range(a + 1, length + 1) for kind in "AB"]
            sure = {span for span, share in shares.span.items() if share > 0.5}
            values = rate_by_hand(vocabulary, heads, shares, every, sure)
            expected = {entity: value for entity, value in zip(every, values, strict=True) if value}
            assert rated == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("floor", [0.01, 0.1, 0.4])
def test_floor_drops_only_less_probable_candidates(
    encoding: str, floor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = learned(RICH, encoding)
    lengths = [6, 0, 8, 1, 12]
    for seed in range(4):
        batch = random_scores(vocabulary, lengths, seed)
        some = candidates(vocabulary, batch, lengths, floor)
        with monkeypatch.context() as patch:
            patch.setattr(module, "LEAST", 0.0)
            every = candidates(vocabulary, batch, lengths)
        for found, rated in zip(some, every, strict=True):
            assert min(found.values(), default=1) >= floor
            spans = {entity for entity, share in rated.items() if share >= floor}
            if encoding != "4tg":  # there, a helper cannot belong to a dropped span
                assert found == pytest.approx({entity: rated[entity] for entity in spans}, abs=0.05)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_predicted_entities_have_equal_candidate_probability(encoding: str) -> None:
    vocabulary = learned(RICH, encoding)
    batch, lengths = gold_scores(vocabulary, RICH * 3, 3)
    table = decode_scores(vocabulary, *batch, lengths, confidence=True, search=Search(deepest=DEEPEST))
    confidences = iter(table.confidence.tolist())
    expected = [{entity: next(confidences) for entity in entities} for entities in table.to_lists()]
    found = candidates(vocabulary, batch, lengths, 0.05)
    for rated, sure in zip(found, expected, strict=True):
        assert rated == pytest.approx(sure, abs=1e-6)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_single_words_have_the_probability_of_u(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)  # its u are none, A, B+A and S+S; no tree has the last two
    batch = random_scores(vocabulary, [3, 1], 1)
    found = candidates(vocabulary, batch, [3, 1])
    for (none, a, *_), (sentence, place) in zip(batch[2], [(0, 0), (0, 1), (0, 2), (1, 0)], strict=True):
        words = {entity: share for entity, share in found[sentence].items() if entity[:2] == (place, place + 1)}
        assert words == {Entity(place, place + 1, "A"): pytest.approx(1 / (1 + np.exp(none - a)))}


@pytest.mark.parametrize("encoding", ["dyn", "4tg"])  # with the others, the end makes another root more probable
def test_candidates_of_a_long_sentence_do_not_underflow(encoding: str) -> None:
    """What is far ahead changes nothing at the beginning."""
    vocabulary = loose_vocabulary(encoding)
    batch = random_scores(vocabulary, [900], 6)
    (long,) = candidates(vocabulary, batch, [900], 0.02)
    (short,) = candidates(vocabulary, [head[:200] for head in batch], [200], 0.02)
    near = {entity: share for entity, share in short.items() if entity.end <= 30 and share > 0.05}
    assert len(near) > 10
    assert {entity: long.get(entity, 0) for entity in near} == pytest.approx(near, abs=1e-6)


def test_floor_must_be_a_probability() -> None:
    vocabulary = learned(RICH, "abs")
    with pytest.raises(LabelError, match=r"floor is 1\.5"):
        candidate_entities(vocabulary, *random_scores(vocabulary, [2], 0), [2], floor=1.5)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_empty_vocabulary_has_no_candidates(encoding: str) -> None:
    nothing = Vocabulary(encoding, ("rL",) if encoding == "4tg" else (7,), (Name((), prime=True),), ((),))
    assert candidate_entities(nothing, *[np.zeros((5, 1))] * 3, [4, 1], floor=0).to_lists() == [(), ()]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("impossible", [0, 0.5, 1])
def test_any_scores_give_probabilities(encoding: str, impossible: float) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.random.default_rng(0).integers(0, 30, 15).tolist()
    batch = random_scores(vocabulary, lengths, 1, impossible)
    for scale in (0.01, 1, 1_000):
        found = candidates(vocabulary, [head * scale for head in batch], lengths, 0.05)
        assert all(0.05 <= share <= 1 for rated in found for share in rated.values())


def test_candidate_gaps_exclude_smaller_spans() -> None:
    start, end = np.array([0, 1, 1]), np.array([6, 6, 4])
    spans = module._candidate_spans(6, start, end, np.array([False, True, True]))
    assert [own.tolist() for own in np.split(spans.gaps, spans.first[1:])] == [[0], [3, 4], [1, 2]]
    crossing = module._candidate_spans(5, np.array([0, 0, 2]), np.array([5, 3, 5]), np.array([False, True, True]))
    assert [own.tolist() for own in np.split(crossing.gaps, crossing.first[1:])] == [[0, 1, 2, 3], [0, 1], [2, 3]]
