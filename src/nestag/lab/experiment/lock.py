"""One process at a time in the folder of a run; the lock goes with the process, however it ends."""

from __future__ import annotations

from pathlib import Path
from typing import IO

LOCK = "lock"


def locked(folder: Path) -> IO[bytes] | None:
    """Lock a folder as long as the file returned is open; None if another process has it.

    Where the system has no such locks (Windows), the folder is given to whoever asks.
    """
    file = open(folder / LOCK, "ab")  # noqa: SIM115 - it stays open while the lock is held
    try:
        import fcntl
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
