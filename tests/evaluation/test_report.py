"""The report on one model, and its command."""

import re
import shutil
from pathlib import Path

from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.evaluation.report import Trial, confidence_table, model_page
from nestag.evaluation.thresholds import Candidate, calibration
from nestag.formats import jsonl, sample
from nestag.inspect.rendering import colour_of
from two_sentences import CORPUS


def trial() -> Trial:
    """A model that misses every seventh entity and gets the type of every fifth wrong."""
    gold = list(sample.sentences("test"))
    found: list[dict[Entity, float]] = []
    number = 0
    for sentence in gold:
        found.append({})
        for entity in sentence.entities:
            number += 1
            kind = "other" if number % 5 == 0 else entity.type
            if number % 7:
                found[-1][Entity(entity.start, entity.end, kind)] = 0.5 + number % 50 / 100
    return Trial("my model", "test.jsonl", gold, found)


def test_report_summarizes_the_scores() -> None:
    page = model_page(trial())
    assert re.search(r"\d+ of 100 predicted entities are correct", page)
    assert re.search(r"\d+ of 100 gold entities are found", page)
    assert page.count("data:image/svg+xml;base64,") == 4
    for title in ("By type", "By depth", "By length", "Calibration", "Thresholds", "Mistakes", "Examples"):
        assert title in page
    assert "paper" not in re.sub(r"--paper|<style>.*?</style>", "", page, flags=re.DOTALL)
    assert "://" not in page
    assert "<script" not in page
    assert not {"\x1b", "\u202e"} & set(page)
    assert page == model_page(trial())


def test_report_bins_confidences_in_tenths() -> None:
    (row,) = confidence_table(calibration([Candidate("X", 0.95, True), Candidate("X", 0.95, False)])).rows
    assert row[:2] == ("90 to 100%", 2)


def test_types_of_the_model_have_fixed_colours() -> None:
    types = ("A", "B", "never in the test")
    page = model_page(Trial("m", "t", [Sentence(["x", "y"], [Entity(0, 1, "B")])], [{Entity(0, 1, "B"): 0.9}], types))
    for kind in types:
        assert f'<li class="k{colour_of(kind)}"><bdi>{kind}</bdi></li>' in page
    assert 'class="e k' + str(colour_of("B")) + '"' in page


def test_report_shows_the_original_text() -> None:
    origin = Origin("d", 10, " a,\n  b ", ((11, 12), (12, 13), (16, 17)))
    gold = Sentence(["a", ",", "b"], [Entity(0, 2, "X")], origin=origin)
    for predicted in ({Entity(0, 2, "X"): 0.9}, {Entity(2, 3, "X"): 0.9}):
        page = model_page(Trial("m", "t", [gold], [predicted]))
        assert re.search(r">a,<b> <bdi>X", page)


def test_hostile_type_names_are_escaped() -> None:
    bad = "<script>alert(1)</script>\x1b[31m\u202e"
    found = [{Entity(0, 1, bad): 0.9}]
    page = model_page(Trial(bad, bad, [Sentence([bad], [Entity(0, 1, bad)], bad)], found))
    assert "<script" not in page


def test_report_command_evaluates_a_model(trained_model: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(trained_model, tmp_path / "model"))
    jsonl.write(CORPUS, tmp_path / "test.jsonl")
    words = ["report", str(model), "--test", str(tmp_path / "test.jsonl"), "--device", "cpu"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    assert "100.0" in (model / "report.html").read_text()
    assert CliRunner().invoke(app, ["report", str(model)]).exit_code == 2  # not without --test
