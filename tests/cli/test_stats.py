"""The command `stats`."""

import csv
import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl

CORPORA = os.environ.get("NESTAG_CORPORA")
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
    (tmp_path / "LICENSE").write_text("free")
    return tmp_path


def answer(*arguments: object) -> dict[str, dict[str, object]]:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.stderr
    return {str(row[next(key for key in row if key != "section")]): row for row in json.loads(done.stdout)["rows"]}


def test_stats_count_each_split_of_a_folder(folder: Path) -> None:
    rows = answer("stats", folder, "--types")
    assert rows["sentences"] == {"section": "", "characteristic": "sentences", "train": 3, "dev": 2, "all": 5}
    assert [rows["entities"][name] for name in ("train", "dev", "all")] == [8, 5, 13]
    assert [rows["crossing pairs"][name] for name in ("train", "dev", "all")] == [0, 1, 1]
    assert [rows["sentences that train has too"][name] for name in ("train", "dev", "all")] == [None, 1, 1]
    assert rows["sentences repeated in the split"]["train"] == 1
    assert rows["0"]["train"] == 62.5
    assert rows["2 to 4 tokens"]["all"] == pytest.approx(100 * 9 / 13)
    assert rows["odd_type & 5 %"]["all"] == 1


def test_split_options_give_the_same_counts_as_the_folder(folder: Path) -> None:
    train, dev = folder / "train.jsonl.gz", folder / "valid.jsonl"
    assert answer("stats", "--train", train, "--dev", dev) == answer("stats", folder) == answer("stats", dev, train)
    alone = answer("stats", dev)
    assert "all" not in alone["sentences"]
    assert alone["sentences that train has too"]["dev"] is None


def test_single_file_is_named_by_its_path(folder: Path) -> None:
    (folder / "valid.jsonl").rename(folder / "corpus.jsonl")
    assert answer("stats", folder / "corpus.jsonl")["sentences"][f"{folder}/corpus.jsonl"] == 2


def test_files_with_equal_names_are_named_by_path(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "train.jsonl"
    jsonl.write([ODD], other)
    rows = answer("stats", folder / "train.jsonl.gz", other)
    assert (rows["sentences"][f"{folder}/train.jsonl.gz"], rows["sentences"][str(other)]) == (3, 1)


def test_merged_duplicates_are_counted(tmp_path: Path) -> None:
    entity = {"start": 0, "end": 1, "type": "A"}
    (tmp_path / "train.jsonl").write_text(json.dumps({"tokens": ["a"], "entities": [entity] * 3}) + "\n")
    rows = answer("stats", tmp_path)
    assert (rows["entities"]["train"], rows["duplicate entities merged"]["train"]) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "nothing to read"),
        (["no.jsonl"], "there is no such file"),
        (["{folder}", "--json", "--csv"], "--json and --csv; ask for one"),
        (["{folder}", "--plot", "x.gif"], "end it in .png or .svg"),
    ],
)
def test_invalid_input_is_one_line_and_exits_with_2(folder: Path, arguments: list[str], part: str) -> None:
    done = CliRunner().invoke(app, ["stats", *(argument.format(folder=folder) for argument in arguments)])
    assert (done.exit_code, len(done.stderr.splitlines()), done.stdout) == (2, 1, "")
    assert part in done.stderr


def test_ambiguous_split_files_are_refused(folder: Path) -> None:
    jsonl.write([ODD], folder / "dev.jsonl")
    done = CliRunner().invoke(app, ["stats", str(folder)])
    assert (done.exit_code, "say which with --dev" in done.stderr) == (2, True)


def test_every_output_format_has_every_number(folder: Path) -> None:
    def told(*form: str) -> str:
        done = CliRunner().invoke(app, ["stats", str(folder), "--types", *form])
        assert done.exit_code == 0
        return done.stdout

    assert ["sentence", "length,", "mean", "4.67", "4.50", "4.60"] in [line.split() for line in told().splitlines()]
    assert "| odd\\_type &amp; 5 % | 1 | 0 | 1 |" in told("--markdown")
    assert r"odd\_type \& 5 \% & 1 & 0 & 1 \\" in told("--latex")
    rows = list(csv.DictReader(io.StringIO(told("--csv"))))
    assert rows[-1] == {
        "section": "entities of type",
        "characteristic": "odd_type & 5 %",
        "train": "1",
        "dev": "0",
        "all": "1",
    }


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot_is_complete_and_deterministic(folder: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    figure = folder / f"figure.{suffix}"
    figures = []
    for _ in range(2):
        assert CliRunner().invoke(app, ["stats", str(folder), "--plot", str(figure)]).exit_code == 0
        figures.append(figure.read_bytes())
    assert figures[0] == figures[1]
    if suffix == "png":
        assert figures[0].startswith(b"\x89PNG")
    else:
        assert ElementTree.fromstring(figures[0]).tag.endswith("svg")
    assert not list(folder.glob(".*"))


def test_unwritable_plot_exits_with_2(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    done = CliRunner().invoke(app, ["stats", str(folder), "--plot", str(folder / "no" / "figure.png")])
    assert (done.exit_code, "cannot be written" in done.stderr) == (2, True)


@pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA is not set")
def test_genia_statistics_match_the_published_table() -> None:
    rows = answer("stats", f"{CORPORA}/genia")
    assert (rows["sentences"]["all"], rows["entities"]["all"]) == (18546, 57063)
    assert [round(float(str(rows[depth]["all"])), 2) for depth in "012"] == [90.29, 9.45, 0.25]
