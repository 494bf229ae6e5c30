"""Tables as commands print them: for the terminal unless a form is asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from nestag.errors import InputError
from nestag.tables import Table, TableForm, to_rich, write
from nestag.visible import visible

WHAT_IS_PRINTED = "What is printed"
"""The part of a help page with the forms of tables."""

Json = Annotated[bool, typer.Option("--json", help="JSON.", rich_help_panel=WHAT_IS_PRINTED)]
Markdown = Annotated[bool, typer.Option("--markdown", help="A Markdown table.", rich_help_panel=WHAT_IS_PRINTED)]
Latex = Annotated[bool, typer.Option("--latex", help="A LaTeX table (booktabs).", rich_help_panel=WHAT_IS_PRINTED)]
Csv = Annotated[bool, typer.Option("--csv", help="Comma-separated values.", rich_help_panel=WHAT_IS_PRINTED)]


@dataclass(frozen=True)
class Forms:
    """The forms in which tables can be had."""

    json: Json = False
    markdown: Markdown = False
    latex: Latex = False
    csv: Csv = False

    @property
    def chosen(self) -> TableForm:
        """The one form asked for, else text."""
        given = {
            TableForm.json: self.json,
            TableForm.markdown: self.markdown,
            TableForm.latex: self.latex,
            TableForm.csv: self.csv,
        }
        chosen = [form for form, wanted in given.items() if wanted]
        if len(chosen) > 1:
            raise InputError(f"{' and '.join(f'--{form}' for form in chosen)}; ask for one of them", "command line")
        return chosen[0] if chosen else TableForm.text


def show(table: Table, form: TableForm) -> None:
    """Print a table; a terminal gets colours and its own width, a pipe plain text. Nothing is cut."""
    if form is TableForm.text and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        console.print(to_rich(table, console.width), crop=False)
    else:
        echo(write(table, form))


def echo(text: str) -> None:
    """Print text as it is, for programs; on a terminal nothing in it can move the cursor or change a colour."""
    shown = "\n".join(map(visible, text.split("\n"))) if sys.stdout.isatty() else text
    typer.echo(shown, nl=False, color=True)  # a colour is no colour of ours, but part of a name
