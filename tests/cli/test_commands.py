"""The table of commands: each is found by name, and only the one that is used is loaded."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from nestag.cli import COMMANDS, app, load


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_found_and_has_a_help_page(name: str) -> None:
    assert load(name).name == name
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert "completion" not in shown.output
    assert "<bool>" not in shown.output  # a flag is there or not


def test_an_unknown_command_is_refused() -> None:
    refused = CliRunner().invoke(app, ["trane"])
    assert refused.exit_code == 2
    assert "trane" in refused.output


def test_a_command_loads_nothing_of_the_lab() -> None:
    code = (
        "import sys; from nestag.cli import load; load('convert');"
        "print([name for name in sys.modules if name.startswith('nestag.lab')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
