"""The boundary of a command: every error leaves it as one line and an exit code, whatever the standard streams are.

0     success
1     the answer is no
2     an error that the user can fix; one line says where, why and what to do
70    a bug in nestag; a short report says what to send us
129   stopped by SIGHUP; 130 by SIGINT, 143 by SIGTERM
141   the reader of the output has gone
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import platform
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import PurePath
from traceback import extract_tb
from typing import TYPE_CHECKING, ParamSpec

import typer

import nestag
from nestag.errors import NestagError, named_as_options, visible
from nestag.training.interruption import ending_as_exceptions

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

P = ParamSpec("P")
USER_ERROR, BUG, INTERRUPTED, NO_READER = 2, 70, 130, 141
FRAMES = 6  # of a traceback, in a bug report
_ESCAPE = "nestag.escape"


def guard(command: Callable[P, None]) -> Callable[P, None]:
    """Return the command with every error as a message and an exit code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with named_as_options():
                command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the boundary
            raise typer.Exit(code_of(error)) from None

    return run


def run(app: Callable[[], object]) -> int:
    """Run the command line and return its exit code; no exception leaves this."""
    prepare_streams()
    code = 0
    try:
        with ending_as_exceptions():
            app()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the boundary
        code = code_of(error)
    failure = flush_output()
    return code_of(failure) if failure and not code else code


def code_of(error: BaseException) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(error, BrokenPipeError):
        return NO_READER
    if isinstance(error, KeyboardInterrupt):
        log("nestag: interrupted")
        return INTERRUPTED
    if line := user_error(error):
        log(f"nestag: {' '.join(line.split())}")
        return USER_ERROR
    for line in bug_report(error):
        log(line)
    return BUG


def user_error(error: BaseException) -> str:
    """Return what the user can fix, in a line; empty if it is a bug in nestag."""
    if isinstance(error, NestagError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; read less at once, or use a larger machine"
    if isinstance(error, OSError):
        place = error.filename if error.filename is not None else "a file or the standard output"
        return f"{place}: {error.strerror or error}; check the path, its rights and the space there"
    return ""


def bug_report(error: BaseException) -> list[str]:
    """Return what is needed to fix a bug in nestag."""
    return [
        "nestag: this is a bug in nestag; please report it with these lines",
        f"  nestag {nestag.__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"  command: nestag {shlex.join(sys.argv[1:])}",
        f"  {type(error).__name__}: {error}"[:500],
        *(
            f"  {'/'.join(PurePath(frame.filename).parts[-3:])}:{frame.lineno} in {frame.name}"
            for frame in extract_tb(error.__traceback__)[-FRAMES:]
        ),
    ]


def log(message: str) -> None:
    """Print a line on stderr if possible; control characters in it become visible."""
    with suppress(OSError):
        typer.echo(visible(message), err=True)


def prepare_streams() -> None:
    """Make a closed stdout an error when it is written, ignore errors of stderr, and let any text through."""
    codecs.register_error(_ESCAPE, _escape)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: no file that is opened later may take its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_ClosedStream()), "utf-8", _ESCAPE)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPE)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _ForgivingStream(sys.stderr)


def flush_output() -> OSError | None:
    """Flush the standard streams, and return the error if stdout cannot be written."""
    failure: OSError | None = None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            if stream is not None:
                stream.flush()
                stream.buffer.flush()
        except OSError as error:
            setattr(sys, name, None)  # the interpreter would write the rest again at exit, and complain
            if name == "stdout":
                error.filename = "the standard output"
                failure = error
    return failure


class _ClosedStream(io.RawIOBase):
    """A stdout that was closed before the command started."""

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        raise OSError(errno.EBADF, "it is closed", "the standard output")


class _ForgivingStream(io.TextIOWrapper):
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


def _escape(error: UnicodeError) -> tuple[str, int]:
    r"""Return characters that a stream cannot encode as `\u` and four digits, as in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end
