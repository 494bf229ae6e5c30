"""Batches: texts that wait at the same time are tagged together, by one thread.

A batch takes a text of each request in turn, so a request of a thousand texts does not delay a request of one. If a
batch fails, its texts are tagged one by one, and only the requests whose text failed get an error.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from nestag.data.document import Document
from nestag.model.predictor import TextEntities
from nestag.serve.limits import RefusedError, busy
from nestag.serve.middleware import Metrics

log = logging.getLogger("nestag.serve")

Entities = TextEntities[Document]
TagFunction = Callable[[list[Document]], Iterable[Entities]]

TRIM_SECONDS = 5.0
"""Seconds between two calls of `trim_memory`, while there is work."""

PendingText = tuple[Document, asyncio.Future[Entities]]
"""A text and a future of its entities, which is done early if the request fails or is cancelled."""


class Batcher:
    """The queue of texts by request, and the thread that tags them."""

    def __init__(self, tag: TagFunction, batch_words: int, metrics: Metrics) -> None:
        """Only one thread calls `tag`."""
        self._tag, self._batch_words, self._metrics = tag, batch_words, metrics
        self._requests: deque[deque[PendingText]] = deque()
        self._thread = ThreadPoolExecutor(1, "nestag-tagging")
        self._task: asyncio.Task[None] | None = None
        self._trimmed = time.monotonic()
        self.open = True

    async def tag(self, texts: Sequence[Document]) -> list[Entities]:
        """Return the entities of one or more texts; if one fails or this is cancelled, drop those not tagged yet."""
        if not self.open:
            raise busy("the server is stopping; try again")
        loop = asyncio.get_running_loop()
        request: list[PendingText] = [(text, loop.create_future()) for text in texts]
        self._requests.append(deque(request))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tag_requests())
        futures = [future for _, future in request]
        try:
            return await asyncio.gather(*futures)
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """Accept no more requests, and end the thread."""
        self.open = False
        self._thread.shutdown()

    async def _tag_requests(self) -> None:
        while batch := self._next_batch():
            await self._tag_batch(batch)

    def _next_batch(self) -> list[PendingText]:
        """Take a text of each request in turn, up to the maximum number of words."""
        batch: list[PendingText] = []
        words = 0
        while self._requests and words < self._batch_words:
            request = self._requests.popleft()
            text, future = request.popleft()
            if request:
                self._requests.append(request)
            if not future.done():
                batch.append((text, future))
                words += count_words(text)
        return batch

    async def _tag_batch(self, batch: list[PendingText]) -> None:
        """Tag a batch; if it fails, tag each text alone, and fail the requests of those that fail alone."""
        began = time.perf_counter()
        texts = [text for text, _ in batch]
        try:
            results = await asyncio.get_running_loop().run_in_executor(self._thread, self._run, texts)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not reach other requests
            if len(batch) > 1:
                for text, future in batch:
                    if not future.done():
                        await self._tag_batch([(text, future)])
                return
            self._metrics.failures.inc()
            log.error("a text could not be tagged: %s", type(error).__name__)  # the message may hold text
            if not batch[0][1].done():
                batch[0][1].set_exception(RefusedError(500, "the model failed on this request"))
            return
        self._metrics.batches.observe(len(batch))
        self._metrics.sentences.inc(sum(len(text.words or ()) for text in texts))
        self._metrics.words.inc(sum(map(count_words, texts)))
        self._metrics.seconds.inc(time.perf_counter() - began)
        for (_, future), entities in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(entities)

    def _run(self, texts: list[Document]) -> list[Entities]:
        """Tag texts; called by the thread."""
        if time.monotonic() > self._trimmed + TRIM_SECONDS:
            trim_memory()
            self._trimmed = time.monotonic()
        results = list(self._tag(texts))
        if [id(text) for text in texts] != [id(entities.source) for entities in results]:
            raise RuntimeError("the recognizer returned the entities of other texts")
        return results


def count_words(text: Document) -> int:
    """Return the number of words in all sentences of a text."""
    return sum(map(len, text.words or ()))


def trim_memory() -> None:
    """Return freed memory to the operating system.

    Batches differ in size, and glibc keeps the holes that their arrays leave: without this, a server that has answered
    thousands of requests holds twice the memory that it needs.
    """
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)
