"""docs/reference/formats.md: every format has a section; its lines and commands are correct."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.formats import jsonl
from nestag.formats.registry import available

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
NEEDS = {"cas": "cassis", "parquet": "pyarrow", "spacy": "spacy"}
NO_ENTITIES = {"text"}


class Section(NamedTuple):
    name: str
    title: str
    lines: str
    commands: list[str]


def sections() -> list[Section]:
    found = []
    for name, body in re.findall(r"^## ([a-z]\S*)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        block = re.search(r"```text title=\"(\S+)\"\n(.*?)\n```", body, re.DOTALL)
        commands = re.findall(r"^    nestag (.*)$", body, re.MULTILINE)
        found.append(Section(name, block[1] if block else "", block[2] if block else "", commands))
    return found


def test_every_format_has_a_section() -> None:
    assert sorted(section.name for section in sections()) == sorted(available())


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.name)
def test_documented_lines_and_commands_are_correct(
    section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if section.name in NEEDS:
        pytest.importorskip(NEEDS[section.name])
    monkeypatch.chdir(tmp_path)
    Path("queen.jsonl").write_text(sections()[0].lines + "\n", encoding="utf-8")
    assert section.commands
    for command in section.commands:
        done = CliRunner().invoke(app, [*command.split(), "--tokenizer", "whitespace"])
        assert done.exit_code == 0, done.stderr
    if section.title:
        assert Path(section.title).read_text(encoding="utf-8").startswith(section.lines)
    if Path("back.jsonl").exists():
        given, back = jsonl.read("queen.jsonl"), jsonl.read("back.jsonl")
        expected = [(s.tokens, () if section.name in NO_ENTITIES else s.entities) for s in given]
        assert [(s.tokens, s.entities) for s in back] == expected


def test_documented_options_exist() -> None:
    told = CliRunner().invoke(app, ["convert", "--help"], env={"TERM": "dumb", "COLUMNS": "200"}).stdout
    assert {option for option in re.findall(r"`(--[a-z-]+)", PAGE) if option not in told} == set()
