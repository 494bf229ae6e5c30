"""Messages name arguments as Python or the command line writes them."""

import ast
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nestag
from nestag.cli import app
from nestag.errors import named, named_as_options

SOURCE = Path(nestag.__file__).parent
FOR_COMMANDS = {"cli", "batch", "serve"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
WHOLE_COMMAND = re.compile(r"(nestag|pip|python3?) [^;]*--[a-z]|var\(--")
"""Commands to be typed as they stand."""


def options_in_messages(path: Path) -> list[str]:
    """Lines that name options, but not in docstrings and not as what `either` tells on the command line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "either":
            docs |= {id(inner) for inner in ast.walk(node.args[1])}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    lines = [node.value for node in strings if id(node) not in docs and "\n" not in node.value]  # others are files
    return [line for line in lines if OPTION.search(line)]


def test_library_errors_name_arguments() -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {text}"
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in FOR_COMMANDS and path.name != "errors.py"
        for text in options_in_messages(path)
        if not WHOLE_COMMAND.search(text)
    }
    assert not found


@pytest.mark.parametrize(
    ("argument", "value", "python", "option"),
    [
        ("field", None, "field=...", "--field"),
        ("format", None, "format=...", "--from"),
        ("skip_bad", True, "skip_bad=True", "--skip-bad"),
        ("columns", (1, 4), "columns=(1, 4)", "--columns 1,4"),
        ("by", "order", 'by="order"', "--by order"),
    ],
)
def test_arguments_have_python_and_shell_names(argument: str, value: object, python: str, option: str) -> None:
    assert named(argument, value) == python
    with named_as_options():
        assert named(argument, value) == option
    assert named(argument, value) == python


def test_same_error_names_argument_or_option(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"tokens": ["a"], "entities": []}\n{"tokens": 1}\n')
    with pytest.raises(nestag.InputError, match=r"x\.jsonl:2: .*skip_bad=True skips it"):
        nestag.read_corpus(path)
    told = CliRunner().invoke(app, ["stats", str(path)]).stderr
    assert "x.jsonl:2: " in told
    assert "--skip-bad skips it" in told
    assert "skip_bad" not in told
    with pytest.raises(nestag.InputError, match="skip_bad=True"):  # also after a command in the same process
        nestag.read_corpus(path)
