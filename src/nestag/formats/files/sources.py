"""Reading: bytes, exact text, or numbered lines of UTF-8; `.gz` is unpacked, `-` is the standard input.

A pipe can be read only once: what `peek` has taken from it is kept and comes first when it is read. Packed files are
written so that equal content gives equal bytes, and one that grows too much when unpacked is refused.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from nestag.errors import InputError
from nestag.formats.files.parts import is_being_replaced

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

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


SUFFIX = ".gz"
BROKEN = (gzip.BadGzipFile, EOFError, zlib.error)
"""What is raised while a file that is not whole is unpacked."""

RATIO = 200
"""How many times its packed size a file may have unpacked; text has 3 to 20."""
RATIO_SETTING = "NESTAG_MAX_GZIP_RATIO"
"""The environment variable that sets another ratio."""
SMALL = 16 * 2**20
"""Bytes up to which any ratio is fine."""
_BUFFER = 128 * 2**10


def is_packed(path: str) -> bool:
    """Whether a file is packed, which its name says."""
    return path.endswith(SUFFIX)


def unpacked(file: BinaryIO, source: str) -> BinaryIO:
    """The content of a packed stream; an empty one is broken, and one that grows too much is an InputError."""
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, source, _ratio()), _BUFFER))


@contextmanager
def packing(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """A stream that packs into another; the time is not written, so equal content gives equal bytes."""
    with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        yield cast(IO[bytes], packed)


def _ratio() -> int:
    text = os.environ.get(RATIO_SETTING, str(RATIO))
    if not text.isdecimal() or not int(text):
        raise InputError(f"{text!r} is no ratio; set a whole number such as {RATIO}", RATIO_SETTING)
    return int(text)


class _Counted:
    """A stream and how many bytes were read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.count += len(data)
        return data


class _Unpacked(io.RawIOBase):
    def __init__(self, file: BinaryIO, source: str, ratio: int) -> None:
        self.packed = _Counted(file)
        self.content = gzip.GzipFile(fileobj=cast(BinaryIO, self.packed), mode="rb")
        self.source = source
        self.ratio = ratio
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        data = self.content.read1(len(memoryview(buffer).cast("B")))
        memoryview(buffer).cast("B")[: len(data)] = data
        self.size += len(data)
        if not self.packed.count:
            raise EOFError("it is empty")
        if self.size > max(SMALL, self.ratio * self.packed.count):
            raise InputError(
                f"more than {self.ratio} times its packed size when unpacked; if you trust it, unpack it"
                f" yourself or set {RATIO_SETTING} to a higher ratio",
                self.source,
            )
        return len(data)

    def close(self) -> None:
        self.packed.file.close()
        super().close()


LONGEST_LINE = 64 * 2**20
"""Bytes of one line beyond which a file is taken for something else."""
BYTES_AT_ONCE = 2**20
_peeked: dict[tuple[str, object], BinaryIO] = {}  # streams that have been looked at and not read yet


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def read_lines(path: str | Path) -> Iterator[Line]:
    """The lines of a file, ended by LF or CRLF and by nothing else; a byte order mark is left out."""
    source = str(path)
    number = 0
    with reading(path) as stream:
        while raw := _next_line(stream, source, number + 1):
            number += 1
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
        if is_being_replaced(Path(source)):
            raise InputError(
                "it was being replaced when a command stopped; run the command that writes it again", source
            ) from None
        raise InputError("there is no such file; check the path", source) from None
    except BROKEN as error:
        raise InputError(f"not a whole gzip file ({error}); pack it again or drop the .gz", source) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the path", source) from None


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    if not is_stream(source):
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
