"""Files as they are read: bytes, exact text, or numbered lines of UTF-8; `.gz` unpacked, `-` the standard input.

A pipe can be read only once. What `peek` has taken from it is kept, and comes first when it is read.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from nestag.errors import InputError
from nestag.files.folders import finish_moves
from nestag.files.packed import BROKEN, is_packed, unpacked
from nestag.files.paths import PIPE, descriptor_of, is_stream

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_LINE = 64 * 2**20
"""Bytes of one line beyond which a file is taken for something else."""
BLOCK = 1_024
"""Lines that stay together when a file is read in parts."""
BYTES_AT_ONCE = 2**20
_peeked: dict[tuple[str, object], BinaryIO] = {}  # streams that have been looked at and not read yet


class FileShare(NamedTuple):
    """Some of a file's blocks of lines: every `of`-th, beginning with this one."""

    block: int
    of: int


WHOLE = FileShare(0, 1)


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def read_lines(path: str | Path, part: FileShare = WHOLE) -> Iterator[Line]:
    """The lines of a file, ended by LF or CRLF and by nothing else; a byte order mark is left out."""
    source = str(path)
    number = 0
    with reading(path) as stream:
        while raw := _next_line(stream, source, number + 1):
            number += 1
            if part.of == 1 or (number - 1) // BLOCK % part.of == part.block:
                yield Line(number, _decoded_line(raw, source, number))


def read_blocks(path: str | Path) -> Iterator[str]:
    """The text of a file exactly as it stands, in blocks that never end inside a character."""
    source = str(path)
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    with reading(path) as stream:
        while block := stream.read(BYTES_AT_ONCE):
            waiting = len(decoder.getstate()[0])  # bytes of a character that the last block ended in
            yield _decoded(decoder, block, at - waiting, source)
            at += len(block)
        yield _decoded(decoder, b"", at - len(decoder.getstate()[0]), source)


def read_text(path: str | Path) -> str:
    """The whole text of a file exactly as it stands, at most 64 Mi characters long."""
    blocks: list[str] = []
    size = 0
    for block in read_blocks(path):
        blocks.append(block)
        size += len(block)
        if size > LONGEST_LINE:
            raise InputError(f"longer than {LONGEST_LINE} characters; split it into several documents", str(path))
    return "".join(blocks)


@contextmanager
def reading(path: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked; what cannot be read is an InputError."""
    source = str(path)
    with explained_reading(source), _opened(source) as stream:
        yield stream


def peek(path: str | Path, size: int, wait: bool = True) -> bytes:
    """The first bytes of a file, unpacked; a pipe can still be read as a whole afterwards.

    Of a pipe that is not to be waited for, they are what its writer has written so far.
    """
    source = str(path)
    with explained_reading(source):
        if not is_stream(path):
            with _opened(source) as stream:
                return stream.read(size)
        stream = _taken(source)
        head = stream.read(size) if wait else _available(stream, size)
        _peeked[_key(source)] = cast(BinaryIO, io.BufferedReader(_Rejoined(head, stream)))
        return head


@contextmanager
def explained_reading(source: str) -> Iterator[None]:
    """What goes wrong with a file, as an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("there is no such file; check the path", source) from None
    except BROKEN as error:
        raise InputError(f"not a whole gzip file ({error}); pack it again or drop the .gz", source) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the path", source) from None


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    if not is_stream(source):
        finish_moves(Path(source).parent)
        with _open(source) as file:
            yield unpacked(file, source) if is_packed(source) else file
        return
    stream = _taken(source)
    try:
        yield stream
    finally:
        if source != PIPE:
            stream.close()


def _taken(source: str) -> BinaryIO:
    """The stream of a pipe: the one that was looked at before, or a new one."""
    if (waiting := _peeked.pop(_key(source), None)) is not None:
        return waiting
    if source == PIPE:
        if sys.stdin is None or sys.stdin.closed:
            raise OSError(errno.EBADF, "the standard input is closed")
        return cast(BinaryIO, sys.stdin.buffer)
    number = descriptor_of(source)
    file = _open(source) if number is None else cast(BinaryIO, os.fdopen(os.dup(number), "rb"))
    return unpacked(file, source) if is_packed(source) else file


def _key(source: str) -> tuple[str, object]:
    """What a stream is known by; the standard input may be replaced by another."""
    return source, sys.stdin if source == PIPE else None


def _open(source: str) -> BinaryIO:
    try:
        return open(source, "rb")
    except ValueError as error:  # a null character in the path
        raise OSError(errno.EINVAL, str(error)) from None


def _available(stream: BinaryIO, size: int) -> bytes:
    """The next bytes of a stream without waiting for more than the first; none at its end."""
    return cast(io.BufferedReader, stream).read1(size)


class _Rejoined(io.RawIOBase):
    """What was read from a stream before, then the rest of it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self.head = io.BytesIO(head)
        self.rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.head.read(len(view)) or _available(self.rest, len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and self.rest is not getattr(sys.stdin, "buffer", None):
            self.rest.close()
        super().close()


def _next_line(stream: BinaryIO, source: str, number: int) -> bytes:
    try:
        return stream.readline(LONGEST_LINE + 1)
    except BROKEN as error:
        raise InputError(f"not a whole gzip file ({error}); pack it again or drop the .gz", source, number) from None


def _decoded_line(raw: bytes, source: str, number: int) -> str:
    if len(raw) > LONGEST_LINE:
        raise InputError(f"the line is longer than {LONGEST_LINE} bytes; is this the right file?", source, number)
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} ({raw[error.start]:#04x}) is not UTF-8; convert the file, e.g. with iconv",
            source,
            number,
        ) from None
    return text.removesuffix("\n").removesuffix("\r")


def _decoded(decoder: codecs.IncrementalDecoder, block: bytes, at: int, source: str) -> str:
    try:
        return decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {at + error.start} ({error.object[error.start]:#04x}) is not UTF-8; convert the file, e.g. with"
            " iconv",
            source,
        ) from None
