"""Free memory, given back to the machine.

Batches differ in size, and the allocator of Linux keeps the holes that their arrays leave: a server that has answered
thousands of requests holds twice of what it needs. Asked to, the allocator gives whole free pages back.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back_memory() -> bool:
    """Whether anything was given back; it takes milliseconds."""
    trim = _trim()
    return trim is not None and bool(trim(0))


@cache
def _trim() -> Any:
    """The function of the C library that does it; None where there is none, as on other systems."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
