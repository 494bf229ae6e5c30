"""Jobs in front of the thread that tags: together, in turn, and none harmed by another."""

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from capitals import Capitals
from nestag.data.document import Document, joined_offsets
from nestag.model.engine import Item, TaggedChunk
from nestag.serve import batcher
from nestag.serve.batcher import Batcher, ClosedError, ExpiredError, UntaggableError, give_back_memory
from waiting import wait_until

SOON = 250.0


class Counts:
    """What a batcher tells."""

    def __init__(self) -> None:
        self.texts: list[int] = []
        self.failures = 0

    def tagged(self, texts: int, sentences: int, words: int, seconds: float) -> None:
        self.texts.append(texts)

    def failed(self, error: Exception) -> None:
        self.failures += 1


class Held(Capitals):
    """Waits before its first batch, so that jobs gather behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.seen: list[list[str]] = []

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[TaggedChunk]:
        given = list(items)
        self.begun.set()
        assert self.go_on.wait(SOON)
        self.seen.append([item.tokens[0] for item in given])
        return super().run(given, confidence)


def texts(*words: str) -> list[Document]:
    return [Document("", word, (), (joined_offsets(word.split()),)) for word in words]


def later() -> float:
    return time.monotonic() + SOON


def entities(promise: Future[Any]) -> list[list[str]]:
    return [[f"{e.type}{e.start_token}" for e in text] for text in promise.result(SOON)]


def gathered(*jobs: list[Document], batch_words: int = 100) -> tuple[Held, Counts, Batcher, list[Future[Any]]]:
    """A batcher that is busy with one job while others arrive."""
    held, counts = Held(), Counts()
    batcher = Batcher(held.pipe, batch_words, counts)
    batcher.submit(texts("first"), later())
    held.begun.wait(SOON)
    return held, counts, batcher, [batcher.submit(job, later()) for job in jobs]


def test_what_waits_together_is_tagged_together() -> None:
    held, counts, batcher, promises = gathered(texts("A b"), texts("b A"), texts("c"))
    held.go_on.set()
    assert [entities(promise) for promise in promises] == [[["WORD0"]], [["WORD1"]], [[]]]
    batcher.close()
    assert counts.texts == [1, 3]


def test_a_large_job_does_not_hold_up_a_small_one() -> None:
    large = texts(*(f"l{i}" for i in range(9)))
    held, _, batcher, promises = gathered(large, texts("s"), batch_words=4)
    held.go_on.set()
    entities(promises[0])
    batcher.close()
    assert held.seen == [["first"], ["l0", "s", "l1", "l2"], ["l3", "l4", "l5", "l6"], ["l7", "l8"]]


def test_a_text_that_fails_fails_alone() -> None:
    held, counts, batcher, promises = gathered(texts("A"), texts("x", "POISON"), texts("b C"))
    held.go_on.set()
    assert entities(promises[0]) == [["WORD0"]]
    assert entities(promises[2]) == [["WORD1"]]
    with pytest.raises(UntaggableError):
        promises[1].result(SOON)
    assert (counts.failures, batcher.alive) == (1, True)
    batcher.close()


def test_nobody_is_tagged_for_who_has_gone_or_whose_time_is_over() -> None:
    held, _, batcher, (gone,) = gathered(texts("gone"))
    gone.cancel()
    late = batcher.submit(texts("late"), time.monotonic() - 1)
    held.go_on.set()
    with pytest.raises(ExpiredError):
        late.result(SOON)
    batcher.close()
    assert held.seen == [["first"]]


def test_closing_finishes_what_was_accepted() -> None:
    held, _, batcher, promises = gathered(texts("A"), texts("B"))
    closing = threading.Thread(target=batcher.close)
    closing.start()
    wait_until(lambda: not batcher.open)
    with pytest.raises(ClosedError):
        batcher.submit(texts("late"), later())
    held.go_on.set()
    assert [entities(promise) for promise in promises] == [[["WORD0"]], [["WORD0"]]]
    closing.join(SOON)
    assert not batcher.alive


def test_answers_of_others_are_not_passed_on() -> None:
    def mixed_up(given: list[Document]) -> Iterator[Any]:
        return Capitals().pipe(texts("c"))

    batcher = Batcher(mixed_up, 100, Counts())
    with pytest.raises(UntaggableError):
        batcher.submit(texts("a"), later()).result(SOON)
    batcher.close()


def test_free_memory_is_given_back_while_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bool] = []
    monkeypatch.setattr(batcher, "TIDY", 0.0)
    monkeypatch.setattr(batcher, "give_back_memory", lambda: given.append(True))
    working = Batcher(Capitals().pipe, 100, Counts())
    for word in "AB":
        working.submit(texts(word), later()).result(SOON)
    working.close()
    assert len(given) == 2
    assert give_back_memory() in (True, False)  # nowhere an error
