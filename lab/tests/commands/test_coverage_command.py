"""The command `coverage`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl

NESTED = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
)
ODD = Sentence(["a|b", "c"], [Entity(0, 2, "odd_type & 5 %"), Entity(0, 1, "GPE")])
CROSSED = Sentence(["a", "b", "c"], [Entity(0, 2, "PER"), Entity(1, 3, "GPE")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    jsonl.write([NESTED, NESTED, ODD], tmp_path / "train.jsonl.gz")
    jsonl.write([NESTED, CROSSED], tmp_path / "valid.jsonl")
    return tmp_path


def test_coverage_has_four_encodings_in_two_orders(folder: Path) -> None:
    done = CliRunner().invoke(app, ["coverage", str(folder), "--json"])
    rows = json.loads(done.stdout)["rows"]
    assert [row["encoding"] for row in rows] == ["abs", "rel", "dyn", "4tg"] * 2
    assert len({row["section"] for row in rows}) == 2
    first = rows[0]
    # c: the root, the root with the odd type, PER, GPE; u: none, PER, GPE
    assert (first["n"], first["c"], first["u"]) == (3, 4, 3)
    assert (first["new n"], first["new c"], first["new u"]) == (0, 0, 0)
    assert (first["dev %"], first["dev recall %"]) == (100, 100)
    assert done.stderr == "dev: 1 crossing entities dropped\n"
    assert [row["absolute sentences %"] for row in rows[:4]] == [None, None, 60, None]


def test_coverage_refuses_a_pipe_as_training_split(folder: Path) -> None:
    no_train = CliRunner().invoke(app, ["coverage", "--dev", str(folder / "valid.jsonl")])
    assert (no_train.exit_code, "no training split" in no_train.stderr) == (2, True)
    piped = CliRunner().invoke(app, ["coverage", "--train", "-", "--from", "jsonl"])
    assert (piped.exit_code, "more than once" in piped.stderr) == (2, True)
