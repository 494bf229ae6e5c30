"""Finished runs with something of everything, judged from a few sentences, for what shows whole experiments."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from finished_runs import result
from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import Evaluation, Score
from nestag.evaluation.thresholds import Rated, calibration
from nestag.training.plan import Scoring
from nestag_lab.experiment.result import RunResult

WORDS = ("the", "head", "of", "the", "bank", "of", "the", "city", "spoke", "to", "them", "in", "Oslo")
GOLD = (
    Entity(0, 8, "PER"),
    Entity(3, 8, "ORG"),
    Entity(6, 8, "GPE"),
    Entity(10, 11, "PER"),
    Entity(12, 13, "GPE"),
)
GUESSES = (
    GOLD[:3],  # two missed
    (*GOLD[1:3], Entity(0, 9, "PER"), Entity(10, 11, "ORG"), Entity(11, 12, "PER")),  # boundary, type, spurious, missed
    (*GOLD[:4], Entity(11, 13, "ORG")),  # boundary and type
)


@cache
def judged(worse: int) -> Evaluation:
    """Ten sentences, of which so many are wrong in some way."""
    gold = [Sentence(WORDS, GOLD, str(number)) for number in range(10)]
    guesses = [GUESSES[number % 3] if number < worse else GOLD for number in range(10)]
    pairs = [Pair(right, right.with_entities(guess)) for right, guess in zip(gold, guesses, strict=True)]
    return evaluate_pairs(pairs, train=gold[:1])


def whole(corpus: str = "genia", encoding: str = "rel", seed: int = 1, recipe: str = "default") -> RunResult:
    """A run with evaluations on dev and test, both decodings, scorings and calibration; seeds differ."""
    found = {"greedy-first": judged(3 + seed % 5), "constrained": judged(2 + seed % 5)}
    scorings = tuple(Scoring(50 * n, 2.0 / (n + seed), Score.of(n, 10, 10), 20.0 * n) for n in range(1, 4))
    rated = calibration(Rated(number / 20, number % 20 < 9 + seed) for number in range(20))
    plain = result(corpus, encoding, seed, test=found, dev=found, recipe=recipe)
    return replace(
        plain,
        scorings=scorings,
        calibration={"dev": rated, "test": rated},
        versions={"torch": "2.7.1", "nestag": "1.0"},
    )


def grid(corpora: int, seeds: int) -> list[RunResult]:
    """Whole runs of all encodings."""
    names = [f"corpus{number}" for number in range(corpora)]
    return [
        whole(corpus, encoding, seed)
        for corpus in names
        for encoding in ("abs", "rel", "dyn", "4tg")
        for seed in range(1, seeds + 1)
    ]
