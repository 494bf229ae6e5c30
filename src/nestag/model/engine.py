"""The engine: tokens in, entities out. It is the only way from words to entities.

Three stages: sentences are laid out as arrays, the encoder scores them, and the scores are decoded. A GPU computes
asynchronously, so while it scores a chunk, earlier ones are decoded in separate threads and the next one is laid out.
A CPU is busy with the encoder anyway; there one stage follows the other. The result does not depend on how the
sentences were cut into chunks or batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from nestag.data.arrays import Floats32, Ints
from nestag.decoding import (
    Decoding,
    EntityTable,
    Scores,
    Search,
    SpanBatch,
    SpanScores,
    candidate_entities,
    decode_scores,
    decode_spans,
    filter_entities,
)
from nestag.encodings.base import Naming
from nestag.encodings.vocabulary import Vocabulary
from nestag.model.windows import NOTHING, Arrays, Layout, LayoutMaker, batches

DECODERS = 2
"""Threads that decode while a GPU computes; more would wait for the interpreter."""

CHUNK, GPU_CHUNK = 2_000, 4_000
"""Sentences that are sorted by length and tagged together: more would only cost memory, but on a GPU more of them fill
its batches better and need fewer calls."""

LEAST = 0.01
"""Entities of less probability are never looked for: there are as many as there are spans."""


class Item(NamedTuple):
    """The tokens and the document of a sentence, and any value to return with its entities."""

    tokens: Sequence[str]
    document: str = ""  # its name, or "" if there is none
    source: Any = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Sentences to tag, with neighbouring sentences before and after them as context."""

    items: list[Item]
    first: int  # the first sentence to be tagged
    last: int  # the end of the sentences to be tagged

    @property
    def own(self) -> list[Item]:
        """The sentences to be tagged."""
        return self.items[self.first : self.last]


def chunks(items: Iterable[Item], size: int, context: int = 0) -> Iterator[Chunk]:
    """Split a stream into chunks of `size`, each with neighbours of at least `context` words from its documents.

    So the context of a sentence does not depend on where a chunk ends.
    """
    source = iter(items)
    waiting: list[Item] = []  # read, but not yet in a chunk
    before: list[Item] = []

    def following() -> Iterator[Item]:
        yield from waiting[size:]
        for item in source:
            waiting.append(item)
            yield item

    while waiting := waiting + list(islice(source, max(0, size - len(waiting)))):
        own = waiting[:size]
        after = _context(own[-1].document, following(), context)
        yield Chunk([*before, *own, *after], len(before), len(before) + len(own))
        before = _context(own[-1].document, reversed([*before, *own]), context)[::-1]
        waiting = waiting[size:]


def _context(document: str, neighbours: Iterator[Item], words: int) -> list[Item]:
    """Return the first neighbours of the same document that have enough words."""
    context: list[Item] = []
    while document and words > 0 and (item := next(neighbours, None)) and item.document == document:
        context.append(item)
        words -= len(item.tokens)
    return context


class Batch(NamedTuple):
    """Some windows for a scorer, and which of their words are wanted."""

    arrays: Arrays
    row: Ints  # of each wanted word, in the batch
    column: Ints  # of each wanted word, in the batch
    word: Ints  # of each wanted word: its number in the chunk

    @property
    def remaining(self) -> Ints:
        """The number of words from each wanted word to the end of its window."""
        words: Ints = np.count_nonzero(self.arrays.shape != NOTHING, axis=1)
        return words[self.row] - self.column


class Heads(NamedTuple):
    """What a scorer says of the words of a chunk."""

    n: Floats32  # log-probabilities: words x labels
    c: Floats32
    u: Floats32
    spans: SpanScores | None = None  # the probable spans, if a span grid scores them


class Scorer(Protocol):
    """Whatever scores words: torch's tagger, or the same from ONNX."""

    sizes: tuple[int, int, int]
    batch_subwords: int
    ahead: int  # chunks that may wait to be decoded while others are computed; 0 if nothing is computed asynchronously
    reach: int | None  # words on each side of a word that are looked at above the encoder; None if that is not known

    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Begin to score the words of a chunk; the function returned waits for the scores."""
        ...


class LaidOut(NamedTuple):
    """A chunk as arrays, with the windows whose words are to be tagged, batch by batch."""

    layout: Layout
    chunk: Chunk
    batches: list[Ints]

    @property
    def lengths(self) -> Ints:
        """Words of each sentence to be tagged."""
        return self.layout.subwords.lengths[self.chunk.first : self.chunk.last]

    def prepared(self) -> Iterator[Batch]:
        """The batches as a scorer takes them, one after the other."""
        first = self.layout.subwords.word_offsets[self.chunk.first]
        for batch in self.batches:
            row, column, word = self.layout.kept(batch)
            yield Batch(self.layout.arrays(batch), row, column, word - first)


class ChunkScores(NamedTuple):
    """The scores of a chunk's sentences, the sentences one after the other."""

    n: Floats32  # words x labels
    c: Floats32
    u: Floats32
    lengths: Ints
    items: list[Item]
    spans: SpanScores | None = None


