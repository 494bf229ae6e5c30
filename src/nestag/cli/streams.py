"""The standard streams: closed, full or in any encoding, they never end a command with a traceback."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from nestag.errors import visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_ESCAPE = "nestag.escape"


def prepare_streams() -> None:
    """Make a closed stdout an error on the first write, and let text of any language through."""
    codecs.register_error(_ESCAPE, _escaped)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: no file that is opened later may take its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Closed()), "utf-8", _ESCAPE)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPE)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _Forgiving(sys.stderr)


def flush_output() -> OSError | None:
    """Flush the standard streams, and return the error if stdout cannot be written."""
    failure: OSError | None = None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
                stream.buffer.flush()
        except OSError as error:
            _give_up(number)
            if number == 1:
                error.filename = "the standard output"
                failure = error
    return failure


def tell(message: str) -> None:
    """Print a line on stderr if possible; control characters in it become visible."""
    with suppress(OSError):
        typer.echo(visible(message), err=True)


def _give_up(number: int) -> None:
    """Discard a stream's buffer; otherwise the interpreter would try to write it again at exit, and complain."""
    raw = getattr(sys.stdout.buffer, "raw", None) if number == 1 else None
    if isinstance(raw, _Closed):
        raw.is_ignored = True
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


class _Forgiving(io.TextIOWrapper):
    """A stderr that ignores write errors: a full disk must not end the command."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, stream.encoding, "backslashreplace", line_buffering=True)
        self.stream = stream  # keeps the file open

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


class _Closed(io.RawIOBase):
    """A stdout that was closed before the command started."""

    is_ignored = False

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        if not self.is_ignored:
            raise OSError(errno.EBADF, "it is closed", "the standard output")
        return len(memoryview(data))


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""Return characters that a stream cannot encode as `\u` and four digits, as in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end
