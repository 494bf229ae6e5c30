"""Tables for a page: names of columns and rows marked as such, numbers on the right, sections as groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from nestag.tables.cells import Cell, Figure, Row, shown
from nestag.tables.table import Table, is_numeric
from nestag.visible import visible


def to_html(table: Table) -> str:
    """A `table` element with the title as its caption; the note is left to the page.

    >>> from nestag.tables.table import Section
    >>> print(to_html(Table("T", ("split", "n"), (Section("", (("<dev>", 4461),)),))))
    <table>
    <caption>T</caption>
    <thead><tr><th scope="col">split</th><th scope="col" class="number">n</th></tr></thead>
    <tbody>
    <tr><th scope="row">&lt;dev&gt;</th><td class="number">4,461</td></tr>
    </tbody>
    </table>
    """
    marks = [' class="number"' if is_numeric(table, place) else "" for place in range(len(table.columns))]
    names = "".join(
        f'<th scope="col"{mark}>{_escaped(name)}</th>' for name, mark in zip(table.columns, marks, strict=True)
    )
    lines = ["<table>", *([f"<caption>{_escaped(table.title)}</caption>"] if table.title else [])]
    lines.append(f"<thead><tr>{names}</tr></thead>")
    for section in table.sections:
        lines.append("<tbody>")
        if section.title:
            lines.append(f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">{_escaped(section.title)}</th></tr>')
        lines += [f"<tr>{''.join(_cells(row, marks))}</tr>" for row in section.rows]
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>"])


def _cells(row: Row, marks: list[str]) -> Iterator[str]:
    """The cells of a row; the first names it, unless it is a number."""
    for place, (cell, mark) in enumerate(zip(row, marks, strict=True)):
        named = place == 0 and not mark
        yield f'<th scope="row">{_cell(cell)}</th>' if named else f"<td{mark}>{_cell(cell)}</td>"


def _cell(cell: Cell) -> str:
    text = _escaped(shown(cell))
    return f"<strong>{text}</strong>" if isinstance(cell, Figure) and cell.bold else text


def _escaped(text: str) -> str:
    return escape(visible(text))
