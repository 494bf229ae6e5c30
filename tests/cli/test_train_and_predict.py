"""train and predict, as a person would run them, with a tiny encoder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.cli.train import explain_zero
from nestag.corpora.formats import jsonl
from nestag.evaluation import Score
from nestag.recognizer import NestedNER
from nestag.training import Run
from test_recognizer import CORPUS, GOLD, MANY

QUICK = ("epochs=15", "budget=64", "learning_rate=3e-3", "head_learning_rate=1e-2", "dropout=0", "schedule=constant",
         "warmup=0", "patience=3", "lstm_size=0", "ema=0.5")  # fmt: skip


Files = tuple[Path, Path]


def run(*arguments: object, text: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)
    return done.exit_code, done.stdout, done.stderr


def settings(*changes: str) -> list[str]:
    return [word for change in (*QUICK, *changes) for word in ("--set", change)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("corpus")
    jsonl.write(MANY, folder / "train.jsonl")
    jsonl.write(CORPUS, folder / "dev.jsonl")
    return folder / "train.jsonl", folder / "dev.jsonl"


@pytest.fixture(scope="module")
def model(files: Files, tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "model"
    code, _, told = run(
        "train", "--train", files[0], "--dev", files[1], "--test", files[1], "-o", out,
        "--encoder", tiny_encoder("bert"), "--cpu", *settings(),
    )  # fmt: skip
    assert code == 0, told
    assert "epoch 1: loss" in told
    assert "seed 1 dev   precision 100.00  recall 100.00  F1 100.00" in told
    assert "seed 1 test  precision 100.00" in told
    return out


def test_the_model_card_says_what_it_is(model: Path) -> None:
    card = (model / "README.md").read_text()
    assert "| train | 16 | 104 | 48 |" in card
    assert "| micro | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 6 | 6 | 6 |" in card
    assert "| PER | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 3 | 3 | 3 |" in card
    assert "| ≥ 1 | 100.00 " in card
    assert "| learning_rate | 0.003 |" in card
    assert "transformers" in card


def test_predict_tags_a_corpus(model: Path, files: Files, tmp_path: Path) -> None:
    code, _, told = run("predict", model, files[1], "-o", tmp_path / "out.jsonl", "--device", "cpu")
    assert code == 0, told
    assert [sentence.entities for sentence in jsonl.read(tmp_path / "out.jsonl")] == GOLD
    assert [sentence.id for sentence in jsonl.read(tmp_path / "out.jsonl")] == ["a-1", "a-2"]


def test_predict_reads_text_and_writes_other_formats(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("lincoln was president of the usa.\n")
    code, _, told = run("predict", model, tmp_path / "in.txt", "-o", tmp_path / "out.ann", "--device", "cpu")
    assert code == 0, told
    assert "PER 12 32\tpresident of the usa" in (tmp_path / "out.ann").read_text()


def test_predict_is_a_pipe(model: Path) -> None:
    text = "lincoln was president of the usa.\n"
    code, out, told = run("predict", model, "-", "--device", "cpu", "--confidence", text=text)
    assert code == 0, told
    entities = json.loads(out)["entities"]
    assert [(e["start_char"], e["end_char"], e["type"]) for e in entities] == [
        (0, 7, "PER"),
        (12, 32, "PER"),
        (25, 32, "GPE"),
    ]
    assert all(0 < e["confidence"] <= 1 for e in entities)
    code, out, _ = run("predict", model, "-", "--device", "cpu", "--confidence", "--type-threshold", "PER=1", text=text)
    assert {e["type"] for e in json.loads(out)["entities"]} <= {"GPE"}


def test_several_seeds_are_summed_up(files: Files, tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    code, _, told = run(
        "train", "--train", files[0], "--dev", files[1], "-o", tmp_path / "m", "--encoder", tiny_encoder("bert"),
        "--seeds", 2, "--cpu", *settings("epochs=2"),
    )  # fmt: skip
    assert code == 0, told
    assert "over 2 seeds" in told
    assert NestedNER.from_pretrained(tmp_path / "m" / "seed-2", "cpu").vocabulary.encoding == "rel"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Score.of(0, 0, 6), "no entity is predicted"),
        (Score.of(0, 9, 6), "although 9 entities are predicted"),
        (Score.of(0, 3, 0), "dev has no entities"),
        (Score.of(1, 1, 6), ""),
    ],
)
def test_a_run_that_finds_nothing_says_why(found: Score, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    explain_zero(Run(None, found, [found] * 3, 0))  # type: ignore[arg-type]
    error = capsys.readouterr().err
    assert told in error
    assert bool(error) == bool(told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (["--set", "epoch=3"], "no setting is called 'epoch'"),
        (["--set", "epochs"], "write --set key=value"),
        (["--recipe", "secret"], "no recipe is called 'secret'"),
        (["--encoding", "bio"], "no encoding is called 'bio'"),
        (["--encoder", "./nowhere"], "there is no folder ./nowhere"),
    ],
)
def test_what_cannot_be_is_said_before_any_work(change: list[str], told: str, files: Files, tmp_path: Path) -> None:
    code, _, error = run("train", "--train", files[0], "--dev", files[1], "-o", tmp_path / "m", *change)
    assert code == 2
    assert told in error
    assert not (tmp_path / "m").exists()


def test_predict_says_what_it_cannot_write(tmp_path: Path) -> None:
    code, _, told = run("predict", tmp_path, "-", "--confidence", "--to", "brat", text="x")
    assert (code, told) == (2, "nestag: --confidence: confidences are written as JSON Lines; drop --to\n")
    code, _, told = run("predict", tmp_path, "-", "-o", tmp_path / "x.unknown", text="x")
    assert (code, "say which with --to" in told) == (2, True)


def test_predict_refuses_what_is_no_model(tmp_path: Path) -> None:
    code, _, told = run("predict", tmp_path, "-", text="x")
    assert code == 2
    assert "nestag.json" in told
