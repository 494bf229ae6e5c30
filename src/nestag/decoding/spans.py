"""Decoding of a span grid: spans with probabilities -> entities that nest.

A span grid scores every span of up to W words. Entities are the spans above a threshold; of two that cross, the more
probable one stays. Entities that the grid cannot score, because they are longer, come from the labels and are kept if
they cross none of the others. With a small encoder, a cell sees little of the inside of a long span, so spans that are
improbable by the labels can be dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Floats, Floats32, Ints
from nestag.decoding.decode import confidences, decode_scores, node_probabilities
from nestag.decoding.entities import EntityTable, as_table
from nestag.decoding.scores import Scores, Search
from nestag.encodings.vocabulary import Vocabulary

MOST_SPANS = 4  # most probable spans per word to decode; a model that has learned nothing may find all probable


class SpanCells(NamedTuple):
    """Cells of a span grid; words are numbered through all sentences."""

    first: Ints  # the first word of each cell's span
    length: Ints  # its number of words
    type: Ints  # a row of the vocabulary's types
    logit: Floats32


class SpanScores(NamedTuple):
    """The best cells of a span grid for a batch of sentences."""

    cells: SpanCells
    limit: Ints  # of each word: the most words of a span from there that the grid has scored

    @classmethod
    def of(cls, batches: Sequence[SpanCells], limit: Ints) -> SpanScores:
        """Join the cells of some batches, without those that reach beyond their limits."""
        none = np.zeros(0, dtype=np.int64)
        empty = SpanCells(none, none, none, none.astype(np.float32))
        first, length, kind, logit = (np.concatenate(column) for column in zip(empty, *batches, strict=True))
        inside = length <= limit[first]
        return cls(SpanCells(first[inside], length[inside], kind[inside], logit[inside]), limit)


class SpanBatch(NamedTuple):
    """What spans are decoded from: the grid's cells, and the labels' scores for longer entities."""

    vocabulary: Vocabulary
    spans: SpanScores
    scores: Scores


def decode_spans(
    batch: SpanBatch, threshold: float, *, confidence: bool, search: Search, cross: bool = False
) -> EntityTable:
    """Return the entities of a batch; with `cross`, also those that cross more probable ones.

    Longer entities have a confidence of 0 unless `confidence` asks for theirs.
    """
    table = grid_entities(batch, threshold, search.temperature)
    if least := search.min_node_probability:
        table = table.at(node_probabilities(batch.vocabulary, batch.scores, table, search) >= least)
    longer = longer_entities(batch, search)
    if len(longer.start):
        table = _join(table, longer, batch.scores.lengths)
    assert table.confidence is not None
    if not cross:
        table = table.at(without_crossing(table, table.confidence))
    beyond = _is_longer(batch, table)
    if confidence and beyond.any() and table.confidence is not None:
        table.confidence[beyond] = confidences(batch.vocabulary, batch.scores, table.at(beyond), search)
    return table


def grid_entities(batch: SpanBatch, threshold: float, temperature: float = 1.0) -> EntityTable:
    """Return the spans of a grid that are at least as probable as the threshold."""
    spans, lengths = batch.spans.cells, batch.scores.lengths
    probability = 1 / (1 + np.exp(-np.clip(spans.logit.astype(np.float64) / temperature, -500, 500)))
    rows = np.flatnonzero(probability >= threshold)
    if len(rows) > (most := MOST_SPANS * int(lengths.sum())):
        rows = np.sort(rows[np.argsort(-probability[rows], kind="stable")[:most]])
    first, types = spans.first[rows], batch.vocabulary.types
    return as_table(first, first + spans.length[rows], spans.type[rows], types, lengths, probability[rows])


def longer_entities(batch: SpanBatch, search: Search) -> EntityTable:
    """Return the entities of the best labels that are longer than the grid has scored, with a confidence of 0."""
    lengths = batch.scores.lengths
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(int(lengths.sum()))  # words to the end of the sentence
    chosen = np.zeros(len(lengths), dtype=bool)
    chosen[batch.scores.sentence[batch.spans.limit < left]] = True
    n, c, u = (head[chosen[batch.scores.sentence]] for head in batch.scores[:3])
    table = decode_scores(batch.vocabulary, n, c, u, lengths[chosen], search=search)
    table = table._replace(sentence=np.flatnonzero(chosen)[table.sentence], sentences=len(lengths))
    table = table.at(_is_longer(batch, table))
    return table._replace(confidence=np.zeros(len(table.start)))


def _is_longer(batch: SpanBatch, table: EntityTable) -> Bools:
    """Return which entities are longer than the grid has scored."""
    limits = batch.spans.limit[batch.scores.first[table.sentence] + table.start]
    longer: Bools = table.end - table.start > limits
    return longer


def _join(grid: EntityTable, longer: EntityTable, lengths: Ints) -> EntityTable:
    first = np.cumsum(lengths) - lengths
    columns = [
        (first[table.sentence] + table.start, first[table.sentence] + table.end, table.type, table.confidence)
        for table in (grid, longer)
    ]
    start, end, kind, confidence = (np.concatenate(column) for column in zip(*columns, strict=True))
    return as_table(start, end, kind, grid.types, lengths, confidence)


def without_crossing(table: EntityTable, value: Floats) -> Bools:
    """Return which entities stay if, from the highest value down, each one that stays drops those that it crosses."""
    crossing: defaultdict[int, list[int]] = defaultdict(list)
    spans = list(zip(table.sentence.tolist(), table.start.tolist(), table.end.tolist(), strict=True))
    for row, (sentence, start, end) in enumerate(spans):
        for later in range(row + 1, len(spans)):  # those that begin inside it
            its_sentence, its_start, its_end = spans[later]
            if its_sentence != sentence or its_start >= end:
                break
            if start < its_start and end < its_end:
                crossing[row].append(later)
                crossing[later].append(row)
    stays = np.ones(len(value), dtype=bool)
    for row in sorted(crossing, key=lambda row: (-value[row], row)):
        if stays[row]:
            stays[crossing[row]] = False
    return stays
