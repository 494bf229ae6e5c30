"""Tables for files: JSON and CSV for programs; text, Markdown, LaTeX and HTML for people."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from enum import StrEnum
from html import escape
from io import StringIO

from nestag.errors import visible
from nestag.inspect.tables import Cell, Figure, Row, Table, flat, has_sections, is_numeric, shown, to_text

_MARKDOWN = re.compile(r"[\\`*_\[\]|~$<>&]")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LATEX = {
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "≥": r"$\geq$", "±": r"$\pm$", "²": "$^2$", "³": "$^3$", "⁴": "$^4$",
    "–": "--", "−": "$-$",
}  # fmt: skip


class TableForm(StrEnum):
    """How a table is written."""

    text = "text"
    json = "json"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


def write(table: Table, form: TableForm) -> str:
    """Return the table as text that ends with a line end; `text` is what a terminal shows, without colours."""
    writers = {"json": to_json, "markdown": to_markdown, "latex": to_latex, "csv": to_csv, "text": to_text}
    return writers[form](table)


def to_json(table: Table) -> str:
    """Return an object with the title, the note if there is one, and a list of rows, each an object."""
    names, *rows = _rows_for_programs(table)
    note = {"note": table.note} if table.note else {}
    record = {"title": table.title, **note, "rows": [dict(zip(names, cells, strict=True)) for cells in rows]}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def to_csv(table: Table) -> str:
    """Return comma-separated values as in RFC 4180, but with LF; neither title nor note."""
    stream = StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        ["" if cell is None else cell for cell in row] for row in _rows_for_programs(table)
    )
    return stream.getvalue()


def _rows_for_programs(table: Table) -> list[Row]:
    """Return the column names and the rows, each after the title of its section if any section has one."""
    plain = flat(table)
    if not has_sections(plain):
        return [plain.columns, *(row for section in plain.sections for row in section.rows)]
    return [("section", *plain.columns), *((title, *row) for title, rows in plain.sections for row in rows)]


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown, section titles in bold in the first column."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |\n"

    marks = ["---:" if is_numeric(table, place) else "---" for place in range(len(table.columns))]
    text = f"**{markdown_escaped(table.title)}**\n\n" if table.title else ""
    text += line(map(markdown_escaped, table.columns)) + line(marks)
    for title, rows in table.sections:
        if title:
            text += line([f"**{markdown_escaped(title)}**", *[""] * (len(table.columns) - 1)])
        text += "".join(line(_bold(cell, markdown_escaped(shown(cell)), "**", "**") for cell in row) for row in rows)
    return text + (f"\n{markdown_escaped(table.note)}\n" if table.note else "")


def to_latex(table: Table) -> str:
    """Return a `tabular` for the package booktabs, with the title and the note as comments before it."""

    def line(cells: Iterable[str]) -> str:
        row = " & ".join(cells)
        return ("{}" if row.startswith("[") else "") + row + r" \\"

    width = len(table.columns)
    align = "".join("r" if is_numeric(table, place) else "l" for place in range(width))
    lines = [f"% {' '.join(text.split())}" for text in (table.title, table.note) if text]
    lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule", line(map(latex_escaped, table.columns)), r"\midrule"]
    for place, (title, rows) in enumerate(table.sections):
        if place:
            lines.append(r"\midrule")
        if title:
            lines += [rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_escaped(title)}}}}} \\", r"\midrule"]
        lines += [line(map(_latex_cell, row)) for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cell(cell: Cell) -> str:
    number = isinstance(cell, int | float | Figure)
    text = latex_escaped(shown(cell).replace("-", "−") if number else shown(cell))  # a minus, not a hyphen
    return _bold(cell, text, r"\textbf{", "}")


def to_html(table: Table) -> str:
    """Return a `table` element with the title as its caption; the page shows the note.

    >>> from nestag.inspect.tables import Section
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

    def line(row: Row) -> str:
        """Return a row; its first cell is its name, unless that is a number."""
        texts = [_bold(cell, escape(visible(shown(cell))), "<strong>", "</strong>") for cell in row]
        first = f"<td{marks[0]}>{texts[0]}</td>" if marks[0] else f'<th scope="row">{texts[0]}</th>'
        return f"<tr>{first}{''.join(f'<td{m}>{t}</td>' for t, m in zip(texts[1:], marks[1:], strict=True))}</tr>"

    names = zip(map(escape, map(visible, table.columns)), marks, strict=True)
    lines = ["<table>", *([f"<caption>{escape(visible(table.title))}</caption>"] if table.title else [])]
    heads = "".join(f'<th scope="col"{mark}>{name}</th>' for name, mark in names)
    lines.append(f"<thead><tr>{heads}</tr></thead>")
    for title, rows in table.sections:
        lines.append("<tbody>")
        if title:
            name = escape(visible(title))
            lines.append(f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">{name}</th></tr>')
        lines += [*map(line, rows), "</tbody>"]
    return "\n".join([*lines, "</table>"])


def _bold(cell: Cell, text: str, before: str, after: str) -> str:
    return f"{before}{text}{after}" if isinstance(cell, Figure) and cell.bold else text


def markdown_escaped(text: str) -> str:
    r"""Escape text so that Markdown shows it as it is, on one line.

    >>> print(markdown_escaped("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(lambda match: _ENTITIES.get(match[0], "\\" + match[0]), visible(text))


def latex_escaped(text: str) -> str:
    r"""Escape text so that LaTeX sets it as it is.

    >>> print(latex_escaped("cell_type & 5 %"))
    cell\_type \& 5 \%
    """
    return "".join(_LATEX.get(char, char) for char in visible(text))