class TaggedChunk(NamedTuple):
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
        chunk_size: int = 0,
        naming: Naming = "first",
        likely: bool = False,
        span_threshold: float = 0.5,
    ) -> None:
        """Drop entities below `threshold`, or below that of their type; a `chunk_size` of 0 suits the scorer.

        `likely` returns every entity above it, whether the best labels have it or not. The decoding "spans" needs a
        scorer with a span grid; its entities are at least as probable as `span_threshold`.
        """
        self.scorer, self.maker, self.vocabulary = scorer, maker, vocabulary
        self.decoding, self.search, self.naming = decoding, search, naming
        self.threshold, self.thresholds = threshold, thresholds or {}
        self.chunk_size = chunk_size or (GPU_CHUNK if scorer.ahead else CHUNK)
        self.likely = likely
        self.span_threshold = span_threshold

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[TaggedChunk]:
        """The entities of each chunk of sentences, in order."""
        laid_out = map(self.lay_out, chunks(items, self.chunk_size, self.maker.context))
        if not self.scorer.ahead:
            yield from (self.decode(self.score(one), confidence) for one in laid_out)
            return
        with worker_threads(DECODERS) as pool:
            started: deque[Future[TaggedChunk]] = deque()
            for one in laid_out:
                started.append(pool.submit(self._finished, self.start(one), confidence))
                if len(started) > self.scorer.ahead:
                    yield started.popleft().result()
            while started:
                yield started.popleft().result()

    def _finished(self, scores: Callable[[], ChunkScores], confidence: bool) -> TaggedChunk:
        return self.decode(scores(), confidence)

    def lay_out(self, chunk: Chunk) -> LaidOut:
        """The first stage: words -> subwords -> windows -> batches of windows."""
        tokens, documents = [item.tokens for item in chunk.items], [item.document for item in chunk.items]
        layout = self.maker.lay_out(tokens, documents)
        if self.scorer.reach is not None:
            layout = replace(layout, windows=layout.windows.narrowed(self.scorer.reach))
        sentence = layout.windows.sentence
        own = np.flatnonzero((sentence >= chunk.first) & (sentence < chunk.last))
        found = batches(layout.windows.sizes[own], self.scorer.batch_subwords)
        return LaidOut(layout, chunk, [own[batch] for batch in found])

    def start(self, laid_out: LaidOut) -> Callable[[], ChunkScores]:
        """The second stage, begun: the three heads' log-probabilities for every word to be tagged."""
        lengths = laid_out.lengths
        heads = self.scorer.start(laid_out.prepared(), int(lengths.sum()))

        def finished() -> ChunkScores:
            n, c, u, spans = heads()
            return ChunkScores(n, c, u, lengths, laid_out.chunk.own, spans)

        return finished

    def score(self, laid_out: LaidOut) -> ChunkScores:
        """The second stage, waited for."""
        return self.start(laid_out)()

    def decode(self, scores: ChunkScores, confidence: bool = False) -> TaggedChunk:
        """The third stage: scores -> entities."""
        thresholded = bool(self.threshold or self.thresholds)
        if self.decoding == "spans":
            table = self._of_spans(scores, confidence or thresholded)
        elif self.likely:
            n, c, u, lengths = scores[:4]
            table = candidate_entities(self.vocabulary, n, c, u, lengths, floor=self._floor, search=self.search)
        else:
            n, c, u, lengths = scores[:4]
            rated = confidence or thresholded
            table = decode_scores(self.vocabulary, n, c, u, lengths, self.decoding, self.naming, rated, self.search)
        return TaggedChunk(
            scores.items, filter_entities(table, self.threshold, self.thresholds) if thresholded else table
        )

    def _of_spans(self, scores: ChunkScores, confidence: bool) -> EntityTable:
        """Return the entities of the span grid, or all candidates."""
        assert scores.spans is not None
        checked = Scores.of(self.vocabulary, scores.n, scores.c, scores.u, scores.lengths)
        batch = SpanBatch(self.vocabulary, scores.spans, checked)
        least = self._floor if self.likely else self.span_threshold
        return decode_spans(batch, least, confidence=confidence, search=self.search, cross=self.likely)

    @property
    def _floor(self) -> float:
        """The least probability of entities that are looked for."""
        return max(LEAST, min([self.threshold, *self.thresholds.values()]))


@contextmanager
def worker_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that compute; what waits for them is dropped as soon as it is no longer wanted."""
    pool = ThreadPoolExecutor(count, thread_name_prefix="nestag")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
