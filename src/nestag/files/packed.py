"""The one place that packs and unpacks `.gz`: equal content gives equal bytes, and no small file fills the memory."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from nestag.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

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
