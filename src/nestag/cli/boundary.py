"""The boundary of a command: every error leaves it as one line and an exit code.

0     success
1     the answer is no
2     an error that the user can fix; one line says where, why and what to do
70    a bug in nestag; a short report says what to send us
129   stopped by SIGHUP; 130 by SIGINT, 143 by SIGTERM
141   the reader of the output has gone
"""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import PurePath
from traceback import extract_tb
from typing import ParamSpec

import typer

import nestag
from nestag.cli.streams import flush_output, prepare_streams, tell
from nestag.errors import NestagError, named_as_options
from nestag.training.interruption import ending_as_exceptions

P = ParamSpec("P")
USER_ERROR, BUG, INTERRUPTED, NO_READER = 2, 70, 130, 141
FRAMES = 6
"""The last frames of a traceback that a report shows."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
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
        tell("nestag: interrupted")
        return INTERRUPTED
    if line := user_error(error):
        tell(f"nestag: {' '.join(line.split())}")
        return USER_ERROR
    for line in bug_report(error):
        tell(line)
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
