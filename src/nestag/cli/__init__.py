"""The command line: each command parses its arguments and calls one plain function."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli import demo, labels
from nestag.cli.terminal import guarded

app = typer.Typer(
    name="nestag",
    help="Nested named entity recognition at the price of a tagger.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (demo.demo, labels.encode, labels.decode, labels.vocabulary, labels.show):
    app.command()(guarded(command))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nestag {nestag.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Nested named entity recognition at the price of a tagger."""


def main() -> None:
    """Run the command line."""
    app()
