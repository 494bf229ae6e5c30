"""Paths that are no regular files: `-`, open descriptors such as /dev/stdout, pipes and devices."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from nestag.errors import InputError

PIPE = "-"
"""The standard input or output, as an argument of a command."""

_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|\d+))/fd/(\d+)")
_MOST_LINKS = 40


def refuse_empty(path: str | Path) -> None:
    """Refuse an empty path, e.g. from an unset shell variable: it would mean the current folder."""
    if str(path) == "":
        raise InputError("the path is empty; is a variable unset?", "''")


def is_stream(path: str | Path) -> bool:
    """Whether a path can be read only once: `-`, an open descriptor, a pipe, a socket or a device."""
    if str(path) == PIPE or descriptor_of(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - Path.stat is the same, one call later
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def descriptor_of(path: str | Path) -> int | None:
    """The number of the open file that a path names, directly or by links.

    Such a path must not be followed to the file behind it: whoever opened that chose where in it to write.

    >>> descriptor_of("/dev/fd/3"), descriptor_of("corpus.jsonl")
    (3, None)
    """
    refuse_empty(path)
    at = Path(path)
    try:
        for _ in range(_MOST_LINKS):
            at = Path(os.path.realpath(at.parent)) / at.name
            if match := _DESCRIPTOR.fullmatch(str(at)):
                return int(match[1])
            if not at.is_symlink():
                return None
            at = at.parent / at.readlink()
    except (OSError, ValueError):
        return None
    return None
