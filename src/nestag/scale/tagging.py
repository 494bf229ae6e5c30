"""Tagging: rows as they are read -> the same rows and their entities as columns.

The engine takes sentences and gives back tables of entities, chunk by chunk. A row of words is one sentence, a text may
be any number of them. Here the tables are put together again row by row; no object is made for an entity but its text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, repeat
from typing import Any, NamedTuple

import numpy as np

from nestag.arrays import Floats, Ints
from nestag.chunks import Item
from nestag.corpora.format import Options
from nestag.corpora.segment import Offsets, segments
from nestag.decoding import EntityTable
from nestag.predictor import Predictor
from nestag.scale.job import Job
from nestag.scale.rows import RowBatch

DECIMALS = 4
"""Of confidences."""


class EntityColumns(NamedTuple):
    """The entities of some rows as columns, by row and then outermost first."""

    row: Ints  # counted from the first of these rows
    start: Ints  # of characters of a text, or of words
    end: Ints
    type: Ints  # a place in `types`
    confidence: Floats
    text: list[str]
    types: tuple[str, ...]

    def cut(self, row: int) -> tuple[EntityColumns, EntityColumns]:
        """The entities before a row, and the others, whose rows are counted from there."""
        at = int(np.searchsorted(self.row, row))
        return self._piece(slice(at), 0), self._piece(slice(at, None), row)

    def _piece(self, part: slice, first: int) -> EntityColumns:
        return EntityColumns(
            self.row[part] - first, self.start[part], self.end[part], self.type[part], self.confidence[part],
            self.text[part], self.types,
        )  # fmt: skip

    def followed_by(self, other: EntityColumns) -> EntityColumns:
        """These entities and then those of rows that do not come before."""
        return EntityColumns(
            np.concatenate([self.row, other.row]),
            np.concatenate([self.start, other.start]),
            np.concatenate([self.end, other.end]),
            np.concatenate([self.type, other.type]),
            np.concatenate([self.confidence, other.confidence]),
            self.text + other.text,
            other.types,
        )

    def counts(self, rows: int) -> Ints:
        """Entities of each of so many rows."""
        return np.bincount(self.row, minlength=rows)


_NO_INTS = np.zeros(0, dtype=np.int64)
NOTHING = EntityColumns(_NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, np.zeros(0), [], ())


def tagged(predictor: Predictor, batches: Iterable[RowBatch], job: Job) -> Iterator[tuple[RowBatch, EntityColumns]]:
    """The batches with the entities found in their rows, as they stream by."""
    waiting: deque[RowBatch] = deque()

    def values() -> Iterator[Any]:
        for batch in batches:
            waiting.append(batch)  # before any of its rows can come out
            yield from batch.values

    options = job.options_for(predictor.settings.reading)
    items, columns = (word_items(values()), _in_words) if job.tokens else (sentence_items(values(), options), _in_texts)
    begun = 0  # rows before the first batch that waits
    held = NOTHING
    for found, table in predictor.engine().run(items, confidence=True):
        held = held.followed_by(columns(found, table, begun))
        ended = _row(found[-1]) + bool(job.tokens)  # a text may go on in the next chunk
        while waiting and ended >= begun + (size := len(waiting[0].values)):
            own, held = held.cut(size)
            yield waiting.popleft(), own
            begun += size
    for batch in waiting:  # texts that end here, and rows of which none was good
        own, held = held.cut(len(batch.values))
        yield batch, own


class _SentencePlace(NamedTuple):
    """Where the words of a sentence stand."""

    row: int
    text: str
    words: Sequence[Offsets]


def word_items(rows: Iterable[list[str]]) -> Iterator[Item]:
    """Rows of words, each of them a sentence."""
    return map(Item, rows, repeat(""), count())


def sentence_items(texts: Iterable[str], options: Options) -> Iterator[Item]:
    """The sentences of texts; a text is a document, and one without words has none."""
    for row, text in enumerate(texts):
        for words in segments(text, options):
            yield Item([text[start:end] for start, end in words], str(row), _SentencePlace(row, text, words))


def _row(item: Item) -> int:
    return item.source if isinstance(item.source, int) else item.source.row


def _in_words(items: Sequence[Item], table: EntityTable, first: int) -> EntityColumns:
    """Entities as words of their rows."""
    assert table.confidence is not None
    places = zip(table.sentence.tolist(), table.start.tolist(), table.end.tolist(), strict=True)
    texts = [" ".join(items[row].tokens[start:end]) for row, start, end in places]
    row = table.sentence + (_row(items[0]) - first)  # every row is one item
    return EntityColumns(row, table.start, table.end, table.type, _rounded(table.confidence), texts, table.types)


def _in_texts(items: Sequence[Item], table: EntityTable, first: int) -> EntityColumns:
    """Entities as characters of their texts."""
    assert table.confidence is not None
    places = [items[sentence].source for sentence in table.sentence.tolist()]
    row = np.array([place.row - first for place in places], dtype=np.int64)
    start = [place.words[word][0] for place, word in zip(places, table.start.tolist(), strict=True)]
    end = [place.words[word - 1][1] for place, word in zip(places, table.end.tolist(), strict=True)]
    texts = [place.text[a:b] for place, a, b in zip(places, start, end, strict=True)]
    starts, ends = np.array([start, end], dtype=np.int64)
    return EntityColumns(row, starts, ends, table.type, _rounded(table.confidence), texts, table.types)


def _rounded(confidence: Floats) -> Floats:
    return np.round(confidence, DECIMALS)
