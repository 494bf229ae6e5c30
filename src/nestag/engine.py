"""The engine: tokens in, entities out. It is the only way from words to entities.

Three stages overlap: sentences are laid out as arrays, the encoder scores them, and the scores are decoded. What comes
out does not depend on how the sentences were cut into chunks or batches.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nestag.chunks import Chunk, Item, chunks
from nestag.decoding import Decoding, EntityTable, Search, decode_scores, filter_entities
from nestag.pipeline import overlapped
from nestag.subwords import Arrays, Layout, LayoutMaker, batches
from nestag.subwords.words import Ints
from nestag.vocabulary import Vocabulary

CHUNK = 2_000
"""Sentences that are sorted by length and tagged together; more would only cost memory."""

Floats = NDArray[np.float32]


class Scorer(Protocol):
    """Whatever scores words: torch's tagger, or the same from ONNX."""

    sizes: tuple[int, int, int]
    batch_subwords: int

    def __call__(self, arrays: Arrays, row: Ints, column: Ints) -> tuple[Floats, Floats, Floats]:
        """The log-probabilities of the three heads for the words at these rows and columns of a batch."""
        ...


class LaidOut(NamedTuple):
    """A chunk as arrays, with the windows whose words are to be tagged, batch by batch."""

    layout: Layout
    chunk: Chunk
    batches: list[Ints]


class ChunkScores(NamedTuple):
    """The scores of a chunk's sentences, the sentences one after the other."""

    n: Floats  # words x labels
    c: Floats
    u: Floats
    lengths: Ints
    items: list[Item]


class Found(NamedTuple):
    """The sentences of a chunk and their entities."""

    items: list[Item]
    table: EntityTable


class Engine:
    """Layout, encoder and decoding as overlapping stages."""

    def __init__(
        self,
        scorer: Scorer,
        maker: LayoutMaker,
        vocabulary: Vocabulary,
        decoding: Decoding,
        search: Search,
        threshold: float = 0.0,
        thresholds: dict[str, float] | None = None,
        chunk_size: int = CHUNK,
    ) -> None:
        """Entities under `threshold`, or under that of their type, are left out."""
        self.scorer, self.maker, self.vocabulary = scorer, maker, vocabulary
        self.decoding, self.search = decoding, search
        self.threshold, self.thresholds = threshold, thresholds or {}
        self.chunk_size = chunk_size

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[Found]:
        """The entities of each chunk of sentences, in order."""

        def decode(scores: ChunkScores) -> Found:
            return self.decode(scores, confidence)

        found = chunks(items, self.chunk_size, self.maker.context)
        head = list(itertools.islice(found, 2))
        if len(head) < 2:  # nothing to overlap with
            yield from (decode(self.score(self.lay_out(chunk))) for chunk in head)
            return
        yield from overlapped(itertools.chain(head, found), self.lay_out, self.score, decode)

    def lay_out(self, chunk: Chunk) -> LaidOut:
        """The first stage: words -> subwords -> windows -> batches of windows."""
        layout = self.maker.lay_out(chunk.tokens, chunk.documents)
        sentence = layout.windows.sentence
        own = np.flatnonzero((sentence >= chunk.first) & (sentence < chunk.last))
        found = batches(layout.windows.sizes[own], self.scorer.batch_subwords)
        return LaidOut(layout, chunk, [own[batch] for batch in found])

    def score(self, laid_out: LaidOut) -> ChunkScores:
        """The second stage: the three heads' log-probabilities for every word to be tagged."""
        layout, chunk, found = laid_out
        subwords = layout.subwords
        first, last = subwords.word_offsets[[chunk.first, chunk.last]]
        heads = tuple(np.zeros((int(last - first), size), dtype=np.float32) for size in self.scorer.sizes)
        for batch in found:
            row, column, word = layout.kept(batch)
            for head, values in zip(heads, self.scorer(layout.arrays(batch), row, column), strict=True):
                head[word - first] = values
        n, c, u = heads
        return ChunkScores(n, c, u, subwords.lengths[chunk.first : chunk.last], chunk.own)

    def decode(self, scores: ChunkScores, confidence: bool = False) -> Found:
        """The third stage: scores -> entities."""
        thresholded = bool(self.threshold or self.thresholds)
        n, c, u, lengths, items = scores
        table = decode_scores(
            self.vocabulary, n, c, u, lengths, self.decoding, confidence=confidence or thresholded, search=self.search
        )
        return Found(items, filter_entities(table, self.threshold, self.thresholds) if thresholded else table)
