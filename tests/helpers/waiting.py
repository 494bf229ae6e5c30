"""Waiting for something that another process or thread does; the time limit of a test ends what waits in vain."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object]) -> None:
    """Ask again and again until it is so."""
    while not condition():
        time.sleep(0.01)
