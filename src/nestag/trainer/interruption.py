"""Ctrl-C during training: the first asks to stop after the step at hand, a second one stops at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.asked = False

    def __bool__(self) -> bool:
        return self.asked


@contextmanager
def interruptible() -> Iterator[Interrupted]:
    """The first Ctrl-C asks to stop after the step at hand; a second one stops at once."""
    interrupted = Interrupted()

    def ask(*_: object) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.asked = True

    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:  # not in the main thread: nobody can press Ctrl-C here
        yield interrupted
        return
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
