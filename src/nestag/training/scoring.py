"""How dev is scored: by entities, and by labels where these choose the best epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nestag.arrays import Ints
from nestag.corpora.document import document_of
from nestag.crossing import set_aside_crossing
from nestag.data import Sentence
from nestag.engine import ChunkScores
from nestag.evaluation import Score, score
from nestag.recognizer import NestedNER
from nestag.vocabulary import Vocabulary


class DevScore(NamedTuple):
    """What a model is worth on dev."""

    score: Score
    labels: float | None  # the sum of the three heads' accuracies, if somebody wants it


class DevScorer:
    """Scores a recognizer that is being trained."""

    def __init__(self, recognizer: NestedNER, dev: Sequence[Sentence], labels: bool) -> None:
        """With `labels`, the accuracies of the three heads are computed too, from the same scores."""
        self.recognizer, self.dev = recognizer, dev
        self.gold = [sentence.entities for sentence in dev]
        self.labels = _labels(recognizer.vocabulary, dev) if labels else None

    def __call__(self) -> DevScore:
        """Score the weights of now."""
        if self.labels is None:
            return DevScore(score(self.gold, self.recognizer.predict(self.dev)), None)
        scores = self.recognizer.scores([one.tokens for one in self.dev], [document_of(one) for one in self.dev])
        found = self.recognizer.engine().decode(scores).table.to_lists()
        return DevScore(score(self.gold, found), label_accuracy(scores, self.labels))


def label_accuracy(scores: ChunkScores, labels: Sequence[Ints]) -> float:
    """The shares of words whose best n, c and u are right, added, as MaChAmp adds them; an unseen label is wrong."""
    pairs = zip((scores.n, scores.c, scores.u), labels, strict=True)
    return sum(float(np.mean(head.argmax(axis=1) == wanted)) for head, wanted in pairs)


def _labels(vocabulary: Vocabulary, dev: Sequence[Sentence]) -> list[Ints]:
    """The label numbers of all words, one array a head; crossing entities are set aside."""
    nested = (sentence.with_entities(set_aside_crossing(sentence.annotated).kept) for sentence in dev)
    ids = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in nested]
    return [np.array([number for one in ids for number in one[head]], dtype=np.int64) for head in range(3)]
