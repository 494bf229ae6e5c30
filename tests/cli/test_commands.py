"""Commands are found by name, and only the called one is imported."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

import nestag.cli as cli
from nestag.cli import COMMANDS, app, boundary, load


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_page(name: str) -> None:
    assert load(name).name == name
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert "completion" not in shown.output
    assert "<bool>" not in shown.output  # a flag is there or not


def test_an_unknown_command_is_refused() -> None:
    refused = CliRunner().invoke(app, ["trane"])
    assert refused.exit_code == 2
    assert "trane" in refused.output


def test_builtin_command_loads_no_plugins() -> None:
    code = (
        "import sys; import nestag.cli as cli; cli.plugin_commands = None; cli.Commands().get_command(None, 'convert');"
        "print([name for name in sys.modules if name.startswith('nestag_lab')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def hello() -> None:
    """Say hello."""
    typer.echo("hello")


def entry_points(monkeypatch: pytest.MonkeyPatch, **targets: str) -> None:
    """Pretend that packages with these entry points are installed, and no others."""
    points = [EntryPoint(name, target, cli.ENTRY_POINTS) for name, target in targets.items()]
    monkeypatch.setattr(cli, "entry_points", lambda group: points)
    monkeypatch.setattr(cli, "plugin_commands", cli.plugin_commands.__wrapped__)


def test_other_packages_add_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plugin", SimpleNamespace(hello=hello))
    entry_points(monkeypatch, hello="plugin:hello", train="plugin:hello")
    assert CliRunner().invoke(app, ["hello"]).output == "hello\n"
    page = CliRunner().invoke(app, ["--help"]).output
    assert page.count(" Say hello. ") == 1  # nestag's own commands stay


def test_broken_package_breaks_only_its_own_command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "plugin", SimpleNamespace(hello=hello))
    entry_points(monkeypatch, hello="plugin:hello", broken="no_such_package.commands:broken")
    monkeypatch.setattr(sys, "argv", ["nestag", "--help"])
    assert boundary.run(app) == 0
    page = capfd.readouterr()
    assert " Say hello. " in page.out
    assert page.err.count("\n") == 1
    assert "no_such_package" in page.err
    monkeypatch.setattr(sys, "argv", ["nestag", "broken", "--help"])
    assert boundary.run(app) == 2
    assert "no_such_package" in capfd.readouterr().err


@pytest.mark.parametrize("name", cli.LAB)
def test_without_the_lab_its_commands_say_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    entry_points(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["nestag", name, "x"])
    assert boundary.run(app) == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert "pip install ./lab" in error
    assert f"│ {name} " not in CliRunner().invoke(app, ["--help"]).output
