"""Tables on the standard output, lines and progress on the error stream; messages of libraries are silenced."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import typer

import nestag
from nestag.cli.streams import tell as tell_as_it_is
from nestag.errors import visible
from nestag.inspect.table_forms import TableForm, write
from nestag.inspect.tables import Table, to_rich

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
REDRAW_ITEMS = 1_000


def tell(message: str) -> None:
    """Print a line on the error stream; it may hold text from outside."""
    tell_as_it_is(visible(message))


def tell_all(lines: Iterable[str]) -> None:
    """Print lines on the error stream."""
    for line in lines:
        tell(line)


def hush() -> None:
    """Keep transformers' own bars and notices off the error stream; where it is missing, say what to install.

    What it would warn of is checked where it happens: weights that are missing, left over or of another shape
    (tagger.py), files that are not those saved (model_folder.py), sentences longer than the model reads (subwords/).
    """
    _ = nestag.NestedNER  # raises MissingExtraError
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items unchanged, with a progress count on the error stream if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        for count, item in enumerate(items, 1):
            yield item
            if count % REDRAW_ITEMS == 0:
                bar.update(task, completed=count)


def bar_of_steps() -> Progress:
    """A bar on the error stream for work that is counted in steps, with the time that is left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=Console(stderr=True, highlight=False))


def say(bar: Progress, line: str) -> None:
    """Print a line above a bar."""
    bar.console.print(line, soft_wrap=True)


def show(table: Table, form: TableForm) -> None:
    """Print a table; a terminal gets colours and its own width, a pipe plain text. Nothing is cut."""
    if form is TableForm.text and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        console.print(to_rich(table, console.width), crop=False)
    else:
        echo(write(table, form))


def echo(text: str) -> None:
    """Print text as it is, for programs; on a terminal nothing in it can move the cursor or change a colour."""
    shown = "\n".join(map(visible, text.split("\n"))) if sys.stdout.isatty() else text
    typer.echo(shown, nl=False, color=True)  # a colour is no colour of ours, but part of a name
