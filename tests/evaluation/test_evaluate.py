"""`nestag.evaluate` with files, sentences, and entities."""

from pathlib import Path

import pytest

import nestag
from nestag import DataError, Entity, InputError, Sentence

GOLD = [
    Sentence(["the", "USA"], [Entity(0, 2, "GPE"), Entity(1, 2, "GPE")], "a"),
    Sentence(["Ada", "slept"], [Entity(0, 1, "PER")], "b"),
]
GUESSES = [[Entity(0, 2, "GPE")], [Entity(0, 1, "ORG")]]
PREDICTED = [sentence.with_entities(guess) for sentence, guess in zip(GOLD, GUESSES, strict=True)]


def test_files_sentences_and_entities_score_alike(tmp_path: Path) -> None:
    nestag.write_corpus(GOLD, tmp_path / "gold.jsonl")
    nestag.write_corpus(PREDICTED, tmp_path / "predicted.jsonl.gz")
    found = nestag.evaluate(GOLD, PREDICTED)
    assert (found.overall.correct, found.overall.predicted, found.overall.gold) == (1, 2, 3)
    assert nestag.evaluate(GOLD, GUESSES) == found
    assert nestag.evaluate(tmp_path / "gold.jsonl", str(tmp_path / "predicted.jsonl.gz")) == found
    assert nestag.evaluate(iter(GOLD), iter(GUESSES)) == found


def test_matching_by_id_and_seen_entities() -> None:
    found = nestag.evaluate(GOLD, PREDICTED[::-1], train=GOLD[:1])
    assert found.overall == nestag.evaluate(GOLD, PREDICTED).overall
    assert found.familiar["seen"].gold == 2
    assert found.familiar["unseen"].gold == 1
    with pytest.raises(InputError, match='match sentences with by="id"'):
        nestag.evaluate(GOLD, PREDICTED[::-1], by="order")


def test_wrong_number_of_predictions_is_refused() -> None:
    with pytest.raises(InputError, match="predicted ends after sentence 1"):
        nestag.evaluate(GOLD, GUESSES[:1])
    with pytest.raises(DataError, match="2 more predictions than gold sentences"):
        nestag.evaluate(GOLD, [*GUESSES, [], []])
