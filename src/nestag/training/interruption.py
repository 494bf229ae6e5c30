"""Signals that ask a running job to stop, and how it shuts down cleanly."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals by which others end a process; not every system has both."""


class Interrupted:
    """Counts stop signals; true after the first."""

    def __init__(self) -> None:
        self.times = 0
        self.last = signal.SIGINT

    def __bool__(self) -> bool:
        return self.times > 0

    def obey(self) -> NoReturn:
        """Stop in the way that was asked for last."""
        if self.last == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + self.last)


@contextmanager
def interruptible(*signals: signal.Signals, patience: int | None = None) -> Iterator[Interrupted]:
    """Count signals inside the block instead of raising; raise after `patience` signals.

    Signals that are ignored already, as under nohup, stay ignored.
    """
    interrupted = Interrupted()

    def ask(number: int, _: object) -> None:
        interrupted.times += 1
        interrupted.last = signal.Signals(number)
        if patience is not None and interrupted.times > patience:
            interrupted.obey()

    heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
    try:
        before = {number: signal.signal(number, ask) for number in heard}
    except ValueError:  # not in the main thread: nobody can press Ctrl-C here
        yield interrupted
        return
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ending_as_exceptions() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit instead of killing the process, so that nothing half written stays behind.

    The second one kills. Signals that are ignored already, as under nohup, stay ignored.
    """

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(128 + number)

    try:
        before = {number: signal.getsignal(number) for number in ENDING}
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, end)
    except ValueError:  # not in the main thread, where signals do not arrive
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
