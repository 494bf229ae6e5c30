"""Tables: a title, columns and rows; table_forms.py writes them.

    Table("Corpus", ("split", "entities"), (Section("", (("train", 47006), ("dev", 4461))),))

A cell is text, a number, a `Percent`, a measured `Figure`, or None for nothing. Programs get numbers as they are.
People get them rounded, with thousands separators. Rows are grouped in sections. Programs get the title of the section
as a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

NOTHING = "–"
_BOUND = re.compile(r"[<>] ?\d[\d.,]*")


class Percent(float):
    """A share in percent; only exact values are shown as 0 and 100.

    >>> shown(Percent(99.999)), shown(Percent(100)), shown(Percent(0.001))
    ('>99.99', '100.00', '<0.01')
    """


def percentage(part: int, whole: int) -> Percent | None:
    """Return a share in percent, None if the whole is 0."""
    return Percent(100 * part / whole) if whole else None


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

    def __str__(self) -> str:
        spread = "" if self.deviation is None else f" ± {self.deviation:{self.form.removeprefix('+')}}"
        return f"{self.value:{self.form}}{spread}{self.note and ' '}{self.note}"


def over_seeds(values: Iterable[float]) -> Figure | None:
    """Return the mean of some runs with its sample deviation, None without runs.

    >>> print(over_seeds([75, 76]), over_seeds([75]), over_seeds([]))
    75.50 ± 0.71 75.00 None
    """
    runs = list(values)
    return Figure(fmean(runs), stdev(runs) if len(runs) > 1 else None, len(runs)) if runs else None


Cell = str | int | float | Figure | None
Row = tuple[Cell, ...]


def shown(cell: Cell) -> str:
    """Return a cell as people read it.

    >>> shown(57063), shown(26.516), shown(None), shown("protein")
    ('57,063', '26.52', '–', 'protein')
    """
    if cell is None:
        return NOTHING
    if isinstance(cell, str | Figure):
        return str(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    text = f"{cell:,.2f}"
    if isinstance(cell, Percent) and 0 < cell < 100:
        return {"0.00": "<0.01", "100.00": ">99.99"}.get(text, text)
    return text


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
        for row in self.rows:
            assert len(row) == len(self.columns), (row, self.columns)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all sections."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def numeric(self) -> list[bool]:
        """Whether each column has numbers, bounds such as >99.99 or nothing, and no other text."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        texts = ([cell for cell in cells if isinstance(cell, str)] for cells in columns)
        return [len(column) < len(self.rows) and all(map(_BOUND.fullmatch, column)) for column in texts]
