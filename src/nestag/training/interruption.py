"""Signals that ask a running job to stop, and how it shuts down cleanly.

Signals that are ignored already, as under nohup, stay ignored. Outside the main thread nothing is handled, because
signals do not arrive there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a process; not every system has both."""


class Interrupted:
    """Counts stop signals; true after the first."""

    def __init__(self) -> None:
        self.times = 0
        self.last = signal.SIGINT

    def __bool__(self) -> bool:
        return self.times > 0

    def stop(self) -> NoReturn:
        """Raise the exception of the last signal."""
        if self.last == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + self.last)


@contextmanager
def interruptible(*signals: signal.Signals, patience: int | None = None) -> Iterator[Interrupted]:
    """Count signals inside the block instead of raising; raise after `patience` signals."""
    interrupted = Interrupted()

    def count(number: int, _: object) -> None:
        interrupted.times += 1
        interrupted.last = signal.Signals(number)
        if patience is not None and interrupted.times > patience:
            interrupted.stop()

    with _handling([number for number in signals if signal.getsignal(number) is not signal.SIG_IGN], count):
        yield interrupted


@contextmanager
def ending_as_exceptions() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise SystemExit, so that no half-written file stays behind; the second one kills."""

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(128 + number)

    with _handling([number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL], end):
        yield


@contextmanager
def _handling(signals: Iterable[signal.Signals], handler: Callable[[int, Any], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, handled in before.items():
            signal.signal(number, handled)
