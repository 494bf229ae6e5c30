"""Temporary files and folders ("parts"), hidden under names such as `.nestag-1f2e3d4c-0a1b2c3d.part`.

A name contains the machine that writes, and the writer holds a lock. If the lock is free, the writer is dead: the next
process that writes to the same folder on that machine removes the part. Without file locks, parts of killed processes
stay. Processes that end in any other way, also by SIGTERM, leave no parts.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HERE = sha256(platform.node().encode()).hexdigest()[:8]
"""This machine. Its locks may be invisible to others, even in a shared folder."""
REPLACED = "old"  # the folder of a part that holds the files being replaced
_NAME = re.compile(r"\.nestag-[0-9a-f]{8}-[0-9a-f]{8}\.part")


@contextmanager
def new_part(folder: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """Make an empty temporary file or folder, and remove it at the end of the block unless it was renamed."""
    _remove_leftovers_once(folder)
    path, lock = folder / f".nestag-{HERE}-{secrets.token_hex(4)}.part", None
    try:  # a signal may end the process as soon as the part exists
        while not path.exists():  # again if another process takes it for a leftover before it is locked
            path.mkdir() if is_folder else path.touch(exist_ok=False)
            if lock is not None:
                os.close(lock)
            lock = _lock(path, wait=True)
        yield path
    finally:
        _remove(path)
        if lock is not None:
            os.close(lock)


def is_part(path: Path) -> bool:
    """Say whether a path has the name of a part."""
    return bool(_NAME.fullmatch(path.name))


def is_being_replaced(path: Path) -> bool:
    """Say whether a file is missing because a process is replacing it, or died while it did."""
    return any((part / REPLACED / path.name).exists() for part in filter(is_part, path.parent.glob(".nestag-*")))


def remove_leftovers(folder: Path) -> None:
    """Remove the parts that dead processes of this machine left in a folder."""
    for part in filter(is_part, folder.glob(f".nestag-{HERE}-*")):
        if (lock := _lock(part, wait=False)) is not None:
            _remove(part)
            os.close(lock)


@cache
def _remove_leftovers_once(folder: Path) -> None:
    """Remove leftovers when a process first writes in a folder, which may have many files."""
    remove_leftovers(folder)


def _lock(path: Path, wait: bool) -> int | None:
    """Return the open file that holds the lock, or None if there is no lock to get."""
    if fcntl is None:
        return None
    try:
        number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # taken, or the file system has no locks
        os.close(number)
        return None
    return number


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
