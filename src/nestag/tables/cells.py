"""Cells: what may stand in a table, and how people see it."""

from __future__ import annotations

from dataclasses import dataclass

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
