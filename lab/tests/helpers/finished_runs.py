"""Finished runs: minimal ones with the counts that a test needs, and complete ones of a few sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import Evaluation, Mistakes, Score
from nestag.evaluation.thresholds import Candidate, calibration
from nestag.training.plan import Scoring
from nestag_lab.experiment.result import Key, RunResult

NO_SCORES: Mapping[int, Score] = {}


def percent(share: float) -> Score:
    """Return a score with this precision and recall in percent."""
    return Score.of(round(100 * share), 10_000, 10_000)


def evaluation(
    overall: Score,
    types: Mapping[str, Score] | None = None,
    depths: Mapping[int, Score] = NO_SCORES,
    lengths: Mapping[int, Score] = NO_SCORES,
    same_depth: Mapping[int, Score] = NO_SCORES,
) -> Evaluation:
    """Return an evaluation with some of its scores."""
    parts = dict(types or {}), dict(depths), dict(lengths)
    return Evaluation(1, overall, *parts, {}, {}, dict(same_depth), Mistakes(), {})


def result(
    corpus: str = "genia",
    encoding: str = "abs",
    seed: int = 1,
    f1: float = 75.0,
    test: Mapping[str, Evaluation] | None = None,
    dev: Mapping[str, Evaluation] | None = None,
    recipe: str = "default",
) -> RunResult:
    """Return a run with an F1 in percent, greedy on test, or with whole evaluations."""
    evaluations = {"test": dict(test) if test is not None else {"greedy-first": evaluation(percent(f1))}}
    if dev is not None:
        evaluations["dev"] = dict(dev)
    key = Key(corpus, "minilm", encoding, recipe, seed)
    return RunResult(key, {}, (), 60.0, 22_713_216, "one CPU", {}, evaluations, {})


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
    """Return a run with evaluations on dev and test, both decodings, scorings and calibration; seeds differ."""
    found = {"greedy-first": judged(3 + seed % 5), "constrained": judged(2 + seed % 5)}
    scorings = tuple(Scoring(50 * n, 2.0 / (n + seed), Score.of(n, 10, 10), 20.0 * n) for n in range(1, 4))
    rated = calibration(Candidate("", number / 20, number % 20 < 9 + seed) for number in range(20))
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
