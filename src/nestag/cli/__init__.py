"""The command line: each command parses its arguments and calls one public function.

A command is loaded when it is used, so the command line starts fast. Other packages, such as nestag-lab, add commands
by entry points, which are looked up for the help page and for unknown names:

    [project.entry-points."nestag.commands"]
    tables = "nestag_lab.commands.tables:tables"
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

import typer

import nestag
from nestag.cli.boundary import log, run
from nestag.cli.groups import HelpedGroup, add_command, unwrap
from nestag.errors import NestagError

GROUPS = {
    "Use a model": ("demo", "predict", "serve", "batch"),
    "Prepare a corpus": ("stats", "show", "doctor", "convert", "split"),
    "Train": ("train", "adapt", "distill"),
    "Evaluate and export": ("evaluate", "report", "thresholds", "benchmark", "export"),
    "Research": ("encode", "decode", "vocabulary"),
}
"""The commands, in the order of the help page."""

SHARED_MODULES = {
    "labels": ("show", "encode", "decode", "vocabulary"),
    "convert": ("convert", "split"),
}
"""Modules with several commands; any other command has a module of its name."""

COMMANDS = {name: f"nestag.cli.{name}" for names in GROUPS.values() for name in names} | {
    name: f"nestag.cli.{module}" for module, names in SHARED_MODULES.items() for name in names
}
"""The module of each command, which has a function of its name, or an `app`."""

ENTRY_POINTS = "nestag.commands"
LAB = ("build", "compare", "corpus", "coverage", "experiment", "tables")
"""The commands of nestag-lab."""


class Commands(HelpedGroup):
    """The commands, each loaded when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands; those of other packages that cannot be loaded are reported."""
        names = list(COMMANDS)
        for name in plugin_commands():
            try:
                load_plugin(name)
                names.append(name)
            except NestagError as error:
                log(f"nestag: {error}")
        return names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name, None if there is no such command."""
        if cmd_name in COMMANDS or cmd_name in plugin_commands():
            return load(cmd_name)
        if cmd_name in LAB:
            raise NestagError(
                f"nestag {cmd_name} needs nestag-lab, which is not installed; run pip install ./lab in a clone"
            )
        return None


@cache
def plugin_commands() -> dict[str, EntryPoint]:
    """Return the commands of other packages by name."""
    points = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    return {name: points[name] for name in sorted(points) if name not in COMMANDS}


def load_plugin(name: str) -> Any:
    """Return the function of another package's command."""
    try:
        return plugin_commands()[name].load()
    except Exception as error:  # noqa: BLE001 - other packages may fail in any way
        reason = f"{type(error).__name__}: {error}"
        raise NestagError(
            f"the package with the command {name} cannot be loaded ({reason}); install it again"
        ) from None


def load(name: str) -> Any:
    """Return a command as typer represents it."""
    if name in COMMANDS:
        module = import_module(COMMANDS[name])
        function = getattr(module, "app", None) or getattr(module, name)
    else:
        function = load_plugin(name)
    app = function
    if not isinstance(app, typer.Typer):
        app = typer.Typer(add_completion=False)
        add_command(app, function)
    command = typer.main.get_command(app)
    command.name = name
    command.help = unwrap(command.help)
    panels = (title for title, names in GROUPS.items() if name in names)
    command.rich_help_panel = next(panels, "Research")  # type: ignore[attr-defined]
    return command


app = typer.Typer(
    name="nestag",
    cls=Commands,
    help="Nested named entity recognition at the cost of a tagger.",
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
    """Nested named entity recognition at the cost of a tagger."""


def main() -> None:
    """Run the command line."""
    sys.exit(run(app))
