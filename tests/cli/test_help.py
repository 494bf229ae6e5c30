"""Help, completion, terminals with other encodings, and messages about missing libraries."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import COMMANDS, GROUPS, app


def run(*arguments: str, code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; {code or 'pass'}; sys.argv[0] = 'nestag'; from nestag.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=os.environ | environment
    )


def test_help_groups_commands_by_purpose() -> None:
    page = CliRunner().invoke(app, ["--help"]).stdout
    places = [page.index(f" {title} ") for title in GROUPS]
    assert places == sorted(places)
    for name in COMMANDS:
        assert f"│ {name} " in page


def test_shells_complete_options_of_commands() -> None:
    completed = run(_NESTAG_COMPLETE="complete_bash", COMP_WORDS="nestag predict --bes", COMP_CWORD="2")
    assert completed.stdout.split() == ["--beside"]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_ascii_terminals_get_ascii_drawings(encoding: str) -> None:
    shown = run("demo", "--idea", PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert ("╰─PER─╯" if encoding == "utf-8" else "\\-PER-/") in shown.stdout
    assert "\\u" not in shown.stdout


@pytest.mark.parametrize("command", ["train --train x --dev x -o y", "predict MODEL -", "demo --train"])
def test_missing_torch_error_names_the_extra(command: str, tmp_path: Path) -> None:
    names = ("config.json", "vocabulary.json", "nestag.json", "tokenizer.json", "model.safetensors")
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 1, "files": dict.fromkeys(names, "")}))
    missing = run(*command.replace("MODEL", str(tmp_path)).split(), code="sys.modules['torch'] = None")
    need = "the model" if "MODEL" in command else "NestedNER"
    assert missing.returncode == 2
    assert missing.stderr == f"nestag: {need} needs torch, which is not installed; pip install 'nestag[model]'\n"


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("nestag convert --to conllu", ["conllu"]),
        ("nestag train --encoding d", ["dyn"]),
        ("nestag train --recipe acc", ["accurate"]),
        ("nestag train --set epo", ["epochs="]),
        ("nestag predict --decoding g", ["greedy"]),
        ("nestag encode -e 4", ["4tg"]),
        ("nestag serve e", ["english"]),
        ("nestag batch --model e", ["english"]),
        ("nestag distill --encoder li", ["light"]),
        ("nestag distill --recipe acc", ["accurate"]),
    ],
)
def test_shells_complete_values(words: str, completed: list[str]) -> None:
    place = str(len(words.split()) - 1)
    assert run(_NESTAG_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place).stdout.split() == completed


def test_help_shows_metavars() -> None:
    page = CliRunner().invoke(app, ["adapt", "--help"]).stdout
    assert "TEXT..." in page
    assert "INT" in page
    assert "<" not in page.replace("<spacy|whitespace>", "").replace("<widen|split|refuse>", "").replace("x<=", "")
    assert page.index("─ Options ") < page.index("─ Reading files ")


def test_mistyped_command_gets_a_suggestion() -> None:
    refused = CliRunner().invoke(app, ["predct"])
    assert (refused.exit_code, "Did you mean 'predict'?" in refused.output) == (2, True)
    refused = CliRunner().invoke(app, ["\x1b[31mred"])
    assert (refused.exit_code, "No such command '\\x1b[31mred'" in refused.output) == (2, True)
