r"""Tables: a title, columns and rows, written for people and for programs.

    Table("Corpus", ("split", "entities"), (Section("", (("train", 47006), ("dev", 4461))),))

A cell is text, a number, a `Percent` or None for nothing. Programs (JSON, CSV) get numbers as they are; people get them
rounded and with thousands marked. Rows stand in sections, whose titles programs get as a column of their own.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.console import Group

NOTHING = "–"


class Percent(float):
    """A share in percent; what is not all or nothing is never rounded to it.

    >>> shown(Percent(99.999)), shown(Percent(100)), shown(Percent(0.001))
    ('>99.99', '100.00', '<0.01')
    """


Cell = str | int | float | None
Row = tuple[Cell, ...]


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

    def __post_init__(self) -> None:
        for section in self.sections:
            for row in section.rows:
                assert len(row) == len(self.columns), (row, self.columns)


class Form(StrEnum):
    """How a table is written."""

    text = "text"
    json = "json"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


def write(table: Table, form: Form) -> str:
    """The table as text that ends with a line end; text is what a terminal shows, without colours."""
    writers = {
        Form.json: to_json,
        Form.markdown: to_markdown,
        Form.latex: to_latex,
        Form.csv: to_csv,
        Form.text: to_text,
    }
    return writers[form](table)


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
    if isinstance(cell, Percent) and 0 < cell < 100:
        return {"0.00": "<0.01", "100.00": ">99.99"}.get(f"{cell:.2f}", f"{cell:.2f}")
    return f"{cell:,.2f}"


def to_rich(table: Table, width: int) -> Group:
    """The table for a terminal so many columns wide."""
    from rich.console import Group
    from rich.text import Text

    return Group(*(Text(line.text, style=line.style, no_wrap=True, overflow="ignore") for line in lines(table, width)))


def to_text(table: Table, width: int = 100) -> str:
    """The terminal's table without colours."""
    return "".join(line.text + "\n" for line in lines(table, width))


class Line(NamedTuple):
    """A line of a table, and how a terminal shows it."""

    text: str
    style: str = ""


def lines(table: Table, width: int) -> Iterator[Line]:
    """The table with all columns as narrow as they can be; column names may take several lines."""
    widths = [_width(table, place) for place in range(len(table.columns))]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    numeric = [is_numeric(table, place) for place in range(len(table.columns))]

    def joined(cells: Iterable[str]) -> str:
        return gap.join(map(_aligned, cells, widths, numeric)).rstrip()

    if table.title:
        yield Line(visible(table.title), "bold")
    names = [_wrapped(visible(name), size) for name, size in zip(table.columns, widths, strict=True)]
    height = max(map(len, names))
    for row in range(height):
        yield Line(joined(([""] * (height - len(name)) + name)[row] for name in names), "bold")
    yield Line("─" * (sum(widths) + len(gap) * (len(widths) - 1)))
    for number, section in enumerate(table.sections):
        if section.title:
            yield from [Line("")] * (number > 0)
            yield Line(visible(section.title), "italic")
        for cells in section.rows:
            yield Line(joined(visible(shown(cell)) for cell in cells))


def _width(table: Table, place: int) -> int:
    """What a column needs: its widest cell, and the longest word of its name."""
    cells = [visible(shown(row[place])) for section in table.sections for row in section.rows]
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


def to_json(table: Table) -> str:
    """An object with the title and a list of rows, each an object."""
    rows = [
        dict(zip(("section", *table.columns), (section.title, *row), strict=True))
        if is_parted(table)
        else dict(zip(table.columns, row, strict=True))
        for section in table.sections
        for row in section.rows
    ]
    return json.dumps({"title": table.title, "rows": rows}, ensure_ascii=False, indent=1) + "\n"


def to_csv(table: Table) -> str:
    """Comma-separated values as RFC 4180 writes them, but with LF."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    parted = is_parted(table)
    writer.writerow([*(["section"] if parted else []), *table.columns])
    for section in table.sections:
        for row in section.rows:
            cells = ["" if cell is None else cell for cell in row]
            writer.writerow([*([section.title] if parted else []), *cells])
    return stream.getvalue()


def to_markdown(table: Table) -> str:
    """A table in GitHub's Markdown, section titles in bold in the first column."""
    marks = ["---:" if is_numeric(table, place) else "---" for place in range(len(table.columns))]
    lines = [_markdown_row(map(markdown_escaped, table.columns)), _markdown_row(marks)]
    for section in table.sections:
        if section.title:
            empty = [""] * (len(table.columns) - 1)
            lines.append(_markdown_row([f"**{markdown_escaped(section.title)}**", *empty]))
        lines += [_markdown_row(markdown_escaped(shown(cell)) for cell in row) for row in section.rows]
    title = f"**{markdown_escaped(table.title)}**\n\n" if table.title else ""
    return title + "\n".join(lines) + "\n"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def to_latex(table: Table) -> str:
    """A `tabular` for the package booktabs, with the title as a comment before it."""
    width = len(table.columns)
    align = "".join("r" if is_numeric(table, place) else "l" for place in range(width))
    lines = [f"% {' '.join(table.title.split())}"] if table.title else []
    lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule", _latex_row(map(latex_escaped, table.columns)), r"\midrule"]
    for place, section in enumerate(table.sections):
        if place:
            lines.append(r"\midrule")
        if section.title:
            lines += [rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_escaped(section.title)}}}}} \\", r"\midrule"]
        lines += [_latex_row(latex_escaped(shown(cell)) for cell in row) for row in section.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    return ("{}" if row.startswith("[") else "") + row + r" \\"


def is_parted(table: Table) -> bool:
    """Whether any section has a title."""
    return any(section.title for section in table.sections)


def is_numeric(table: Table, place: int) -> bool:
    """Whether a column holds numbers, or nothing, and no text."""
    cells = [row[place] for section in table.sections for row in section.rows]
    return any(not isinstance(cell, str) for cell in cells) and not any(isinstance(cell, str) for cell in cells)


_MARKDOWN = re.compile(r"[\\`*_\[\]|~$<>&]")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def markdown_escaped(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    >>> print(markdown_escaped("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(lambda match: _ENTITIES.get(match[0], "\\" + match[0]), visible(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "–": "--",
}


def latex_escaped(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    >>> print(latex_escaped("cell_type & 5 %"))
    cell\_type \& 5 \%
    """
    return "".join(_LATEX.get(char, char) for char in visible(text))


def visible(text: str) -> str:
    r"""The text with characters that a terminal would obey, or that end a line, made visible.

    >>> visible("a\tb")
    'a␉b'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _symbol(char) for char in text)


def _symbol(char: str) -> str:
    return chr(0x2400 + ord(char)) if char < " " else "�"
