"""Wait for another process or thread; the time limit of a test ends endless waits."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object]) -> None:
    """Poll until the condition holds."""
    while not condition():
        time.sleep(0.01)
