"""Texts that wait together are tagged together, by one thread.

Every request is a job of one or more texts. A batch takes a text of each job in turn until it has enough words, so a
request of a thousand texts does not hold up a request of one. If a batch fails, its texts are tried one by one, and
only the job whose text failed alone fails.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, Protocol

from nestag.data.document import Document
from nestag.model.predictor import TextEntities

Entities = TextEntities[Document]
TagFunction = Callable[[list[Document]], Iterable[Entities]]

TIDY = 5.0
"""Seconds between two times that free memory is given back, while there is work."""


class Watcher(Protocol):
    """Whoever wants to know what the thread does."""

    def tagged(self, texts: int, sentences: int, words: int, seconds: float) -> None:
        """A batch was tagged."""
        ...

    def failed(self, error: Exception) -> None:
        """A text alone could not be tagged."""
        ...


class ExpiredError(Exception):
    """The time of a job was over before its turn came."""


class UntaggableError(Exception):
    """A text that could not be tagged, even alone."""


class ClosedError(Exception):
    """No jobs are taken any more."""


class QueuedRequest:
    """The texts of a request, each with the words of its sentences, and the future of their entities."""

    def __init__(self, texts: Sequence[Document], deadline: float) -> None:
        """`deadline` is a time of the monotonic clock."""
        self.texts = texts
        self.deadline = deadline
        self.found: dict[int, Entities] = {}
        self.taken = 0  # texts that were put into a batch
        self.future: Future[list[Entities]] = Future()

    def answer(self, number: int, entities: Entities) -> None:
        """Store the entities of a text; the last text resolves the future."""
        self.found[number] = entities
        if len(self.found) == len(self.texts):
            with suppress(InvalidStateError):  # nobody waits any more
                self.future.set_result([self.found[place] for place in range(len(self.texts))])

    def fail(self, error: Exception) -> None:
        """Give up: what is left of it is not tagged."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)

    @property
    def over(self) -> bool:
        """Whether nobody waits for it, or nobody may any more."""
        if not self.future.done() and time.monotonic() > self.deadline:
            self.fail(ExpiredError())
        return self.future.done()


class Pick(NamedTuple):
    """A text of a job that is to be tagged now."""

    job: QueuedRequest
    number: int

    @property
    def text(self) -> Document:
        """The text."""
        return self.job.texts[self.number]


class Batcher:
    """The thread that tags, and the jobs in front of it."""

    def __init__(self, tag: TagFunction, batch_words: int, watcher: Watcher) -> None:
        """`tag` is called by one thread alone."""
        self._tag, self._batch_words, self._watcher = tag, batch_words, watcher
        self._jobs: deque[QueuedRequest] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="nestag-tagging", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether jobs are done."""
        return self._thread.is_alive()

    @property
    def open(self) -> bool:
        """Whether jobs are taken."""
        return self.alive and not self._closed

    def submit(self, texts: Sequence[Document], deadline: float) -> Future[list[Entities]]:
        """A future with the entities of each text."""
        job = QueuedRequest(texts, deadline)
        if not texts:
            job.future.set_result([])
            return job.future
        with self._changed:
            if not self.open:
                raise ClosedError
            self._jobs.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Finish all jobs, then end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        tidy = time.monotonic() + TIDY
        while batch := self._next_batch():
            self._answer(batch)
            if time.monotonic() > tidy:
                give_back_memory()
                tidy = time.monotonic() + TIDY

    def _next_batch(self) -> list[Pick]:
        """A text of each job in turn, up to enough words; waits for jobs, and is empty once all is done."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._closed)
                if not self._jobs:
                    return []
                batch = self._picked()
            if batch:
                return batch

    def _picked(self) -> list[Pick]:
        batch: list[Pick] = []
        words = 0
        while self._jobs and words < self._batch_words:
            job = self._jobs.popleft()
            if job.over:
                continue
            pick = Pick(job, job.taken)
            job.taken += 1
            if job.taken < len(job.texts):
                self._jobs.append(job)
            batch.append(pick)
            words += count_words(pick.text)
        return batch

    def _answer(self, batch: list[Pick]) -> None:
        began = time.perf_counter()
        texts = [pick.text for pick in batch]
        try:
            found = list(self._tag(texts))
            if len(found) != len(texts) or any(a is not b.source for a, b in zip(texts, found, strict=True)):
                raise RuntimeError("the recognizer answered with other texts than it was given")
        except Exception as error:  # noqa: BLE001 - whatever it is, the other jobs have nothing to do with it
            self._retry(batch, error)
            return
        sentences = sum(len(text.words or ()) for text in texts)
        self._watcher.tagged(len(batch), sentences, sum(map(count_words, texts)), time.perf_counter() - began)
        for pick, entities in zip(batch, found, strict=True):
            pick.job.answer(pick.number, entities)

    def _retry(self, batch: list[Pick], error: Exception) -> None:
        """Try each text of a batch alone, or give up the job of the only one."""
        if len(batch) > 1:
            for pick in batch:
                if not pick.job.over:
                    self._answer([pick])
            return
        self._watcher.failed(error)
        batch[0].job.fail(UntaggableError())


def count_words(text: Document) -> int:
    """Words of all sentences of a text."""
    return sum(map(len, text.words or ()))


def give_back_memory() -> bool:
    """Return freed memory to the operating system; true if there was any.

    Batches differ in size, and the allocator of Linux keeps the holes that their arrays leave: without this, a server
    that has answered thousands of requests holds twice the memory it needs.
    """
    trim = _trim()
    return trim is not None and bool(trim(0))


@cache
def _trim() -> Any:
    """The C library's `malloc_trim`; None on systems without it."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
