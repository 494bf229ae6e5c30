"""The command line: each command parses its arguments and calls one plain function."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli import (
    convert,
    corpus,
    demo,
    describe,
    doctor,
    evaluate,
    experiment,
    export,
    labels,
    predict,
    report,
    tables,
    train,
)
from nestag.cli.groups import grouped
from nestag.cli.terminal import guarded

app = typer.Typer(
    name="nestag",
    help="Nested named entity recognition at the price of a tagger.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    demo.demo,
    train.train,
    predict.predict,
    evaluate.evaluate,
    experiment.experiment,
    tables.tables,
    report.report,
    labels.encode,
    labels.decode,
    labels.vocabulary,
    labels.show,
    describe.stats,
    describe.coverage,
    convert.convert,
    convert.split,
    doctor.doctor,
    corpus.corpus,
):
    app.command()(grouped(guarded(command)))
app.add_typer(export.app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nestag {nestag.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Nested named entity recognition at the price of a tagger."""


def main() -> None:
    """Run the command line."""
    app()
