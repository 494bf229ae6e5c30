"""The engine: tokens in, entities out. It is the only way from words to entities.

Three stages: sentences are laid out as arrays, the encoder scores them, and the scores are decoded. A GPU computes
asynchronously, so while it scores a chunk, earlier ones are decoded in separate threads and the next one is laid out.
A CPU is busy with the encoder, so there the stages run one after the other. How sentences are grouped into chunks and
batches does not change the result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from nestag.data.arrays import Floats32, Ints
from nestag.decoding import (
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
from nestag.encodings.vocabulary import Vocabulary
from nestag.model.settings import Settings
from nestag.model.windows import NOTHING, Arrays, Layout, LayoutMaker, batches

DECODERS = 2  # threads that decode while a GPU computes; more would wait for the interpreter
CHUNK, GPU_CHUNK = 2_000, 4_000  # sentences that are sorted by length and tagged together; more fill a GPU better


class Item(NamedTuple):
    """The tokens and the document of a sentence, and any value to return with its entities."""

    tokens: Sequence[str]
    document: str = ""  # its name, or "" if there is none
    source: Any = None


class Chunk(NamedTuple):
    """Sentences to tag, with neighbouring sentences before and after them as context."""

    items: list[Item]
    first: int  # the first sentence to be tagged
    last: int  # the end of the sentences to be tagged

    @property
    def targets(self) -> list[Item]:
        """The sentences to be tagged."""
        return self.items[self.first : self.last]


def chunks(items: Iterable[Item], size: int, context: int = 0) -> Iterator[Chunk]:
    """Split a stream into chunks of `size`, each with neighbours of at least `context` words from its documents.

    The context of a sentence therefore does not depend on where a chunk ends.
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
        targets = waiting[:size]
        after = _context(targets[-1].document, following(), context)
        yield Chunk([*before, *targets, *after], len(before), len(before) + len(targets))
        before = _context(targets[-1].document, reversed([*before, *targets]), context)[::-1]
        waiting = waiting[size:]


def _context(document: str, neighbours: Iterator[Item], words: int) -> list[Item]:
    """Return the first neighbours of the same document that have enough words."""
    context: list[Item] = []
    while document and words > 0 and (item := next(neighbours, None)) and item.document == document:
        context.append(item)
        words -= len(item.tokens)
    return context


class Batch(NamedTuple):
    """Some windows for a scorer, and which of their words to score."""

    arrays: Arrays
    row: Ints  # of each word to score, in the batch
    column: Ints  # of each word to score, in the batch
    word: Ints  # of each word to score: its number in the chunk

    @property
    def remaining(self) -> Ints:
        """The number of words from each word to the end of its window."""
        words: Ints = np.count_nonzero(self.arrays.shape != NOTHING, axis=1)
        return words[self.row] - self.column


class Heads(NamedTuple):
    """The output of a scorer for the words of a chunk."""

    n: Floats32  # log-probabilities: words x labels
    c: Floats32
    u: Floats32
    spans: SpanScores | None = None  # the probable spans, if a span grid scores them


