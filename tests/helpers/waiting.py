"""Waiting for something that another process or thread does; the time limit of a test ends what waits in vain."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object]) -> None:
    """Poll until the condition holds."""
    while not condition():
        time.sleep(0.01)
