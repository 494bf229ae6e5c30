"""Option groups: one object for the command, single options for the user."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from nestag.cli.groups import with_option_groups


@dataclass(frozen=True)
class Place:
    """Where to look."""

    street: Annotated[str, typer.Option("-s", "--street", help="Its name.")]
    number: Annotated[int, typer.Option(min=1, help="Of the house.")] = 1


def look(what: Annotated[str, typer.Argument(metavar="WHAT")], *, loud: bool = False, place: Place) -> None:
    """Look for something."""
    typer.echo(f"{what} {loud} {place}")


def run(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(with_option_groups(look))
    done = CliRunner().invoke(app, words, env={"TERM": "dumb", "COLUMNS": "80"})
    return done.exit_code, done.output


def test_command_gets_option_groups_as_objects() -> None:
    assert run("cat", "-s", "Main", "--number", "7", "--loud") == (0, f"cat True {Place('Main', 7)}\n")
    assert run("cat", "--street", "Main") == (0, f"cat False {Place('Main')}\n")


def test_options_of_groups_are_checked() -> None:
    code, told = run("cat")
    assert (code, "--street" in told) == (2, True)
    code, told = run("cat", "-s", "Main", "--number", "0")
    assert (code, "--number" in told) == (2, True)


def test_help_lists_group_options_in_place() -> None:
    _, told = run("--help")
    assert "Look for something." in told
    assert told.index("--loud") < told.index("--street") < told.index("Its name.") < told.index("--number")
    assert "place" not in told.lower()
