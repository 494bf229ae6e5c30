"""The English model: two corpora with one set of types, and the command that builds the model."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl
from nestag.model.model_folder import load
from nestag.model.onnx_runtime import OnnxNER
from nestag_lab.corpora import gum
from nestag_lab.release.english import SHARE_ALIKE, TEXT, corpora, from_gum, from_litbank, joined

BOOK = Sentence(
    ["Mr.", "Li", "'s", "house", "near", "a", "ship", "sank", ",", "sir"],
    [
        Entity(0, 4, "FAC"),
        Entity(0, 2, "PER"),
        Entity(0, 1, "PER"),
        Entity(5, 7, "VEH"),
        Entity(9, 10, "PER"),
    ],
    "1_first-1",
)
NEWS = Sentence(
    ["She", "met", "Ada", "'s", "son", "in", "Oslo", "on", "Monday"],
    [
        Entity(0, 1, "person"),
        Entity(2, 5, "person"),
        Entity(2, 4, "person"),
        Entity(6, 7, "place"),
        Entity(8, 9, "time"),
    ],
    "GUM_news_rain-1",
)


def test_litbank_drops_titles_and_types_missing_in_gum() -> None:
    expected = (Entity(0, 4, "place"), Entity(0, 2, "person"), Entity(9, 10, "person"))  # `sir` is a mention
    assert from_litbank(BOOK).entities == expected


def test_gum_drops_pronouns_and_types_missing_in_litbank() -> None:
    assert from_gum(NEWS).entities == (Entity(2, 5, "person"), Entity(2, 3, "person"), Entity(6, 7, "place"))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    travel = Sentence(["Oslo"], [Entity(0, 1, "place")], "GUM_voyage_oslo-1")
    for name, sentences in (("litbank", [BOOK]), ("gum", [NEWS, travel])):
        (tmp_path / name).mkdir()
        for split, times in (("train", 8), ("dev", 1), ("test", 1)):
            jsonl.write(sentences * times, tmp_path / name / f"{split}.jsonl")
    return tmp_path


def test_share_alike_texts_are_excluded(sources: Path) -> None:
    assert {gum.LICENCES[genre] for genre in SHARE_ALIKE} == {"CC BY-SA 3.0"}
    found = corpora(sources / "litbank", sources / "gum")
    assert [sentence.id for sentence in joined(found, "dev")] == ["1_first-1", "GUM_news_rain-1"]
    assert len(joined(found, "train")) == 16


@pytest.mark.slow
def test_command_writes_a_model_that_runs_without_torch(
    sources: Path, tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    (tmp_path / "quick.toml").write_text(
        f'encoder = "light:{tiny_encoder("bert")}"\nsteps = 150\nevaluations = 2\nconv_size = 24\n'
        "batch_subwords = 128\nlearning_rate = 1e-2\nhead_learning_rate = 1e-2\ndropout = 0.0\nspan_loss = 1\n"
    )
    (tmp_path / "text").mkdir()
    for name in TEXT:
        packed = lzma.compress(b"She met Ada in Oslo .\nMr. Li sank .\n" * 3)
        (tmp_path / "text" / f"{name}.txt.xz").write_bytes(packed)
    options = ["--litbank", sources / "litbank", "--gum", sources / "gum", "--recipe", tmp_path / "quick.toml", "--cpu"]
    options += ["--text", tmp_path / "text", "--teacher-recipe", tmp_path / "quick.toml", "--steps", 150]
    command = ["build", "english", "-o", f"{tmp_path}/english", *map(str, options)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    assert "test of GUM: F1 100.00" in done.stderr
    built = load(tmp_path / "english")
    assert isinstance(built, OnnxNER)
    assert built.predict([NEWS])[0] == from_gum(NEWS).entities
    card = (tmp_path / "english" / "README.md").read_text()
    for told in (
        'nestag.load("english")',
        "gucorpling/amalgum",
        "dbamman/litbank",
        "words a second in one thread",
        "## Scores",
    ):
        assert told in card
    assert "    nestag build english -o english --litbank litbank --gum gum --text text --recipe quick.toml" in card
    data = ModelCard.load(tmp_path / "english" / "README.md").data
    assert (data.license, data.language) == ("cc-by-4.0", "en")
    again = CliRunner().invoke(app, command)
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)
