"""One file written whole or not at all; pipes and devices, which cannot be replaced, are written as the bytes come."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, cast

from nestag.files.folders import explained, finish_moves, new_name, sync_folder
from nestag.files.packed import is_packed, packing
from nestag.files.paths import PIPE, descriptor_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 text stream that becomes the file when the block ends well; otherwise nothing changes."""
    with writing_bytes(path) as file:
        text = io.TextIOWrapper(cast(IO[bytes], _Kept(file)), encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.flush()


@contextmanager
def writing_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """The same for bytes; `.gz` packs them."""
    with explained(path), _opened(path) as file, packing(file) if is_packed(str(path)) else nullcontext(file) as stream:
        yield stream


class _Kept(io.BufferedIOBase):
    """A file that stays open when the text over it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        return self.file.write(data)

    def close(self) -> None:
        """Leave that to whoever opened it."""


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    number = descriptor_of(path)
    target = Path(os.path.realpath(path))
    if str(path) == PIPE:
        with _standard_output() as stream:
            yield stream
    elif number is not None:
        with _descriptor(number) as stream:
            yield stream
    elif target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
    else:
        with _replacing(target) as stream:
            yield stream


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None or sys.stdout.closed:
        raise OSError(errno.EBADF, "the standard output is closed")
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _descriptor(number: int) -> Iterator[IO[bytes]]:
    """An open file, written from where it stands; what was printed before comes first."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    with os.fdopen(os.dup(number), "wb") as file:
        yield file


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file beside the target that takes its place when the block ends well; the target's rights are kept."""
    finish_moves(target.parent)
    part = target.with_name(new_name())
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
