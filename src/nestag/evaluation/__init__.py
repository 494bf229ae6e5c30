"""Evaluation of predictions: strict scores, overall and broken down, with intervals, mistakes and significance.

result = evaluate("test.jsonl", "predicted.jsonl")
result.overall.f1, result.intervals["all"].f1, result.figures()["depth ≥ 1"].recall
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.evaluation.evaluator import Evaluator
from nestag.evaluation.matching import By, Pair, match_sentences
from nestag.evaluation.result import Evaluation, Score, score
from nestag.evaluation.significance import compare
from nestag.formats.corpus import CorpusFile, CorpusSource, corpus_of, path_of, reread
from nestag.formats.files import is_stream

Predicted = CorpusSource | Iterable[Collection[Entity]]
"""Sentences with predicted entities, or only the entities of each gold sentence."""


def evaluate(
    gold: CorpusSource,
    predicted: Predicted,
    train: CorpusSource | None = None,
    by: By = "auto",
    against: Predicted | None = None,
) -> Evaluation:
    """Score predicted entities against gold, overall and broken down, with 95% intervals.

    `gold` and `predicted` are files or sentences; `predicted` may also be the entities of each gold sentence. With the
    training corpus, seen and unseen entities are scored separately. `by` chooses how sentences are matched: in `order`,
    by `id`, or `auto`: in order, or by id if ids differ. With another prediction to compare `against`, `comparison`
    has the significance of the difference.

    >>> gold = [Sentence(["the", "USA"], [Entity(0, 2, "GPE")])]
    >>> evaluate(gold, [[Entity(0, 2, "GPE"), Entity(1, 2, "GPE")]]).overall.precision
    0.5
    """
    truth, prediction, training, other = (
        None if source is None else corpus_of(source) for source in (gold, predicted, train, against)
    )
    assert truth is not None
    _refuse_one_pipe_twice(truth, prediction, training, other)
    if against is not None or isinstance(truth, Iterator):
        truth = reread(truth)
    evaluator = Evaluator(training)
    evaluator.see(_pairs(truth, prediction, by))
    if other is None:
        return evaluator.result()
    second = Evaluator()
    second.see(_pairs(truth, other, by))
    return replace(evaluator.result(), comparison=compare(evaluator.counts(), second.counts()))


def _pairs(gold: Iterable[Sentence], predicted: Any, by: By) -> Iterator[Pair]:
    names = path_of(gold, "gold"), path_of(predicted, "predicted")
    return match_sentences(gold, _as_sentences(predicted, gold), by, names)


def _as_sentences(rows: Iterable[Sentence | Collection[Entity]], gold: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield predicted sentences; a row of entities gets the tokens of the gold sentence at the same place."""
    rows = iter(rows)
    sentences = chain.from_iterable([gold])  # which opens a file only if a sentence is needed
    for row in rows:
        if isinstance(row, Sentence):
            yield row
        elif (sentence := next(sentences, None)) is not None:
            yield sentence.with_entities(row)
        else:
            left = 1 + sum(1 for _ in rows)
            raise DataError(f"there are {left:,} more predictions than gold sentences; give one for each")


def _refuse_one_pipe_twice(*corpora: Iterable[Sentence] | None) -> None:
    pipes = [corpus for corpus in corpora if isinstance(corpus, CorpusFile) and is_stream(corpus.path)]
    for pipe in pipes:
        if sum(other.path == pipe.path for other in pipes) > 1:
            pipe.refuse_pipe()


__all__ = ["Evaluation", "Score", "evaluate", "score"]
