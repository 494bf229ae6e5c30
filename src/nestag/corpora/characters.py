"""The characters of a file exactly as they stand: UTF-8, no line end or byte order mark changed, `.gz` unpacked.

Formats that count characters need this; those that count lines read them with `files.read_lines`.
"""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from nestag.corpora.files import LONGEST_LINE, PIPE
from nestag.errors import InputError

BLOCK = 2**20
"""Bytes read at once."""


def read_blocks(path: str | Path) -> Iterator[str]:
    """The text of a file in blocks, which never end inside a character."""
    source = str(path)
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    with reading(path) as stream:
        while block := stream.read(BLOCK):
            waiting = len(decoder.getstate()[0])  # bytes of a character that the last block ended in
            yield _decoded(decoder, block, at - waiting, source)
            at += len(block)
        yield _decoded(decoder, b"", at - len(decoder.getstate()[0]), source)


def read_text(path: str | Path) -> str:
    """The whole text of a file, at most 64 MiB long."""
    text = ""
    for block in read_blocks(path):
        text += block
        if len(text) > LONGEST_LINE:
            raise InputError(f"longer than {LONGEST_LINE} characters; split it into several documents", str(path))
    return text


@contextmanager
def reading(path: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked; what cannot be read is an InputError."""
    source = str(path)
    try:
        if source == PIPE:
            yield sys.stdin.buffer
            return
        with open(source, "rb") as file:
            yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if source.endswith(".gz") else file
    except FileNotFoundError:
        raise InputError("there is no such file; check the path", source) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"not a whole gzip file ({error}); pack it again or drop the .gz", source) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the path", source) from None


def _decoded(decoder: codecs.IncrementalDecoder, block: bytes, at: int, source: str) -> str:
    try:
        return decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {at + error.start} ({error.object[error.start]:#04x}) is not UTF-8; convert the file, e.g. with"
            " iconv",
            source,
        ) from None
