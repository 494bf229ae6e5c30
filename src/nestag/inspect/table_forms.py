"""Tables for files and terminals: JSON and CSV for programs; text, Markdown, LaTeX and HTML for people."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from html import escape
from io import StringIO
from textwrap import wrap

from rich.cells import cell_len
from rich.segment import Segment, Segments
from rich.style import Style

from nestag.errors import visible
from nestag.inspect.tables import Cell, Figure, Row, Table, shown

_MARKDOWN = re.compile(r"[\\`*_\[\]|~$<>&]")
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


def to_rich(table: Table, width: int) -> Segments:
    """Lay the table out for a terminal with this many columns."""
    return Segments([segment for line in lines(table, width) for segment in (line, Segment.line())])


def to_text(table: Table, width: int = 100) -> str:
    """Return the terminal's table without colours."""
    return "".join(line.text + "\n" for line in lines(table, width))


def lines(table: Table, width: int) -> Iterator[Segment]:
    """Yield the lines of the table with columns as narrow as possible; column names may take several lines."""
    names = [visible(name) for name in table.columns]
    cells = [[visible(shown(cell)) for cell in row] for row in table.rows]
    words = zip(*cells, strict=True) if cells else [()] * len(names)
    widths = [max(map(cell_len, [*column, *name.split(" ")])) for name, column in zip(names, words, strict=True)]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    numeric = table.numeric

    def line(texts: Iterable[str], style: str = "") -> Segment:
        return styled(gap.join(map(_align, texts, widths, numeric)).rstrip(), style)

    if table.title:
        yield styled(visible(table.title), "bold")
    wrapped = [wrap(name, size, break_long_words=False) for name, size in zip(names, widths, strict=True)]
    height = max(map(len, wrapped))
    for texts in zip(*([""] * (height - len(name)) + name for name in wrapped), strict=True):
        yield line(texts, "bold")
    yield styled("─" * (sum(widths) + len(gap) * (len(widths) - 1)))
    rows = iter(cells)
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


def to_json(table: Table) -> str:
    """Return an object with the title, the note if there is one, and a list of rows, each an object."""
    names, *rows = rows_for_programs(table)
    note = {"note": table.note} if table.note else {}
    record = {"title": table.title, **note, "rows": [dict(zip(names, cells, strict=True)) for cells in rows]}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def to_csv(table: Table) -> str:
    """Return comma-separated values as in RFC 4180, but with LF; neither title nor note."""
    stream = StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        ["" if cell is None else cell for cell in row] for row in rows_for_programs(table)
    )
    return stream.getvalue()


def rows_for_programs(table: Table) -> list[Row]:
    """Return the column names and the rows; deviations and counts of figures are columns, and so are section titles.

    >>> from nestag.inspect.tables import Section
    >>> rows_for_programs(Table("", ("F1",), (Section("", ((Figure(75.9, 0.13, 3),),)),)))
    [('F1', 'F1 deviation', 'F1 count'), (75.9, 0.13, 3)]
    """
    fields = [
        (i, field)
        for i in range(len(table.columns))
        for field in ("value", "deviation", "count")
        if field == "value" or any(_value(row[i], field) is not None for row in table.rows)
    ]
    names = [table.columns[i] + (f" {field}" if field != "value" else "") for i, field in fields]
    if not any(section.title for section in table.sections):
        return [tuple(names), *(tuple(_value(row[i], field) for i, field in fields) for row in table.rows)]
    rows = ((title, *(_value(row[i], field) for i, field in fields)) for title, rows in table.sections for row in rows)
    return [("section", *names), *rows]