class Scorer(Protocol):
    """Scores words, with torch or onnxruntime."""

    batch_subwords: int
    ahead: int  # chunks that may wait to be decoded while others are computed; 0 if nothing is computed asynchronously
    reach: int | None  # words on each side that influence a word above the encoder; None if that is not known

    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Begin to score the words of a chunk; the returned function waits for the scores."""
        ...


class ChunkLayout(NamedTuple):
    """A chunk as windows, and the batches of those windows whose words are to be tagged."""

    layout: Layout
    chunk: Chunk
    batches: list[Ints]

    @property
    def lengths(self) -> Ints:
        """Words of each sentence to be tagged."""
        return self.layout.subwords.lengths[self.chunk.first : self.chunk.last]

    def inputs(self) -> Iterator[Batch]:
        """Yield the input of a scorer for each batch."""
        first = self.layout.subwords.word_offsets[self.chunk.first]
        for batch in self.batches:
            row, column, word = self.layout.labelled_words(batch)
            yield Batch(self.layout.arrays(batch), row, column, word - first)


class ChunkScores(NamedTuple):
    """The scores of the words of a chunk, sentence by sentence."""

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
    """Layout, scoring and decoding as overlapping stages."""

    def __init__(
        self, scorer: Scorer, maker: LayoutMaker, vocabulary: Vocabulary, settings: Settings, chunk_size: int = 0
    ) -> None:
        self.scorer, self.maker, self.vocabulary, self.settings = scorer, maker, vocabulary, settings
        self.search = Search(temperature=settings.temperature, min_node_probability=settings.min_node_probability)
        self.chunk_size = chunk_size or (GPU_CHUNK if scorer.ahead else CHUNK)

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[TaggedChunk]:
        """Yield the entities of each chunk of sentences, in order."""
        layouts = map(self.lay_out, chunks(items, self.chunk_size, self.maker.context))
        if not self.scorer.ahead:
            yield from (self.decode(self.score(layout), confidence) for layout in layouts)
            return
        with worker_threads(DECODERS) as pool:
            pending: deque[Future[TaggedChunk]] = deque()
            for layout in layouts:
                pending.append(pool.submit(lambda scores: self.decode(scores(), confidence), self.start(layout)))
                if len(pending) > self.scorer.ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

    def lay_out(self, chunk: Chunk) -> ChunkLayout:
        """Split words into subwords, and those into windows and batches."""
        tokens, documents = [item.tokens for item in chunk.items], [item.document for item in chunk.items]
        layout = self.maker.lay_out(tokens, documents)
        if self.scorer.reach is not None:
            layout = replace(layout, windows=layout.windows.narrow(self.scorer.reach))
        sentence = layout.windows.sentence
        targets = np.flatnonzero((sentence >= chunk.first) & (sentence < chunk.last))
        groups = batches(layout.windows.sizes[targets], self.scorer.batch_subwords)
        return ChunkLayout(layout, chunk, [targets[group] for group in groups])

    def start(self, layout: ChunkLayout) -> Callable[[], ChunkScores]:
        """Begin to score every word to be tagged; the returned function waits for the scores."""
        lengths, items = layout.lengths, layout.chunk.targets
        heads = self.scorer.start(layout.inputs(), int(lengths.sum()))
        return lambda: ChunkScores(**heads()._asdict(), lengths=lengths, items=items)

    def score(self, layout: ChunkLayout) -> ChunkScores:
        """Score every word to be tagged."""
        return self.start(layout)()

    def decode(self, scores: ChunkScores, confidence: bool = False) -> TaggedChunk:
        """Return the entities that the scores say, those above the thresholds if there are any."""
        settings, heads = self.settings, scores[:4]
        filtered = bool(settings.threshold or settings.thresholds)
        rated = confidence or filtered
        if settings.decoding == "spans":
            assert scores.spans is not None
            batch = SpanBatch(self.vocabulary, scores.spans, Scores.of(self.vocabulary, *heads))
            least = settings.floor if settings.return_candidates else settings.span_threshold
            table = decode_spans(batch, least, confidence=rated, search=self.search, cross=settings.return_candidates)
        elif settings.return_candidates:
            table = candidate_entities(self.vocabulary, *heads, floor=settings.floor, search=self.search)
        else:
            naming = settings.node_label_strategy
            table = decode_scores(self.vocabulary, *heads, settings.decoding, naming, rated, self.search)
        if filtered:
            table = filter_entities(table, settings.threshold, settings.thresholds)
        return TaggedChunk(scores.items, table)


@contextmanager
def worker_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Provide threads that compute; tasks that have not begun at the end are cancelled."""
    pool = ThreadPoolExecutor(count, thread_name_prefix="nestag")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
