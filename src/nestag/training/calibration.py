"""Calibration: settings that are fitted on held-out sentences after training.

- The temperature. Networks are overconfident. Scores are divided by one number before confidences are computed, which
  changes no order and corrects most of that. The temperature minimizes the negative log-likelihood on dev.
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
    without_crossing,
)
from nestag.model.engine import ChunkScores
from nestag.model.predictor import Settings
from nestag.model.recognizer import NestedNER

TEMPERATURES = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0)
THRESHOLDS = np.arange(0.1, 0.72, 0.02).round(2).tolist()
NEARBY = 4
"""Thresholds on each side whose F1 counts too: where dev is small, the best one alone is a matter of luck."""

LEAST_LIKELY = 0.05
"""Spans with a lower probability do not count; they are many, and most are easy."""

SAMPLE = 2_000
"""Maximum sentences used for calibration."""

CHUNK = 250
"""Sentences whose scores are in memory at the same time."""

MOST_CERTAIN = 1 - 1e-6
"""No probability counts as higher, because one mistake would outweigh everything."""


def calibrated(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Settings:
    """Return a recognizer's settings with the temperature, and the threshold of spans, that suit held-out sentences."""
    sample = evenly_sampled(sentences)
    settings = recognizer.settings
    if settings.decoding != "spans":
        return replace(settings, temperature=temperature_for(recognizer, sample))
    seen = list(_candidates(recognizer, sample))
    temperature = _best_temperature(seen, lambda spans, value: _tempered(spans.table, value))
    gold = sum(len(set(sentence.entities)) for sentence in sample)
    f1 = [_f1(seen, gold, temperature, threshold) for threshold in THRESHOLDS]
    return replace(settings, temperature=temperature, span_threshold=THRESHOLDS[int(np.argmax(smoothed(f1)))])


def evenly_sampled(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return a sample of the sentences at even intervals."""
    return sentences[:: max(1, -(-len(sentences) // SAMPLE))]


class _HeldOut(NamedTuple):
    """Entities found in held-out sentences, and which of them are correct."""

    scores: Scores
    table: EntityTable
    right: Bools


def temperature_for(recognizer: NestedNER, sentences: Sequence[Sentence]) -> float:
    """Return the temperature of the labels' scores that suits sentences with their true entities."""

    def probabilities(held_out: _HeldOut, temperature: float) -> Floats:
        return confidences(recognizer.vocabulary, held_out.scores, held_out.table, Search(temperature=temperature))

    return _best_temperature(list(_decoded(recognizer, sentences)), probabilities)


def _best_temperature(seen: Sequence[_HeldOut], probabilities: Callable[[_HeldOut, float], Floats]) -> float:
    """Return the temperature with the lowest negative log-likelihood; 1 if there are no entities."""

    def loss(temperature: float) -> float:
        total = 0.0
        for held_out in seen:
            sure = np.clip(probabilities(held_out, temperature), 1 - MOST_CERTAIN, MOST_CERTAIN)
            total -= float(np.log(np.where(held_out.right, sure, 1 - sure)).sum())
        return total

    return min(TEMPERATURES, key=loss) if any(len(held_out.right) for held_out in seen) else 1.0


def _chunks(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[tuple[Sequence[Sentence], ChunkScores]]:
    """Stream the sentences with their scores, some at a time."""
    for first in range(0, len(sentences), CHUNK):
        chunk = sentences[first : first + CHUNK]
        yield chunk, recognizer.scores([s.tokens for s in chunk], [document_of(s) for s in chunk])


def _checked(recognizer: NestedNER, scores: ChunkScores) -> Scores:
    return Scores.of(recognizer.vocabulary, scores.n, scores.c, scores.u, scores.lengths)


def _decoded(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[_HeldOut]:
    """Stream the entities of the labels."""
    settings = recognizer.settings
    assert settings.decoding != "spans"
    for chunk, scores in _chunks(recognizer, sentences):
        checked = _checked(recognizer, scores)
        table = decode_scores(recognizer.vocabulary, *checked, settings.decoding, settings.node_label_strategy)
        yield _HeldOut(checked, table, _right(table, chunk))


def _candidates(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[_HeldOut]:
    """Stream all spans of the grid that are not improbable."""
    settings = replace(recognizer.settings, return_candidates=True, temperature=1.0)
    searching = NestedNER(recognizer.model, recognizer.tokenizer, recognizer.vocabulary, settings)
    for chunk, scores in _chunks(searching, sentences):
        assert scores.spans is not None
        checked = _checked(recognizer, scores)
        table = grid_entities(SpanBatch(recognizer.vocabulary, scores.spans, checked), LEAST_LIKELY)
        yield _HeldOut(checked, table, _right(table, chunk))


def _right(table: EntityTable, sentences: Sequence[Sentence]) -> Bools:
    pairs = zip(sentences, table.to_lists(), strict=True)
    return np.array([entity in set(s.entities) for s, entities in pairs for entity in entities], dtype=bool)


def _tempered(table: EntityTable, temperature: float) -> Floats:
    """Return the probabilities of a table at a temperature."""
    assert table.confidence is not None
    odds = np.clip(table.confidence, 1 - MOST_CERTAIN, MOST_CERTAIN)
    tempered: Floats = 1 / (1 + ((1 - odds) / odds) ** (1 / temperature))
    return tempered


def _f1(seen: Sequence[_HeldOut], gold: int, temperature: float, threshold: float) -> float:
    """Return the F1 of the spans that reach a threshold."""
    predicted = right = 0
    for _, table, correct in seen:
        probability = _tempered(table, temperature)
        rows = probability >= threshold
        kept = without_crossing(table.at(rows), probability[rows])
        predicted, right = predicted + int(kept.sum()), right + int(correct[rows][kept].sum())
    return 2 * right / max(1, gold + predicted)


def smoothed(values: Sequence[float]) -> Floats:
    """Return the mean of each value and those nearby; the ends are repeated.

    >>> smoothed([0.0, 9.0, 0.0, 0.0, 0.0, 0.0]).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    width = 2 * NEARBY + 1
    means: Floats = np.convolve(np.pad(values, NEARBY, mode="edge"), np.full(width, 1 / width), "valid")
    return means
