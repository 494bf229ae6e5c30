"""Tables for a terminal: columns as narrow as they can be, wide signs counted as wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from nestag.tables.cells import shown
from nestag.tables.table import Table, is_numeric
from nestag.visible import visible

if TYPE_CHECKING:
    from rich.console import Group


def to_rich(table: Table, width: int) -> Group:
    """The table for a terminal so many columns wide."""
    from rich.console import Group
    from rich.text import Text

    return Group(*(Text(line.text, style=line.style, no_wrap=True, overflow="ignore") for line in lines(table, width)))


def to_text(table: Table, width: int = 100) -> str:
    """The terminal's table without colours."""
    return "".join(line.text + "\n" for line in lines(table, width))


class TextLine(NamedTuple):
    """A line of a table, and how a terminal shows it."""

    text: str
    style: str = ""


def lines(table: Table, width: int) -> Iterator[TextLine]:
    """The table with all columns as narrow as they can be; column names may take several lines."""
    widths = [_width(table, place) for place in range(len(table.columns))]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    numeric = [is_numeric(table, place) for place in range(len(table.columns))]

    def joined(cells: Iterable[str]) -> str:
        return gap.join(map(_aligned, cells, widths, numeric)).rstrip()

    if table.title:
        yield TextLine(visible(table.title), "bold")
    names = [_wrapped(visible(name), size) for name, size in zip(table.columns, widths, strict=True)]
    height = max(map(len, names))
    for row in range(height):
        yield TextLine(joined(([""] * (height - len(name)) + name)[row] for name in names), "bold")
    yield TextLine("─" * (sum(widths) + len(gap) * (len(widths) - 1)))
    for number, section in enumerate(table.sections):
        if section.title:
            yield from [TextLine("")] * (number > 0)
            yield TextLine(visible(section.title), "italic")
        for cells in section.rows:
            yield TextLine(joined(visible(shown(cell)) for cell in cells))
    yield from map(TextLine, wrap(visible(table.note), width))


def _width(table: Table, place: int) -> int:
    """What a column needs: its widest cell, and the longest word of its name."""
    cells = [visible(shown(cell)) for cell in table.column(place)]
    return max(map(cell_len, [*cells, *visible(table.columns[place]).split(" ")]))


def _wrapped(name: str, width: int) -> list[str]:
    """The words of a column's name on as few lines as fit."""
    wrapped: list[str] = []
    for word in name.split(" "):
        if wrapped and cell_len(wrapped[-1]) + 1 + cell_len(word) <= width:
            wrapped[-1] += " " + word
        else:
            wrapped.append(word)
    return wrapped


def _aligned(cell: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
