"""Being asked to stop, by Ctrl-C or otherwise, while work goes on that wants to end well."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted:
    """How often somebody asked to stop; true once somebody did."""

    def __init__(self) -> None:
        self.times = 0

    def __bool__(self) -> bool:
        return self.times > 0


@contextmanager
def interruptible(*signals: signal.Signals, patience: int | None = None) -> Iterator[Interrupted]:
    """Signals only count inside the block; one beyond the patience, if it has an end, stops at once."""
    interrupted = Interrupted()

    def ask(*_: object) -> None:
        interrupted.times += 1
        if patience is not None and interrupted.times > patience:
            raise KeyboardInterrupt

    try:
        before = {number: signal.signal(number, ask) for number in signals}
    except ValueError:  # not in the main thread: nobody can press Ctrl-C here
        yield interrupted
        return
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
