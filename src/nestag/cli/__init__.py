"""The command line: each command parses its arguments and calls one plain function.

A command is found by name and loaded when it is used, so the command line starts fast and imports nothing of the lab.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer

import nestag
from nestag.cli.boundary import guarded, run
from nestag.cli.groups import grouped
from nestag.cli.helping import HelpedCommand, HelpedGroup, unwrapped

GROUPS = {
    "Make a model": {
        "demo": "nestag.cli.demo",
        "adapt": "nestag.cli.adapt",
        "train": "nestag.cli.train",
        "evaluate": "nestag.cli.evaluate",
        "report": "nestag.lab.commands.report",
        "thresholds": "nestag.cli.thresholds",
        "export": "nestag.cli.export",
        "benchmark": "nestag.cli.benchmark",
        "build": "nestag.lab.commands.build",
    },
    "Use it": {
        "predict": "nestag.cli.predict",
        "serve": "nestag.cli.serve",
        "tag": "nestag.cli.tag",
    },
    "Look at data": {
        "show": "nestag.cli.labels",
        "stats": "nestag.cli.describe",
        "doctor": "nestag.cli.doctor",
        "convert": "nestag.cli.convert",
        "split": "nestag.cli.convert",
    },
    "Research": {
        "encode": "nestag.cli.labels",
        "decode": "nestag.cli.labels",
        "vocabulary": "nestag.cli.labels",
        "coverage": "nestag.cli.describe",
        "corpus": "nestag.lab.commands.corpus",
        "experiment": "nestag.lab.commands.experiment",
        "tables": "nestag.lab.commands.tables",
    },
}
"""The commands by what a person wants, in the order of the help page, and the module that has each."""

COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}
"""Each command and its module: a function of its name, or an `app`."""


class Commands(HelpedGroup):
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
        app.command(name, cls=HelpedCommand)(grouped(guarded(getattr(module, name))))
    command = typer.main.get_command(app)
    command.name = name
    command.help = unwrapped(command.help)
    command.rich_help_panel = next(title for title, group in GROUPS.items() if name in group)  # type: ignore[attr-defined]
    return command


app = typer.Typer(
    name="nestag",
    cls=Commands,
    help="Nested named entity recognition at the price of a tagger.",
    no_args_is_help=True,
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
