"""Tables for files: JSON and CSV for programs, Markdown and LaTeX for people."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from io import StringIO

from nestag.tables.cells import Cell, Figure, Row, shown
from nestag.tables.escapes import latex_escaped, markdown_escaped
from nestag.tables.table import Table, flat, is_numeric, is_parted
from nestag.tables.terminal import to_text


class TableForm(StrEnum):
    """How a table is written."""

    text = "text"
    json = "json"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


def write(table: Table, form: TableForm) -> str:
    """The table as text that ends with a line end; text is what a terminal shows, without colours."""
    writers = {
        TableForm.json: to_json,
        TableForm.markdown: to_markdown,
        TableForm.latex: to_latex,
        TableForm.csv: to_csv,
        TableForm.text: to_text,
    }
    return writers[form](table)


def to_json(table: Table) -> str:
    """An object with the title, the note if there is one, and a list of rows, each an object."""
    plain = flat(table)
    names = (*_sections(plain), *plain.columns)
    rows = [dict(zip(names, cells, strict=True)) for cells in _rows(plain)]
    note = {"note": table.note} if table.note else {}
    return json.dumps({"title": table.title, **note, "rows": rows}, ensure_ascii=False, indent=1) + "\n"


def to_csv(table: Table) -> str:
    """Comma-separated values as RFC 4180 writes them, but with LF; neither title nor note."""
    plain = flat(table)
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_sections(plain), *plain.columns])
    for cells in _rows(plain):
        writer.writerow("" if cell is None else cell for cell in cells)
    return stream.getvalue()


def _sections(table: Table) -> tuple[str, ...]:
    """The column of section titles, if there are any."""
    return ("section",) if is_parted(table) else ()


def _rows(table: Table) -> Iterator[Row]:
    """The rows, each behind its section's title if there are any."""
    parted = is_parted(table)
    for title, rows in table.sections:
        for row in rows:
            yield (title, *row) if parted else row


def to_markdown(table: Table) -> str:
    """A table in GitHub's Markdown, section titles in bold in the first column."""
    marks = ["---:" if is_numeric(table, place) else "---" for place in range(len(table.columns))]
    lines = [_markdown_row(map(markdown_escaped, table.columns)), _markdown_row(marks)]
    for section in table.sections:
        if section.title:
            empty = [""] * (len(table.columns) - 1)
            lines.append(_markdown_row([f"**{markdown_escaped(section.title)}**", *empty]))
        lines += [_markdown_row(map(_markdown_cell, row)) for row in section.rows]
    title = f"**{markdown_escaped(table.title)}**\n\n" if table.title else ""
    note = f"\n{markdown_escaped(table.note)}\n" if table.note else ""
    return title + "\n".join(lines) + "\n" + note


def _markdown_cell(cell: Cell) -> str:
    text = markdown_escaped(shown(cell))
    return f"**{text}**" if isinstance(cell, Figure) and cell.bold else text


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def to_latex(table: Table) -> str:
    """A `tabular` for the package booktabs, with the title and the note as comments before it."""
    width = len(table.columns)
    align = "".join("r" if is_numeric(table, place) else "l" for place in range(width))
    lines = [f"% {' '.join(text.split())}" for text in (table.title, table.note) if text]
    lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule", _latex_row(map(latex_escaped, table.columns)), r"\midrule"]
    for place, section in enumerate(table.sections):
        if place:
            lines.append(r"\midrule")
        if section.title:
            lines += [rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_escaped(section.title)}}}}} \\", r"\midrule"]
        lines += [_latex_row(map(_latex_cell, row)) for row in section.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cell(cell: Cell) -> str:
    number = isinstance(cell, int | float | Figure)
    text = latex_escaped(shown(cell).replace("-", "−") if number else shown(cell))  # a minus, not a hyphen
    return rf"\textbf{{{text}}}" if isinstance(cell, Figure) and cell.bold else text


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    return ("{}" if row.startswith("[") else "") + row + r" \\"
