"""Returns freed memory to the operating system.

Batches differ in size, and the allocator of Linux keeps the holes that their arrays leave: a server that has answered
thousands of requests holds twice of what it needs. Asked to, the allocator gives whole free pages back.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back_memory() -> bool:
    """Return freed memory to the operating system, in milliseconds; true if there was any."""
    trim = _trim()
    return trim is not None and bool(trim(0))


@cache
def _trim() -> Any:
    """The C library's `malloc_trim`; None on systems without it."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
