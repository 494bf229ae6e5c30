"""Calibration: settings that are fitted on held-out sentences after training.

- The temperature. Networks are overconfident. Dividing the scores by one number before confidences are computed
  corrects most of that and changes no order. The temperature minimizes the negative log-likelihood on dev.
- The threshold of the span grid: the one around which F1 is best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Floats
from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.decoding import (
    EntityTable,
    Scores,
    Search,
    SpanBatch,
    confidences,
    decode_scores,
    grid_entities,
    node_probabilities,
    without_crossing,
)
from nestag.model.recognizer import NestedNER
from nestag.model.settings import Settings

TEMPERATURES = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0)
THRESHOLDS = np.arange(0.1, 0.72, 0.02).round(2).tolist()
NEARBY = 4  # thresholds on each side whose F1 is averaged: on a small dev, the best one alone is a matter of luck
MIN_PROBABILITY = 0.05  # spans with a lower one are ignored; they are many, and most are easy
MAX_PROBABILITY = 1 - 1e-6  # higher ones are clipped, because one mistake would outweigh everything
SAMPLE = 2_000  # sentences used for calibration, at most
CHUNK = 250  # sentences whose scores are in memory at the same time


class _Predictions(NamedTuple):
    """Entities predicted in a chunk of held-out sentences, and which of them are correct."""

    scores: Scores
    table: EntityTable
    correct: Bools

    def select(self, rows: Bools) -> _Predictions:
        """Return some of the entities."""
        return self._replace(table=self.table.at(rows), correct=self.correct[rows])


def calibrate(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Settings:
    """Return the settings of a recognizer with the temperature and span threshold that suit held-out sentences."""
    sample = sentences[:: max(1, -(-len(sentences) // SAMPLE))]
    settings, vocabulary = recognizer.settings, recognizer.vocabulary
    chunks = list(_predict(recognizer, sample))
    if settings.decoding != "spans":
        temperature = _best_temperature(
            chunks, lambda chunk, value: confidences(vocabulary, chunk.scores, chunk.table, Search(temperature=value))
        )
        return replace(settings, temperature=temperature)
    temperature = _best_temperature(chunks, lambda chunk, value: _scale(chunk.table, value))
    if least := settings.min_node_probability:
        search = Search(temperature=temperature)
        chunks = [
            chunk.select(node_probabilities(vocabulary, chunk.scores, chunk.table, search) >= least) for chunk in chunks
        ]
    gold = sum(len(set(sentence.entities)) for sentence in sample)
    f1 = [_f1(chunks, gold, temperature, threshold) for threshold in THRESHOLDS]
    return replace(settings, temperature=temperature, span_threshold=THRESHOLDS[int(np.argmax(smooth(f1)))])


def _predict(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[_Predictions]:
    """Stream the entities of the labels, or all spans of the grid that are not improbable."""
    vocabulary, settings = recognizer.vocabulary, recognizer.settings
    if settings.decoding == "spans":
        candidates = replace(settings, return_candidates=True, temperature=1.0)
        recognizer = NestedNER(recognizer.model, recognizer.tokenizer, vocabulary, candidates)
    for first in range(0, len(sentences), CHUNK):
        chunk = sentences[first : first + CHUNK]
        output = recognizer.scores([s.tokens for s in chunk], [document_of(s) for s in chunk])
        scores = Scores.of(vocabulary, output.n, output.c, output.u, output.lengths)
        if settings.decoding == "spans":
            assert output.spans is not None
            table = grid_entities(SpanBatch(vocabulary, output.spans, scores), MIN_PROBABILITY)
        else:
            table = decode_scores(vocabulary, *scores, settings.decoding, settings.node_label_strategy)
        pairs = zip(chunk, table.to_lists(), strict=True)
        correct = [entity in set(s.entities) for s, entities in pairs for entity in entities]
        yield _Predictions(scores, table, np.array(correct, dtype=bool))


def _best_temperature(chunks: Sequence[_Predictions], probabilities: Callable[[_Predictions, float], Floats]) -> float:
    """Return the temperature with the lowest negative log-likelihood; 1 if there are no entities."""

    def loss(temperature: float) -> float:
        total = 0.0
        for chunk in chunks:
            probability = np.clip(probabilities(chunk, temperature), 1 - MAX_PROBABILITY, MAX_PROBABILITY)
            total -= float(np.log(np.where(chunk.correct, probability, 1 - probability)).sum())
        return total

    return min(TEMPERATURES, key=loss) if any(len(chunk.correct) for chunk in chunks) else 1.0


def _scale(table: EntityTable, temperature: float) -> Floats:
    """Return the probabilities of a table at a temperature."""
    assert table.confidence is not None
    probability = np.clip(table.confidence, 1 - MAX_PROBABILITY, MAX_PROBABILITY)
    scaled: Floats = 1 / (1 + ((1 - probability) / probability) ** (1 / temperature))
    return scaled


def _f1(chunks: Sequence[_Predictions], gold: int, temperature: float, threshold: float) -> float:
    """Return the F1 of the spans that reach a threshold."""
    predicted = correct = 0
    for chunk in chunks:
        probability = _scale(chunk.table, temperature)
        rows = probability >= threshold
        nested = without_crossing(chunk.table.at(rows), probability[rows])
        predicted, correct = predicted + int(nested.sum()), correct + int(chunk.correct[rows][nested].sum())
    return 2 * correct / max(1, gold + predicted)


def smooth(values: Sequence[float]) -> Floats:
    """Return the mean of each value and those nearby; the ends are repeated.

    >>> smooth([0.0, 9.0, 0.0, 0.0, 0.0, 0.0]).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    width = 2 * NEARBY + 1
    means: Floats = np.convolve(np.pad(values, NEARBY, mode="edge"), np.full(width, 1 / width), "valid")
    return means
