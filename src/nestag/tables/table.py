"""A table before any form is chosen, and what every form asks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from nestag.tables.cells import Cell, Figure, Row


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