def _value(cell: Cell, field: str) -> Cell:
    """Return a field of a figure; any other cell is its own value."""
    if isinstance(cell, Figure):
        value: Cell = getattr(cell, field)
        return value
    return cell if field == "value" else None


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown, section titles in bold in the first column."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |\n"

    text = f"**{escape_markdown(table.title)}**\n\n" if table.title else ""
    text += line(map(escape_markdown, table.columns)) + line("---:" if right else "---" for right in table.numeric)
    for title, rows in table.sections:
        if title:
            text += line([f"**{escape_markdown(title)}**", *[""] * (len(table.columns) - 1)])
        text += "".join(line(_texts(row, escape_markdown, "**{}**")) for row in rows)
    return text + (f"\n{escape_markdown(table.note)}\n" if table.note else "")


def to_latex(table: Table) -> str:
    """Return a `tabular` for the package booktabs, with the title and the note as comments before it."""

    def line(cells: Iterable[str]) -> str:
        row = " & ".join(cells)
        return ("{}" if row.startswith("[") else "") + row + r" \\"

    align = "".join("r" if right else "l" for right in table.numeric)
    lines = [f"% {' '.join(text.split())}" for text in (table.title, table.note) if text]
    lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule", line(map(escape_latex, table.columns)), r"\midrule"]
    for place, (title, rows) in enumerate(table.sections):
        if place:
            lines.append(r"\midrule")
        if title:
            name = rf"\textbf{{{escape_latex(title)}}}"
            lines += [rf"\multicolumn{{{len(align)}}}{{l}}{{{name}}} \\", r"\midrule"]
        lines += [line(_texts(row, escape_latex, r"\textbf{{{}}}", minus="−")) for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


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
    marks = [' class="number"' if right else "" for right in table.numeric]

    def line(row: Row) -> str:
        """Return a row; its first cell is its name, unless that is a number."""
        first, *others = _texts(row, escape_html, "<strong>{}</strong>")
        name = f"<td{marks[0]}>{first}</td>" if marks[0] else f'<th scope="row">{first}</th>'
        return f"<tr>{name}{''.join(f'<td{m}>{t}</td>' for t, m in zip(others, marks[1:], strict=True))}</tr>"

    columns = zip(map(escape_html, table.columns), marks, strict=True)
    heads = "".join(f'<th scope="col"{mark}>{name}</th>' for name, mark in columns)
    lines = ["<table>", f"<caption>{escape_html(table.title)}</caption>", f"<thead><tr>{heads}</tr></thead>"]
    if not table.title:
        del lines[1]
    for title, rows in table.sections:
        lines.append("<tbody>")
        if title:
            lines.append(f'<tr><th scope="rowgroup" colspan="{len(marks)}">{escape_html(title)}</th></tr>')
        lines += [*map(line, rows), "</tbody>"]
    return "\n".join([*lines, "</table>"])


class Tabular:
    """A result that prints as a table, and that notebooks draw as one."""

    def table(self) -> Table:
        """Return the table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return to_text(self.table()).rstrip("\n")

    def _repr_html_(self) -> str:
        return f"{to_html(self.table())}\n<p>{escape(self.table().note)}</p>"


def _texts(row: Row, escaped: Callable[[str], str], bold: str, minus: str = "-") -> list[str]:
    """Return the cells of a row as people read them, with bold figures in the template `bold`."""
    texts = []
    for cell in row:
        text = escaped(shown(cell) if isinstance(cell, str) else shown(cell).replace("-", minus))
        texts.append(bold.format(text) if isinstance(cell, Figure) and cell.bold else text)
    return texts


def escape_html(text: str) -> str:
    """Escape text so that HTML shows it as it is, on one line."""
    return escape(visible(text))


def escape_markdown(text: str) -> str:
    r"""Escape text so that Markdown shows it as it is, on one line.

    >>> print(escape_markdown("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(lambda match: escape(match[0]) if match[0] in "<>&" else "\\" + match[0], visible(text))


def escape_latex(text: str) -> str:
    r"""Escape text so that LaTeX sets it as it is.

    >>> print(escape_latex("cell_type & 5 %"))
    cell\_type \& 5 \%
    """
    return "".join(_LATEX.get(char, char) for char in visible(text))
