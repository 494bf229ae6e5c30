"""The command `corpus`."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from nestag.cli import app
from source_files import DUTCH, MADE_BY_RULES, ace_document, article, cons, genia_file, nne_file


def run(*arguments: str | Path) -> tuple[int, list[list[str]], str]:
    result = CliRunner().invoke(app, ["corpus", *map(str, arguments)])
    return result.exit_code, [line.split() for line in result.stdout.splitlines()], result.stderr


def test_corpus_prints_counts_next_to_the_papers(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", f"{cons('Abc', 'protein_x')} binds .", "Yes"))
    code, lines, told = run("genia", path, "-o", tmp_path / "out")
    assert (code, told.splitlines()) == (0, [f"2 {MADE_BY_RULES} ({path}:9: M:1-0)"])
    assert lines == [
        ["train", "dev", "test", "all", "paper"],
        ["sentences", "2", "0", "0", "2", "18,549"],
        ["entities", "1", "0", "0", "1", "57,063"],
        ["tokens", "per", "sentence", "2.0", "0.0", "0.0", "2.0", "26.5"],
        ["deepest", "1", "0", "0", "1", "4"],
    ]
    assert len((tmp_path / "out" / "train.jsonl").read_text().splitlines()) == 2


def test_corpus_reports_what_it_did(tmp_path: Path) -> None:
    _, _, told = run("nne", nne_file(tmp_path / "nne").parent, "-o", tmp_path / "out")
    assert "hold no words: tokens are _" in told
    assert "1 entity with inverted boundaries dropped" in told
    ace_document(tmp_path / "ace", DUTCH)
    (tmp_path / "list").write_text("test d1\n")
    code, lines, told = run(
        "ace2005", tmp_path / "ace", "--heads", "--split", tmp_path / "list", "-o", tmp_path / "out"
    )
    assert code == 0
    assert lines[1][1:] == ["0", "0", "4", "4", "9,335"]
    assert "list says" in told
    assert "heads of mentions" in told


def test_corpus_errors_are_one_line(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", "a <broken>"))
    code, lines, told = run("genia", path, "-o", tmp_path / "out")
    assert (code, lines) == (2, [])
    assert told.count("\n") == 1
    assert "GENIAcorpus3.02.xml:" in told
    assert not (tmp_path / "out").exists()
    for option in (["--treebank", "x"], ["--heads"], ["--split", "x"]):
        code, _, told = run("genia", path, *option, "-o", tmp_path / "out")
        assert (code, f"{option[0]} is not for genia" in told) == (2, True)
