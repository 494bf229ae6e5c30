"""The command `thresholds`: chosen on a corpus, stored in the model, used when it is loaded."""

import json
import shutil
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.report import Report
from nestag.data.sentence import Sentence
from nestag.evaluation.thresholds import FEWEST, Candidate, Curve, Goal, find_thresholds
from nestag.formats import jsonl
from nestag.model.assessment import ThresholdSearch
from nestag.model.recognizer import NestedNER
from two_sentences import CORPUS, GOLD


@pytest.fixture
def model(trained_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained_model, tmp_path / "model"))


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    jsonl.write([*CORPUS, Sentence(["lincoln", "slept"])], tmp_path / "dev.jsonl")
    return tmp_path / "dev.jsonl"


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["thresholds", *map(str, arguments), "--device", "cpu"])
    return done.exit_code, done.stdout, done.stderr


def test_thresholds_are_stored_in_the_model(model: Path, dev: Path, tmp_path: Path) -> None:
    code, out, told = run(model, dev, "--json", "--plot", tmp_path / "curve.svg")
    assert code == 0, told
    assert "best F1" in out
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an edited model would warn
        ner = NestedNER.from_pretrained(model, "cpu")
    assert ner.settings.return_candidates
    assert 0 < ner.settings.threshold < 1
    assert ner.predict(CORPUS) == GOLD
    assert all(one.confidence >= ner.settings.threshold for found in ner(CORPUS) for one in found)


def test_few_examples_and_training_data_give_warnings(model: Path, tmp_path: Path) -> None:
    from two_sentences import MANY

    jsonl.write(MANY, tmp_path / "train.jsonl")
    code, _, told = run(model, tmp_path / "train.jsonl", "--no-save")
    assert code == 0
    assert "only 48 entities" in told
    assert "was trained on these sentences" in told
    jsonl.write(MANY[1:], tmp_path / "other.jsonl")
    assert "was trained on" not in run(model, tmp_path / "other.jsonl", "--no-save")[2]


def test_recall_goal_uses_candidates(trained_model: Path) -> None:
    words = ["lincoln", "york", "usa"]
    best = NestedNER.from_pretrained(trained_model, "cpu").predict([words])[0]
    likely = NestedNER.from_pretrained(trained_model, "cpu", return_candidates=True, threshold=0.001).predict([words])[
        0
    ]
    assert set(best) < set(likely)


def test_unreachable_goal_changes_nothing(model: Path, dev: Path) -> None:
    before = (model / "manifest.json").read_bytes()
    jsonl.write([Sentence(["x", "y"], [(0, 1, "PER")]), *CORPUS], dev)  # type: ignore[list-item]
    code, _, told = run(model, dev, "--recall", "1.0")
    assert code == 1
    assert "100%" in told
    code, _, told = run(model, dev, "--precision", "0.5", "--no-save")
    assert code == 0, told
    assert (model / "manifest.json").read_bytes() == before
    assert json.loads((model / "nestag.json").read_text())["return_candidates"] is False


def test_rare_types_share_a_row() -> None:
    few = [Candidate("PER", 0.9, True)] * FEWEST
    for more, gold in (([], {"PER": FEWEST}), ([Candidate("GPE", 0.4, True)], {"PER": FEWEST, "GPE": 1})):
        found = find_thresholds([*few, *more], gold, Goal())
        table = ThresholdSearch(Goal(), found, Curve.of([], 0), Report()).table()
        names = [row[0] for row in table.sections[0].rows]
        assert names == ["all, one threshold", "PER", *["other types"] * len(more), "all, with those of types"]


def test_two_goals_are_refused(model: Path, dev: Path) -> None:
    code, _, told = run(model, dev, "--recall", "0.5", "--precision", "0.5")
    assert (code, "--precision and --recall" in told) == (2, True)
