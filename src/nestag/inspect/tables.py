r"""Tables: a title, columns and rows, and their layout in a terminal; table_forms.py writes them to files.

    Table("Corpus", ("split", "entities"), (Section("", (("train", 47006), ("dev", 4461))),))

A cell is text, a number, a `Percent`, a measured `Figure`, or None for nothing. Programs (JSON, CSV) get numbers as
they are; people get them rounded, with thousands separators. Rows are grouped in sections; programs get the title of
the section as a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment, Segments
from rich.style import Style

from nestag.errors import visible

NOTHING = "–"


class Percent(float):
    """A share in percent; only exact values are shown as 0 and 100.

    >>> shown(Percent(99.999)), shown(Percent(100)), shown(Percent(0.001))
    ('>99.99', '100.00', '<0.01')
    """


def percent(share: float | None) -> Percent | None:
    """Return a share in percent, if there is one."""
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
    note: str = ""  # written after it for people
    bold: bool = False  # where a form has bold type


Cell = str | int | float | Figure | None
Row = tuple[Cell, ...]


def shown(cell: Cell) -> str:
    """Return a cell as people read it.

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
    """Return a time in words, in its two largest units.

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
    """The content of a table, before any form is chosen."""

    title: str
    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    note: str = ""  # written below it for people

    def __post_init__(self) -> None:
        for section in self.sections:
            for row in section.rows:
                assert len(row) == len(self.columns), (row, self.columns)

    def column(self, place: int) -> list[Cell]:
        """Return all cells of a column."""
        return [row[place] for section in self.sections for row in section.rows]


def has_sections(table: Table) -> bool:
    """Return whether any section has a title."""
    return any(section.title for section in table.sections)


_BOUND = re.compile(r"[<>] ?\d[\d.,]*")


def is_numeric(table: Table, place: int) -> bool:
    """Return whether a column holds numbers, bounds such as >99.99 or nothing, and no other text."""
    cells = table.column(place)
    texts = [cell for cell in cells if isinstance(cell, str)]
    return len(texts) < len(cells) and all(map(_BOUND.fullmatch, texts))


def flat(table: Table) -> Table:
    """Return the table for programs: deviations and counts of figures get columns of their own, if there are any.

    >>> flat(Table("", ("F1",), (Section("", ((Figure(75.9, 0.13, 3),),)),))).columns
    ('F1', 'F1 deviation', 'F1 count')
    """
    parts: list[tuple[str, int, str]] = []  # name and place of a column, and the field of its figures
    for place, name in enumerate(table.columns):
        figures = [cell for cell in table.column(place) if isinstance(cell, Figure)]
        fields = [field for field in ("deviation", "count") if any(getattr(f, field) is not None for f in figures)]
        parts += [(name, place, "value"), *((f"{name} {field}", place, field) for field in fields)]
    sections = tuple(
        Section(title, tuple(tuple(_plain(row[place], field) for _, place, field in parts) for row in rows))
        for title, rows in table.sections
    )
    return Table(table.title, tuple(name for name, _, _ in parts), sections, table.note)


def _plain(cell: Cell, field: str) -> Cell:
    """Return a field of a figure; any other cell is its own value."""
    if isinstance(cell, Figure):
        value: Cell = getattr(cell, field)
        return value
    return cell if field == "value" else None


def to_rich(table: Table, width: int) -> Segments:
    """Lay the table out for a terminal with this many columns."""
    return Segments([segment for line in lines(table, width) for segment in (line, Segment.line())])


def to_text(table: Table, width: int = 100) -> str:
    """Return the terminal's table without colours."""
    return "".join(line.text + "\n" for line in lines(table, width))


def lines(table: Table, width: int) -> Iterator[Segment]:
    """Yield the lines of the table with columns as narrow as possible; column names may take several lines."""
    places = range(len(table.columns))
    cells = [[visible(shown(cell)) for cell in table.column(place)] for place in places]
    names = [visible(name) for name in table.columns]
    widths = [max(map(cell_len, [*cells[place], *names[place].split(" ")])) for place in places]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    numeric = [is_numeric(table, place) for place in places]

    def line(texts: Iterable[str], style: str = "") -> Segment:
        return styled(gap.join(map(_align, texts, widths, numeric)).rstrip(), style)

    if table.title:
        yield styled(visible(table.title), "bold")
    wrapped = [wrap(name, size, break_long_words=False) for name, size in zip(names, widths, strict=True)]
    height = max(map(len, wrapped))
    for texts in zip(*([""] * (height - len(name)) + name for name in wrapped), strict=True):
        yield line(texts, "bold")
    yield styled("─" * (sum(widths) + len(gap) * (len(widths) - 1)))
    rows = zip(*cells, strict=True)
    for number, section in enumerate(table.sections):
        if section.title:
            yield from [styled("")] * (number > 0)
            yield styled(visible(section.title), "italic")
        yield from (line(next(rows)) for _ in section.rows)
    yield from map(styled, wrap(visible(table.note), width))


def styled(text: str, style: str = "") -> Segment:
    """Return text in a style as rich writes it: `bold`, `cyan`."""
    return Segment(text, Style.parse(style) if style else None)


def _align(cell: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
