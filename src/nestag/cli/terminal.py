"""Lines and progress on the error stream; messages of libraries are kept away."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import nestag
from nestag.cli.streams import tell as tell_as_it_is
from nestag.visible import visible

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
REDRAW_ITEMS = 1_000


def tell(message: str) -> None:
    """Print a line on the error stream; it may hold text from outside."""
    tell_as_it_is(visible(message))


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
