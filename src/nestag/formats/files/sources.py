"""Reading: bytes, exact text, or numbered lines of UTF-8.

Files that end in `.gz` are unpacked, and refused if they grow too much. `-` is the standard input. A pipe can be read
only once, so what `peek` has read from it is kept for the reader.
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
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from nestag.errors import InputError
from nestag.formats.files.parts import is_being_replaced

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIPE = "-"  # the standard input or output, as an argument of a command
LONGEST_LINE = 64 * 2**20  # the largest number of bytes in one line
SUFFIX = ".gz"
BROKEN = (gzip.BadGzipFile, EOFError, zlib.error)  # errors of Python for an incomplete file
RATIO = 200  # how many times its packed size a file may have when unpacked; text has 3 to 20
RATIO_SETTING = "NESTAG_MAX_GZIP_RATIO"  # the environment variable that sets another ratio
SMALL = 16 * 2**20  # bytes up to which any ratio is fine
BYTES_AT_ONCE = 2**20
_MOST_LINKS = 40
_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|\d+))/fd/(\d+)")
_peeked: dict[tuple[str, object], io.BufferedReader] = {}  # streams of which the beginning was read


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def refuse_empty(path: str | Path) -> None:
    """Refuse an empty path, e.g. from an unset shell variable: it would mean the current folder."""
    if str(path) == "":
        raise InputError("the path is empty; is a variable unset?", "''")


def refuse_impossible(path: str | Path) -> None:
    """Refuse a path that no file can have: an empty one, or one with a null character or half of a character."""
    refuse_empty(path)
    try:
        impossible = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        impossible = True
    if impossible:
        raise InputError("the path has a character that no file name can have; rename it", str(path))


def is_stream(path: str | Path) -> bool:
    """Say whether a path can be read only once: `-`, an open descriptor, a pipe, a socket or a device."""
    if str(path) == PIPE or descriptor_of(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - Path.stat is the same, one call later
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def descriptor_of(path: str | Path) -> int | None:
    """Return the number of the open file that a path names, directly or by links.

    The file behind it must not be opened again: the one who opened the descriptor chose where to read or write.

    >>> descriptor_of("/dev/fd/3"), descriptor_of("corpus.jsonl")
    (3, None)
    """
    refuse_impossible(path)
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


def read_lines(path: str | Path) -> Iterator[Line]:
    """Yield the lines of a file, which end in LF or CRLF and nothing else, without a byte order mark."""
    source = str(path)
    number = 0
    with reading(path) as stream:
        while data := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(data) > LONGEST_LINE:
                raise InputError(f"a line longer than {LONGEST_LINE} bytes; is this the right file?", source, number)
            try:
                text = data.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(error, 0, source, number) from None
            yield Line(number, text.removesuffix("\n").removesuffix("\r"))


def read_blocks(path: str | Path) -> Iterator[str]:
    """Yield the exact text of a file in blocks that never end inside a character."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    with reading(path) as stream:
        data = b"-"
        while data:
            data = stream.read(BYTES_AT_ONCE)
            pending = len(decoder.getstate()[0])  # bytes of a character that the last block ended in
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise _not_utf8(error, at - pending, str(path)) from None
            yield text
            at += len(data)


def read_text(path: str | Path) -> str:
    """Return the exact text of a file of at most 64 Mi characters."""
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
    """Open the bytes of a file, unpacked, and turn errors into an InputError."""
    source = str(path)
    with read_errors(source), _opened(source) as stream:
        yield stream


def peek(path: str | Path, size: int, wait: bool = True) -> bytes:
    """Return the first bytes of a file, unpacked; a pipe can still be read from its beginning.

    Without `wait`, return what is in the pipe so far.
    """
    source = str(path)
    with read_errors(source):
        if not is_stream(path):
            with _opened(source) as stream:
                return stream.read(size)
        stream = _stream(source)
        head = stream.read(size) if wait else stream.read1(size)
        _peeked[_key(source)] = io.BufferedReader(_Rejoined(head, stream))
        return head


