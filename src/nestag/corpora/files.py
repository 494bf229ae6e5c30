"""Files in and out: numbered lines of UTF-8, gzip by suffix, `-` for a pipe; outputs written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, TextIO, cast

from nestag.errors import InputError

PIPE = "-"
LONGEST_LINE = 64 * 2**20
"""Bytes of one line beyond which a file is taken for something else."""


BLOCK = 1_024
"""Lines that stay together when a file is read in parts."""


class Part(NamedTuple):
    """Some of a file's blocks of lines: every `of`-th, beginning with this one."""

    block: int
    of: int


WHOLE = Part(0, 1)


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def read_lines(path: str | Path, part: Part = WHOLE) -> Iterator[Line]:
    """The lines of a file (`.gz` unpacked, `-` the standard input), ended by LF or CRLF and by nothing else."""
    source = str(path)
    number = 0
    try:
        with _reading(source) as stream:
            while raw := stream.readline(LONGEST_LINE + 1):
                number += 1
                if part.of == 1 or (number - 1) // BLOCK % part.of == part.block:
                    yield Line(number, _text(raw, source, number))
    except FileNotFoundError:
        raise InputError("there is no such file; check the path", source) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"not a whole gzip file ({error}); pack it again or drop the .gz", source, number + 1
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the path", source) from None


def _text(raw: bytes, source: str, number: int) -> str:
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


@contextmanager
def _reading(source: str) -> Iterator[BinaryIO]:
    if source == PIPE:
        yield sys.stdin.buffer
        return
    with open(source, "rb") as file:
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if source.endswith(".gz") else file


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A text stream that becomes the file when the block ends well, and leaves nothing behind when it does not.

    Pipes and devices (`-`, `/dev/null`) cannot be replaced as a whole and are written as the text comes.
    """
    if str(path) == PIPE:
        sys.stdout.flush()
        with _text_stream(sys.stdout.buffer, packed=False) as stream:
            yield stream
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    packed = str(path).endswith(".gz")
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as device, _text_stream(device, packed) as stream:
                yield stream
        else:
            with _replacing(target) as file, _text_stream(file, packed) as stream:
                yield stream
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"cannot be written ({reason}); check the folder, its rights and its space", str(path)
        ) from None


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file beside the target that takes its place when the block ends well."""
    mask = os.umask(0)
    os.umask(mask)
    rights = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~mask
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part", delete=False
    ) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(rights)
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink()
            raise


@contextmanager
def _text_stream(file: IO[bytes], packed: bool) -> Iterator[TextIO]:
    """The bytes of a file as UTF-8 text; packed files do not hold the time, so that equal input gives equal bytes."""
    inner = gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) if packed else file
    text = io.TextIOWrapper(cast(IO[bytes], inner), encoding="utf-8", newline="\n")
    try:
        yield text
    finally:
        text.detach()  # flushes, and keeps the file from being closed with the text
    if packed:
        inner.close()
