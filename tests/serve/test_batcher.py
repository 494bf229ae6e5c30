"""Batches: texts are tagged together and in turn, and a text that fails does not affect other requests."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import pytest

from capitals import Capitals
from nestag.data.document import Document, join_offsets
from nestag.model.engine import Item, TaggedChunk
from nestag.serve import batcher
from nestag.serve.batcher import Batcher, Entities
from nestag.serve.limits import RefusedError
from nestag.serve.middleware import Metrics

SECONDS = 250.0


class SlowStart(Capitals):
    """Waits in its first batch, so that jobs gather behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.started, self.resume = threading.Event(), threading.Event()
        self.batches_of_words: list[list[str]] = []

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[TaggedChunk]:
        items = list(items)
        self.started.set()
        assert self.resume.wait(SECONDS)
        self.batches_of_words.append([item.tokens[0] for item in items])
        return super().run(items, confidence)


def texts(*words: str) -> list[Document]:
    return [Document("", word, (), (join_offsets(word.split()),)) for word in words]


def labels(results: list[Entities]) -> list[list[str]]:
    return [[f"{entity.type}{entity.start_token}" for entity in entities] for entities in results]


Check = Callable[[SlowStart, Batcher, Metrics, list[asyncio.Task[Any]]], Awaitable[None]]


def check_with_waiting(check: Check, *jobs: list[Document], batch_words: int = 100) -> None:
    """Call `check` while a batcher is busy with one job and others wait."""

    async def run() -> None:
        recognizer, metrics = SlowStart(), Metrics()
        queue = Batcher(recognizer.pipe, batch_words, metrics)
        first = asyncio.create_task(queue.tag(texts("first")))
        await asyncio.to_thread(recognizer.started.wait, SECONDS)
        tasks = [asyncio.create_task(queue.tag(job)) for job in jobs]
        await asyncio.sleep(0)
        await check(recognizer, queue, metrics, tasks)
        await first
        queue.close()

    asyncio.run(run())


def test_waiting_texts_are_tagged_together() -> None:
    async def check(recognizer: SlowStart, _: Batcher, metrics: Metrics, tasks: list[asyncio.Task[Any]]) -> None:
        recognizer.resume.set()
        assert [labels(await task) for task in tasks] == [[["WORD0"]], [["WORD1"]], [[]]]
        assert "nestag_batch_texts_sum 4.0" in metrics.page().decode()

    check_with_waiting(check, texts("A b"), texts("b A"), texts("c"))


def test_large_job_does_not_delay_a_small_one() -> None:
    async def check(recognizer: SlowStart, _: Batcher, __: Metrics, tasks: list[asyncio.Task[Any]]) -> None:
        recognizer.resume.set()
        await asyncio.gather(*tasks)
        batches = [["first"], ["l0", "s", "l1", "l2"], ["l3", "l4", "l5", "l6"], ["l7", "l8"]]
        assert recognizer.batches_of_words == batches

    check_with_waiting(check, texts(*(f"l{i}" for i in range(9))), texts("s"), batch_words=4)


def test_failing_text_fails_alone() -> None:
    async def check(recognizer: SlowStart, _: Batcher, metrics: Metrics, tasks: list[asyncio.Task[Any]]) -> None:
        recognizer.resume.set()
        one, failed, other = await asyncio.gather(*tasks, return_exceptions=True)
        assert (labels(one), labels(other)) == ([["WORD0"]], [["WORD1"]])
        assert isinstance(failed, RefusedError)
        assert failed.status == 500
        assert "nestag_failures_total 1.0" in metrics.page().decode()

    check_with_waiting(check, texts("A"), texts("x", "POISON"), texts("b C"))


def test_a_cancelled_job_is_dropped() -> None:
    async def check(recognizer: SlowStart, queue: Batcher, _: Metrics, tasks: list[asyncio.Task[Any]]) -> None:
        tasks[0].cancel()
        recognizer.resume.set()
        assert labels(await queue.tag(texts("A"))) == [["WORD0"]]
        assert recognizer.batches_of_words == [["first"], ["A"]]

    check_with_waiting(check, texts("cancelled"))


def test_a_closed_batcher_accepts_no_jobs() -> None:
    queue = Batcher(Capitals().pipe, 100, Metrics())
    queue.close()
    with pytest.raises(RefusedError, match="stopping"):
        asyncio.run(queue.tag(texts("late")))


def test_entities_of_other_texts_are_never_returned() -> None:
    async def run() -> None:
        queue = Batcher(lambda _: Capitals().pipe(texts("c")), 100, Metrics())
        with pytest.raises(RefusedError, match="failed"):
            await queue.tag(texts("a"))
        queue.close()

    asyncio.run(run())


def test_freed_memory_is_returned_while_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[None] = []
    monkeypatch.setattr(batcher, "TRIM_SECONDS", -1.0)
    monkeypatch.setattr(batcher, "trim_memory", lambda: calls.append(None))

    async def run() -> None:
        queue = Batcher(Capitals().pipe, 100, Metrics())
        await queue.tag(texts("A"))
        await queue.tag(texts("B"))
        queue.close()

    asyncio.run(run())
    assert len(calls) == 2
    monkeypatch.undo()
    batcher.trim_memory()  # works on every system