@contextmanager
def read_errors(source: str) -> Iterator[None]:
    """Turn errors while reading a file into an InputError."""
    try:
        yield
    except FileNotFoundError:
        if is_being_replaced(Path(source)):
            message = "it was being replaced when a command stopped; run the command that writes it again"
        else:
            message = "there is no such file; check the path"
        raise InputError(message, source) from None
    except BROKEN as error:
        raise InputError(f"not a whole gzip file ({error}); pack it again or drop the .gz", source) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the path", source) from None


def is_packed(path: str) -> bool:
    """Say whether a file is packed, which its name says."""
    return path.endswith(SUFFIX)


def unpacked(file: BinaryIO, source: str) -> io.BufferedReader:
    """Return the content of a packed stream, which must not be empty and must not grow too much."""
    ratio = os.environ.get(RATIO_SETTING, str(RATIO))
    if not ratio.isdecimal() or not int(ratio):
        raise InputError(f"{ratio!r} is not a ratio; set a whole number such as {RATIO}", RATIO_SETTING)
    return io.BufferedReader(_Unpacked(file, source, int(ratio)), 128 * 2**10)


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    if not is_stream(source):
        with open(source, "rb") as file:
            yield unpacked(file, source) if is_packed(source) else file
        return
    stream = _stream(source)
    try:
        yield stream
    finally:
        if source != PIPE:
            stream.close()


def _stream(source: str) -> io.BufferedReader:
    """Return a stream that was peeked into, or open a new one."""
    if (peeked := _peeked.pop(_key(source), None)) is not None:
        return peeked
    if source == PIPE:
        if sys.stdin is None or sys.stdin.closed:
            raise OSError(errno.EBADF, "the standard input is closed")
        return cast(io.BufferedReader, sys.stdin.buffer)
    number = descriptor_of(source)
    file = open(source if number is None else os.dup(number), "rb")  # noqa: SIM115 - readers close it
    return unpacked(file, source) if is_packed(source) else file


def _key(source: str) -> tuple[str, object]:
    """Identify a stream; the standard input may be replaced by another."""
    return source, sys.stdin if source == PIPE else None


def _not_utf8(error: UnicodeDecodeError, at: int, source: str, line: int | None = None) -> InputError:
    """Describe a byte that cannot be decoded, counted from the beginning of the file or line."""
    byte = f"byte {at + error.start} ({error.object[error.start]:#04x})"
    return InputError(f"{byte} is not UTF-8; convert the file, e.g. with iconv", source, line)


class _Rejoined(io.RawIOBase):
    """The beginning of a stream, which was read before, and then its rest."""

    def __init__(self, head: bytes, rest: io.BufferedReader) -> None:
        self.head = io.BytesIO(head)
        self.rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.head.read(len(view)) or self.rest.read1(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and self.rest is not getattr(sys.stdin, "buffer", None):
            self.rest.close()
        super().close()


class _Counted:
    """A stream and the number of bytes read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.count += len(data)
        return data


class _Unpacked(io.RawIOBase):
    """The content of a packed stream, as long as it stays within its ratio."""

    def __init__(self, file: BinaryIO, source: str, ratio: int) -> None:
        self.packed = _Counted(file)
        self.content = gzip.GzipFile(fileobj=cast(BinaryIO, self.packed), mode="rb")
        self.source = source
        self.ratio = ratio
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.content.read1(len(view))
        view[: len(data)] = data
        self.size += len(data)
        if not self.packed.count:
            raise EOFError("it is empty")
        if self.size > max(SMALL, self.ratio * self.packed.count):
            raise InputError(
                f"more than {self.ratio} times its packed size when unpacked; if you trust it, unpack it yourself"
                f" or set {RATIO_SETTING} to a higher ratio", self.source
            )  # fmt: skip
        return len(data)

    def close(self) -> None:
        self.packed.file.close()
        super().close()
