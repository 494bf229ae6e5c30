import numpy as np
import pytest

from nestag.evaluation import Score
from nestag.training.advice import advice
from nestag.training.plan import Scoring, plan_for
from nestag.training.recipe import Recipe


def lines(scores: list[Score], sentences: int = 100, labels: int = 3) -> list[str]:
    plan = plan_for(Recipe(steps=40), np.full(sentences, 20), 10)
    scorings = [Scoring(step, 1.0, score, 0.0) for step, score in enumerate(scores, 1)]
    return list(advice(plan, max(scores, key=lambda best: best.f1), scorings, labels))


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (Score.of(0, 0, 6), "no entity was predicted in 40 steps; train longer: steps=600"),
        (Score.of(0, 9, 6), "although 9 entities were predicted"),
        (Score.of(0, 3, 0), "dev has no entities"),
    ],
)
def test_advice_for_a_dev_f1_of_zero(last: Score, words: str) -> None:
    (line,) = lines([last] * 3)
    assert words in line


def test_advice_if_dev_f1_was_still_rising() -> None:
    rising = [Score.of(correct, 10, 10) for correct in range(1, 9)]
    (line,) = lines(rising)
    assert "still rising" in line
    assert line.endswith(": steps=600")
    assert lines([*rising, *[rising[-1]] * 4]) == []  # it no longer rises
    assert lines([*rising, rising[0]]) == []


def test_advice_for_more_labels_than_sentences() -> None:
    (line,) = lines([Score.of(9, 10, 10)] * 4, sentences=20, labels=21)
    assert "more labels (21) than sentences (20)" in line
    assert lines([Score.of(9, 10, 10)] * 4, sentences=21, labels=21) == []
