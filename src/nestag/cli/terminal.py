"""Tables on stdout, lines and progress on stderr, and no messages of libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

import typer

import nestag
from nestag.cli.boundary import log
from nestag.errors import visible
from nestag.inspect.table_forms import TableForm, to_rich, write
from nestag.inspect.tables import Table

__all__ = ["echo", "log", "log_all", "progress", "show", "silence_libraries"]

T = TypeVar("T")


def log_all(lines: Iterable[str]) -> None:
    """Print lines on stderr."""
    for line in lines:
        log(line)


def silence_libraries() -> None:
    """Turn off the progress bars and notices of transformers; if it is missing, say what to install.

    nestag checks what these would warn about: weights of another shape (tagger.py), changed files (model_folder.py)
    and sentences longer than a window (subwords/).
    """
    _ = nestag.NestedNER  # raises MissingExtraError
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """Yield the items, with a count on stderr if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, description=what)


def show(table: Table, form: TableForm) -> None:
    """Print a table, on a terminal in colours and in its width."""
    if form is TableForm.text and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        console.print(to_rich(table, console.width), crop=False)
    else:
        echo(write(table, form))


def echo(text: str) -> None:
    """Print text for programs as it is; on a terminal control characters become visible."""
    shown = "\n".join(map(visible, text.split("\n"))) if sys.stdout.isatty() else text
    typer.echo(shown, nl=False, color=True)  # keep escape codes that are part of a name
