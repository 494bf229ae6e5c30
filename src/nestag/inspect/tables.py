r"""Tables: a title, columns and rows, and how a terminal shows them; table_forms.py writes them to files.

    Table("Corpus", ("split", "entities"), (Section("", (("train", 47006), ("dev", 4461))),))

A cell is text, a number, a `Percent`, a `Figure` that was measured, or None for nothing. Programs (JSON, CSV) get
numbers as they are; people get them rounded and with thousands marked. Rows are grouped in sections, whose titles
programs get as a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from nestag.errors import visible

if TYPE_CHECKING:
    from rich.console import Group

NOTHING = "–"


class Percent(float):
    """A share in percent; what is not all or nothing is never rounded to it.

    >>> shown(Percent(99.999)), shown(Percent(100)), shown(Percent(0.001))
    ('>99.99', '100.00', '<0.01')
    """


def percent(share: float | None) -> Percent | None:
    """A share in percent, if there is one."""
    return None if share is None else Percent(share)


@dataclass(frozen=True)
class Figure:
    """A measured number; programs get its deviation and its count as columns of their own.

    >>> shown(Figure(75.916, 0.131, 3)), shown(Figure(86.1, form=".1f")), shown(Figure(0.9, 0.07, form="+.2f"))
    ('75.92 ± 0.13', '86.1', '+0.90 ± 0.07')
    """

    value: float
    deviation: float | None = None  # of repetitions
    count: int | None = None  # of repetitions
    form: str = ".2f"  # how it is written for people
    note: str = ""  # what people read after it
    bold: bool = False  # where a form has bold type


Cell = str | int | float | Figure | None
Row = tuple[Cell, ...]


def shown(cell: Cell) -> str:
    """A cell for people.

    >>> shown(57063), shown(26.516), shown(None), shown("protein")
    ('57,063', '26.52', '–', 'protein')
    """
    if cell is None:
        return NOTHING
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, Figure):
        return _figure(cell)
    if isinstance(cell, Percent) and 0 < cell < 100:
        return {"0.00": "<0.01", "100.00": ">99.99"}.get(f"{cell:.2f}", f"{cell:.2f}")
    return f"{cell:,.2f}"


def _figure(cell: Figure) -> str:
    spread = "" if cell.deviation is None else f" ± {cell.deviation:{cell.form.removeprefix('+')}}"
    return f"{cell.value:{cell.form}}{spread}{cell.note and ' '}{cell.note}"


def duration(seconds: float) -> str:
    """A time in words, the two largest units of it.

    >>> duration(3.24), duration(123), duration(7_380)
    ('3 s', '2 min 3 s', '2 h 3 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600:,} h {whole % 3_600 // 60} min"


class Section(NamedTuple):
    """Rows that belong together, under a title unless it is empty."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """What is to be shown, before any form is chosen."""

    title: str
    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    note: str = ""  # what people read below it

    def __post_init__(self) -> None:
        for section in self.sections:
            for row in section.rows:
                assert len(row) == len(self.columns), (row, self.columns)

    def column(self, place: int) -> list[Cell]:
        """All cells of a column."""
        return [row[place] for section in self.sections for row in section.rows]


def is_parted(table: Table) -> bool:
    """Whether any section has a title."""
    return any(section.title for section in table.sections)


_BOUND = re.compile(r"[<>] ?\d[\d.,]*")


def is_numeric(table: Table, place: int) -> bool:
    """Whether a column holds numbers, bounds such as >99.99, or nothing, and no other text."""
    cells = table.column(place)
    texts = [cell for cell in cells if isinstance(cell, str)]
    return len(texts) < len(cells) and all(map(_BOUND.fullmatch, texts))


class _PlainColumn(NamedTuple):
    """A column as programs get it: a field of the figures in a column, or the cells themselves."""

    name: str
    place: int
    field: str = ""

    def of(self, row: Row) -> Cell:
        cell = row[self.place]
        if isinstance(cell, Figure):
            found: Cell = getattr(cell, self.field or "value")
            return found
        return None if self.field else cell


def flat(table: Table) -> Table:
    """The table for programs: deviation and count of figures stand in columns of their own, where there are any.

    >>> flat(Table("", ("F1",), (Section("", ((Figure(75.9, 0.13, 3),),)),))).columns
    ('F1', 'F1 deviation', 'F1 count')
    """
    parts = [part for place in range(len(table.columns)) for part in _parts(table, place)]
    sections = tuple(
        Section(title, tuple(tuple(part.of(row) for part in parts) for row in rows)) for title, rows in table.sections
    )
    return Table(table.title, tuple(part.name for part in parts), sections, table.note)


def _parts(table: Table, place: int) -> Iterator[_PlainColumn]:
    name = table.columns[place]
    figures = [cell for cell in table.column(place) if isinstance(cell, Figure)]
    yield _PlainColumn(name, place)
    for field in ("deviation", "count"):
        if any(getattr(figure, field) is not None for figure in figures):
            yield _PlainColumn(f"{name} {field}", place, field)


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
