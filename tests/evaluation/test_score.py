"""Scores from counts, including groups whose correct gold and predicted entities differ."""

import pytest

from nestag.data.sentence import Entity
from nestag.evaluation.result import Score, macro, score, total


def test_a_share_of_nothing_is_zero() -> None:
    assert (Score().precision, Score().recall, Score().f1) == (0, 0, 0)
    assert (Score.of(0, 5, 0).precision, Score.of(0, 0, 5).recall) == (0, 0)
    assert (Score.of(1, 1, 1).precision, Score.of(1, 1, 1).recall, Score.of(1, 1, 1).f1) == (1, 1, 1)
    assert total([]) == Score()
    assert macro({}) == (0, 0, 0)


def test_precision_and_recall_have_separate_numerators() -> None:
    found = Score(correct=3, predicted=4, gold=10, found=5)
    assert (found.precision, found.recall) == (0.75, 0.5)
    assert found.f1 == pytest.approx(2 * 0.75 * 0.5 / (0.75 + 0.5))


def test_a_duplicate_counts_once_and_a_missing_sentence_is_noticed() -> None:
    gold = [[Entity(0, 1, "A"), Entity(0, 2, "B")], [Entity(0, 1, "A")]]
    predicted = [[Entity(0, 1, "A"), Entity(0, 1, "A"), Entity(1, 2, "C")], []]
    assert score(gold, predicted) == Score.of(1, 2, 3)
    with pytest.raises(ValueError, match="shorter"):
        score(gold, predicted[:1])
