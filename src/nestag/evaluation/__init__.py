"""Scores of predictions: strict, overall and broken down, with intervals, mistakes and significance.

found = evaluate("test.jsonl", "predicted.jsonl")
found.overall.f1, found.intervals["all"].f1, found.figures()["depth ≥ 1"].recall
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from nestag.corpora.corpus import read_corpus
from nestag.data import Entity, Sentence
from nestag.errors import DataError
from nestag.evaluation.judge import Judge, judged
from nestag.evaluation.matching import By, Pair, matched
from nestag.evaluation.result import Evaluation
from nestag.evaluation.score import Score, by_type, macro, score, spread, total
from nestag.evaluation.significance import compare

SentenceSource = str | Path | Iterable[Sentence]
"""A file, or its sentences."""


def evaluate(
    gold: SentenceSource,
    predicted: SentenceSource | Iterable[Collection[Entity]],
    train: SentenceSource | None = None,
    by: By = "auto",
) -> Evaluation:
    """Score predicted entities against gold; both are files, or sentences, the predicted ones also entities alone.

    With the training corpus, seen and unseen entities are scored separately. `by` says how sentences are matched: in
    `order`, by `id`, or `auto`: in order, and by id where ids differ.

    >>> gold = [Sentence(["the", "USA"], [Entity(0, 2, "GPE")])]
    >>> evaluate(gold, [[Entity(0, 2, "GPE"), Entity(1, 2, "GPE")]]).overall.precision
    0.5
    """
    right = _sentences(gold)
    names = _name(gold, "gold"), _name(predicted, "predicted")
    pairs = matched(right, _predicted(predicted, right), by, names)
    return judged(pairs, None if train is None else _sentences(train))


def _sentences(given: SentenceSource) -> list[Sentence]:
    return read_corpus(given) if isinstance(given, str | Path) else list(given)


def _predicted(given: SentenceSource | Iterable[Collection[Entity]], gold: Iterable[Sentence]) -> Iterator[Sentence]:
    """The predicted sentences; entities alone are those of the gold sentence in the same place."""
    rows: Iterator[Sentence | Collection[Entity]] = iter(read_corpus(given) if isinstance(given, str | Path) else given)
    place = iter(gold)
    for row in rows:
        right = next(place, None)
        if isinstance(row, Sentence):
            yield row
        elif right is None:
            left = 1 + sum(1 for _ in rows)
            raise DataError(f"there are {left:,} more predictions than gold sentences; give one for each")
        else:
            yield right.with_entities(row)


def _name(given: object, otherwise: str) -> str:
    return str(given) if isinstance(given, str | Path) else otherwise


__all__ = [
    "Evaluation",
    "Judge",
    "Pair",
    "Score",
    "by_type",
    "compare",
    "evaluate",
    "judged",
    "macro",
    "matched",
    "score",
    "spread",
    "total",
]
