"""What commands share: one line for an error, progress on the error stream, and the meaning of exit codes.

0 it went well · 1 the answer is no · 2 the input cannot be used; one line on the error stream says where and why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

import typer

from nestag.errors import NestagError
from nestag.tables import visible

P = ParamSpec("P")
T = TypeVar("T")
BAD_INPUT = 2
EVERY = 1_000


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with nestag's own errors as one line and exit code 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except NestagError as error:
            tell(f"nestag: {visible(' '.join(str(error).split()))}")  # it may hold names from outside
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            tell("nestag: interrupted")
            raise typer.Exit(130) from None

    return run


def tell(message: str) -> None:
    """A line for the person, not for the pipe."""
    typer.echo(message, err=True)


def hush() -> None:
    """Keep transformers' own bars and notices off the error stream; errors still come through."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items as they are, with a running count on the error stream if a person looks at it."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        for count, item in enumerate(items, 1):
            yield item
            if count % EVERY == 0:
                bar.update(task, completed=count)
