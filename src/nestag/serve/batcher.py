"""Batches: texts that wait at the same time are tagged together, by one thread.

A batch takes a text of each request in turn, so a request of a thousand texts does not delay a request of one. If a
batch fails, its texts are tagged one by one, and only the requests whose text failed get an error.
"""

from __future__ import annotations

import asyncio
import ctypes
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from nestag.data.document import Document
from nestag.model.predictor import TextEntities
from nestag.serve.limits import RefusedError, busy
from nestag.serve.metrics import Metrics

Entities = TextEntities[Document]
TagFunction = Callable[[list[Document]], Iterable[Entities]]

TRIM_SECONDS = 5.0
"""Seconds between two calls of `trim_memory`, while there is work."""


class PendingRequest:
    """The texts of a request and a future of their entities; it is done early if the request fails or is cancelled."""

    def __init__(self, texts: Sequence[Document]) -> None:
        self.waiting = deque(texts)
        self.size = len(texts)
        self.entities: list[Entities] = []
        self.future: asyncio.Future[list[Entities]] = asyncio.get_running_loop().create_future()

    def add(self, entities: Entities) -> None:
        """Add the entities of the next text; the last one completes the job."""
        self.entities.append(entities)
        if len(self.entities) == self.size and not self.future.done():
            self.future.set_result(self.entities)


TextBatch = list[tuple[PendingRequest, Document]]


class Batcher:
    """The queue of jobs, and the thread that tags them."""

    def __init__(self, tag: TagFunction, batch_words: int, metrics: Metrics) -> None:
        """Only one thread calls `tag`."""
        self._tag, self._batch_words, self._metrics = tag, batch_words, metrics
        self._jobs: deque[PendingRequest] = deque()
        self._thread = ThreadPoolExecutor(1, "nestag-tagging")
        self._task: asyncio.Task[None] | None = None
        self._trimmed = time.monotonic()
        self.open = True

    async def tag(self, texts: Sequence[Document]) -> list[Entities]:
        """Return the entities of each of one or more texts; cancelling drops those that are not tagged yet."""
        if not self.open:
            raise busy("the server is stopping; try again")
        job = PendingRequest(texts)
        self._jobs.append(job)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tag_jobs())
        return await job.future

    def close(self) -> None:
        """Accept no more jobs, and end the thread."""
        self.open = False
        self._thread.shutdown()

    async def _tag_jobs(self) -> None:
        while batch := self._next_batch():
            await self._tag_batch(batch)

    def _next_batch(self) -> TextBatch:
        """Take a text of each job in turn, up to the maximum number of words."""
        batch: TextBatch = []
        words = 0
        while self._jobs and words < self._batch_words:
            job = self._jobs.popleft()
            if job.future.done():
                continue
            text = job.waiting.popleft()
            if job.waiting:
                self._jobs.append(job)
            batch.append((job, text))
            words += count_words(text)
        return batch

    async def _tag_batch(self, batch: TextBatch) -> None:
        began = time.perf_counter()
        texts = [text for _, text in batch]
        results = await asyncio.get_running_loop().run_in_executor(self._thread, self._run, texts)
        if isinstance(results, Exception):
            await self._retry(batch, results)
            return
        sentences = sum(len(text.words or ()) for text in texts)
        self._metrics.tagged(len(batch), sentences, sum(map(count_words, texts)), time.perf_counter() - began)
        for (job, _), entities in zip(batch, results, strict=True):
            job.add(entities)

    async def _retry(self, batch: TextBatch, error: Exception) -> None:
        """Tag each text of a failed batch alone; a text that fails alone fails its job."""
        if len(batch) > 1:
            for job, text in batch:
                if not job.future.done():
                    await self._tag_batch([(job, text)])
            return
        self._metrics.failed(error)
        if not batch[0][0].future.done():
            batch[0][0].future.set_exception(RefusedError(500, "the model failed on this request"))

    def _run(self, texts: list[Document]) -> list[Entities] | Exception:
        """Tag texts; called by the thread."""
        if time.monotonic() > self._trimmed + TRIM_SECONDS:
            trim_memory()
            self._trimmed = time.monotonic()
        try:
            results = list(self._tag(texts))
            if [id(text) for text in texts] != [id(entities.source) for entities in results]:
                raise RuntimeError("the recognizer returned the entities of other texts")
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not reach other requests
            return error
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
