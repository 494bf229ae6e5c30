"""Scores of predictions: strict, overall and broken down, with intervals, mistakes and significance.

found = evaluate("test.jsonl", "predicted.jsonl")
found.overall.f1, found.intervals["all"].f1, found.figures()["depth ≥ 1"].recall
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.evaluation.evaluator import Evaluator
from nestag.evaluation.matching import By, Pair, matched
from nestag.evaluation.result import Evaluation, Score, by_type, macro, score, spread, total
from nestag.evaluation.significance import compare
from nestag.formats.corpus import CorpusFile, CorpusSource, corpus_of, path_of, reread
from nestag.formats.files import is_stream

Predicted = CorpusSource | Iterable[Collection[Entity]]
"""Sentences with predicted entities, or the entities of each gold sentence alone."""


def evaluate(
    gold: CorpusSource,
    predicted: Predicted,
    train: CorpusSource | None = None,
    by: By = "auto",
    against: Predicted | None = None,
) -> Evaluation:
    """Score predicted entities against gold; both are files, or sentences, the predicted ones also entities alone.

    With the training corpus, seen and unseen entities are scored separately. `by` says how sentences are matched: in
    `order`, by `id`, or `auto`: in order, and by id where ids differ. With another prediction to compare `against`,
    `comparison` says whether the two differ significantly.

    >>> gold = [Sentence(["the", "USA"], [Entity(0, 2, "GPE")])]
    >>> evaluate(gold, [[Entity(0, 2, "GPE"), Entity(1, 2, "GPE")]]).overall.precision
    0.5
    """
    right, guess, teacher, other = (
        None if one is None else corpus_of(one) for one in (gold, predicted, train, against)
    )
    assert right is not None
    _refuse_one_pipe_twice(right, guess, teacher, other)
    if against is not None or isinstance(right, Iterator):
        right = reread(right)
    judge = Evaluator(teacher)
    judge.see(_pairs(right, guess, by))
    if other is None:
        return judge.result()
    second = Evaluator()
    second.see(_pairs(right, other, by))
    return replace(judge.result(), comparison=compare(judge.counts(), second.counts()))


def _pairs(gold: Iterable[Sentence], predicted: Any, by: By) -> Iterator[Pair]:
    names = path_of(gold, "gold"), path_of(predicted, "predicted")
    return matched(gold, _predicted(predicted, gold), by, names)


def _predicted(given: Iterable[Sentence | Collection[Entity]], gold: Iterable[Sentence]) -> Iterator[Sentence]:
    """The predicted sentences; entities alone are those of the gold sentence in the same place."""
    rows = iter(given)
    first = next(rows, None)
    if first is None:
        return
    if isinstance(first, Sentence):
        yield first
        yield from rows  # type: ignore[misc]
        return
    places = iter(gold)
    for row in chain([first], rows):
        right = next(places, None)
        if right is None:
            left = 1 + sum(1 for _ in rows)
            raise DataError(f"there are {left:,} more predictions than gold sentences; give one for each")
        yield right.with_entities(row)  # type: ignore[arg-type]


def _refuse_one_pipe_twice(*corpora: Iterable[Sentence] | None) -> None:
    pipes = [corpus for corpus in corpora if isinstance(corpus, CorpusFile) and is_stream(corpus.path)]
    paths = [corpus.path for corpus in pipes]
    for corpus in pipes:
        if paths.count(corpus.path) > 1:
            corpus.refuse_pipe()


__all__ = [
    "Evaluation",
    "Evaluator",
    "Pair",
    "Score",
    "by_type",
    "compare",
    "evaluate",
    "evaluate_pairs",
    "macro",
    "matched",
    "score",
    "spread",
    "total",
]
