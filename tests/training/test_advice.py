import numpy as np
import pytest

from nestag.evaluation import Score
from nestag.training.advice import advice
from nestag.training.plan import Scoring, plan_for
from nestag.training.recipe import Recipe


def told(scores: list[Score], sentences: int = 100, labels: int = 3) -> list[str]:
    plan = plan_for(Recipe(steps=40), np.full(sentences, 20), 10)
    scorings = [Scoring(step, 1.0, found, 0.0) for step, found in enumerate(scores, 1)]
    return list(advice(plan, max(scores, key=lambda score: score.f1), scorings, labels))


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (Score.of(0, 0, 6), "no entity was predicted in 40 steps; train longer: steps=600"),
        (Score.of(0, 9, 6), "although 9 entities were predicted"),
        (Score.of(0, 3, 0), "dev has no entities"),
    ],
)
def test_a_model_at_zero_says_why(last: Score, words: str) -> None:
    (line,) = told([last] * 3)
    assert words in line


def test_a_model_that_was_still_rising_says_so() -> None:
    rising = [Score.of(correct, 10, 10) for correct in range(1, 9)]
    (line,) = told(rising)
    assert "still rising" in line
    assert line.endswith(": steps=600")
    assert told([*rising, *[rising[-1]] * 4]) == []  # it had come to rest
    assert told([*rising, rising[0]]) == []


def test_more_labels_than_sentences() -> None:
    (line,) = told([Score.of(9, 10, 10)] * 4, sentences=20, labels=21)
    assert "more labels (21) than sentences (20)" in line
    assert told([Score.of(9, 10, 10)] * 4, sentences=21, labels=21) == []
