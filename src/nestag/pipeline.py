"""Stages that overlap: each function runs in a thread of its own, results come in order, queues are bounded.

Tokenizers, torch and NumPy let go of the interpreter lock, so one chunk can be laid out while another is computed and
a third is decoded. An error in any stage ends all of them and is raised where the results are read.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

DEPTH = 2
"""Results that wait between two stages."""

POLL = 0.1
"""Seconds after which a stage that waits looks whether everything has been stopped."""

_END = object()


class _Failure:
    """An error on its way to whoever reads the results."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def overlapped(items: Iterable[Any], *stages: Callable[[Any], Any]) -> Iterator[Any]:
    """The items after all stages, in order; stopping to read stops every stage.

    >>> list(overlapped(range(4), lambda x: x + 1, str))
    ['1', '2', '3', '4']
    """
    stop = threading.Event()
    queues: list[queue.Queue[Any]] = [queue.Queue(DEPTH) for _ in stages]
    sources: list[Iterator[Any]] = [iter(items), *(_taken(waiting, stop) for waiting in queues[:-1])]
    threads = [
        threading.Thread(target=_work, args=(source, stage, waiting, stop), daemon=True, name=f"nestag-{number}")
        for number, (source, stage, waiting) in enumerate(zip(sources, stages, queues, strict=True), 1)
    ]
    for thread in threads:
        thread.start()
    try:
        yield from _taken(queues[-1], stop)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _work(source: Iterator[Any], stage: Callable[[Any], Any], results: queue.Queue[Any], stop: threading.Event) -> None:
    try:
        for item in source:
            if not _put(results, stage(item), stop):
                return
        _put(results, _END, stop)
    except BaseException as error:  # noqa: BLE001 - raised again where the results are read
        _put(results, _Failure(error), stop)


def _put(results: queue.Queue[Any], item: Any, stop: threading.Event) -> bool:
    """Put an item as soon as there is room; False if everything has been stopped."""
    while not stop.is_set():
        try:
            results.put(item, timeout=POLL)
        except queue.Full:
            continue
        return True
    return False


def _taken(waiting: queue.Queue[Any], stop: threading.Event) -> Iterator[Any]:
    """What a stage has put, until its end; its error is raised here."""
    while not stop.is_set():
        try:
            item = waiting.get(timeout=POLL)
        except queue.Empty:
            continue
        if item is _END:
            return
        if isinstance(item, _Failure):
            raise item.error
        yield item
