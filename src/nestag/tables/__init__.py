r"""Tables: a title, columns and rows, written for people and for programs.

    Table("Corpus", ("split", "entities"), (Section("", (("train", 47006), ("dev", 4461))),))

A cell is text, a number, a `Percent`, a `Figure` that was measured, or None for nothing. Programs (JSON, CSV) get
numbers as they are; people get them rounded and with thousands marked. Rows stand in sections, whose titles programs
get as a column of their own.
"""

from nestag.tables.cells import NOTHING, Cell, Figure, Percent, Row, percent, shown
from nestag.tables.escapes import latex_escaped, markdown_escaped
from nestag.tables.forms import TableForm, to_csv, to_json, to_latex, to_markdown, write
from nestag.tables.table import Section, Table, flat, is_numeric, is_parted
from nestag.tables.terminal import TextLine, lines, to_rich, to_text

__all__ = [
    "NOTHING",
    "Cell",
    "Figure",
    "Percent",
    "Row",
    "Section",
    "Table",
    "TableForm",
    "TextLine",
    "flat",
    "is_numeric",
    "is_parted",
    "latex_escaped",
    "lines",
    "markdown_escaped",
    "percent",
    "shown",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_rich",
    "to_text",
    "write",
]
