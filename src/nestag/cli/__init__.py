"""The command line: each command parses its arguments and calls one plain function.

A command is found by name and loaded when it is used, so the command line starts fast and imports nothing of the lab.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import nestag
from nestag.cli.boundary import guarded, run
from nestag.cli.groups import grouped

COMMANDS = {
    "demo": "nestag.cli.demo",
    "train": "nestag.cli.train",
    "predict": "nestag.cli.predict",
    "serve": "nestag.cli.serve",
    "tag": "nestag.cli.tag",
    "evaluate": "nestag.cli.evaluate",
    "benchmark": "nestag.cli.benchmark",
    "experiment": "nestag.lab.commands.experiment",
    "tables": "nestag.lab.commands.tables",
    "report": "nestag.lab.commands.report",
    "encode": "nestag.cli.labels",
    "decode": "nestag.cli.labels",
    "vocabulary": "nestag.cli.labels",
    "show": "nestag.cli.labels",
    "stats": "nestag.cli.describe",
    "coverage": "nestag.cli.describe",
    "convert": "nestag.cli.convert",
    "split": "nestag.cli.convert",
    "doctor": "nestag.cli.doctor",
    "corpus": "nestag.lab.commands.corpus",
    "export": "nestag.cli.export",
}
"""Each command, in the order of the help page, and the module that has it: a function of its name, or an `app`."""


class Commands(TyperGroup):
    """The commands, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, None if there is no such command."""
        return load(cmd_name) if cmd_name in COMMANDS else None


def load(name: str) -> Any:
    """A command as the command line's library has it."""
    module = import_module(COMMANDS[name])
    app: typer.Typer | None = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False)
        app.command(name)(grouped(guarded(getattr(module, name))))
    command = typer.main.get_command(app)
    command.name = name
    return command


app = typer.Typer(
    name="nestag",
    cls=Commands,
    help="Nested named entity recognition at the price of a tagger.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
    sys.exit(run(app))
