"""The commands `train` and `predict`, with a tiny encoder."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from nestag.cli import app
from nestag.formats import jsonl
from nestag.model.recognizer import NestedNER
from nestag.training.display import TrainingDisplay
from nestag.training.interruption import ending_as_exceptions
from nestag.training.plan import Progress
from nestag.training.run_folder import CHECKPOINTS, last_checkpoint, step_of
from two_sentences import CORPUS, GOLD, MANY

QUICK = ("epochs=15", "batch_subwords=64", "learning_rate=3e-3", "head_learning_rate=1e-2", "dropout=0",
         "lr_scheduler_type=constant_with_warmup",
         "warmup_ratio=0", "early_stopping_patience=3", "conv_size=0", "ema_decay=0.5")  # fmt: skip


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
    assert "16 sentences of" in told  # the plan
    assert "dev scored 15 times; stops after 3 without a better F1" in told
    assert ": loss " in told
    assert "seed 1 dev   precision 100.00  recall 100.00  F1 100.00" in told
    assert "seed 1 test  precision 100.00" in told
    assert f"the model is in {out}\n" in told
    assert told.splitlines()[-2:] == [
        f"next: nestag predict {out} article.txt --show", f"      nestag report {out} --test {files[1]}",
    ]  # fmt: skip
    return out


def test_model_card_describes_the_model(model: Path) -> None:
    card = (model / "README.md").read_text()
    assert "| train | 16 | 104 | 48 |" in card
    assert "| micro | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 6 | 6 | 6 |" in card
    assert "| PER | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) | 3 | 3 | 3 |" in card
    assert "| ≥ 1 | 100.00 " in card
    assert "| learning_rate | 0.003 |" in card
    assert "transformers" in card


@pytest.mark.parametrize("encoder", ["minilm", "light"])
def test_without_a_gpu_the_time_is_estimated_before_training(
    encoder: str,
    files: Files,
    tiny_encoder: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nestag.training.duration.layer_seconds", lambda _: 0.01)
    monkeypatch.setattr("nestag.training.trainer.NestedTrainer.training_step", interrupt)
    monkeypatch.setattr("nestag.model.encoders._minilm", lambda: Path(tiny_encoder("bert")))
    command = ("train", "--train", files[0], "--dev", files[1], "-o", tmp_path / "m", "--cpu", "--encoder", encoder)
    messages = run(*command)[2]
    assert re.search(r"on this CPU, at most about .+ with --encoder minilm, .+ with --encoder light\n", messages)


def test_model_card_metadata_is_valid_for_the_hub(model: Path) -> None:
    data = ModelCard.load(model / "README.md").data
    assert (data.library_name, data.pipeline_tag) == ("nestag", "token-classification")
    found = [(one.dataset_name, one.metric_type, one.metric_value) for one in data.eval_results or ()]
    assert found == [(split, name, 1.0) for split in ("dev", "test") for name in ("precision", "recall", "f1")]


def test_predict_tags_a_corpus(model: Path, files: Files, tmp_path: Path) -> None:
    code, _, told = run("predict", model, files[1], "-o", tmp_path / "out.jsonl", "--device", "cpu")
    assert code == 0, told
    assert [sentence.entities for sentence in jsonl.read(tmp_path / "out.jsonl")] == GOLD
    assert [sentence.id for sentence in jsonl.read(tmp_path / "out.jsonl")] == ["a-1", "a-2"]
    assert f"out.jsonl (sentences: 2, entities: {sum(map(len, GOLD))})" in told


def test_predict_reads_text_and_writes_other_formats(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("lincoln was president of the usa.\n")
    code, _, told = run("predict", model, tmp_path / "in.txt", "-o", tmp_path / "out.ann", "--device", "cpu")
    assert code == 0, told
    assert "PER 12 32\tpresident of the usa" in (tmp_path / "out.ann").read_text()


def test_predict_is_a_pipe(model: Path) -> None:
    text = "lincoln was president of the usa.\n"
    code, out, told = run("predict", model, "-", "--device", "cpu", text=text)
    assert code == 0, told
    entities = json.loads(out)["entities"]
    assert [(e["start"], e["end"], e["type"]) for e in entities] == [
        (0, 7, "PER"),
        (12, 32, "PER"),
        (25, 32, "GPE"),
    ]
    assert all(0 < e["confidence"] <= 1 for e in entities)
    code, out, _ = run("predict", model, "-", "--device", "cpu", "--type-threshold", "PER=1", text=text)
    assert {e["type"] for e in json.loads(out)["entities"]} <= {"GPE"}


def test_several_seeds_are_summarized(files: Files, tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    code, _, told = run(
        "train", "--train", files[0], "--dev", files[1], "-o", tmp_path / "m", "--encoder", tiny_encoder("bert"),
        "--seeds", 2, "--cpu", *settings("epochs=1"),
    )  # fmt: skip
    assert code == 0, told
    assert "over 2 seeds" in told
    assert NestedNER.from_pretrained(tmp_path / "m" / "seed-2", "cpu").vocabulary.encoding == "rel"


def test_several_seeds_resume_in_the_interrupted_one(
    files: Files, tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        "train", "--train", files[0], "--dev", files[1], "-o", tmp_path / "m", "--encoder", tiny_encoder("bert"),
        "--seeds", 2, "--cpu", *settings("epochs=1", "max_length=8"),
    )  # fmt: skip

    def stopped(bar: TrainingDisplay, progress: Progress) -> None:
        if progress.step and bar.title == "seed 2":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingDisplay, "__call__", stopped)
        assert run(*command)[0] == 130
    first = (tmp_path / "m" / "seed-1" / "manifest.json").read_bytes()
    code, _, told = run(*command)
    assert code == 0, told
    assert "over 2 seeds" in told
    assert (tmp_path / "m" / "seed-1" / "manifest.json").read_bytes() == first


@pytest.mark.slow
def test_interrupted_demo_reports_only_saved_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def stop(bar: TrainingDisplay, progress: Progress) -> None:
        bar.step = progress.step
        steps.append(progress.step)
        if len(steps) == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    def stopped_demo(*arguments: object) -> str:
        steps.clear()
        with ending_as_exceptions():
            code, _, told = run("demo", "--train", *arguments)
        assert code == 128 + signal.SIGTERM
        return told.splitlines()[-1]

    monkeypatch.setattr(TrainingDisplay, "__call__", stop)
    monkeypatch.setattr("nestag.cli.demo.gettempdir", lambda: str(tmp_path))
    told = stopped_demo()
    assert "saved" not in told
    assert not list(tmp_path.iterdir())
    told = stopped_demo("-o", tmp_path / "m")
    checkpoint = last_checkpoint(tmp_path / "m" / CHECKPOINTS)
    assert checkpoint
    assert f"step {step_of(checkpoint)} is saved in {tmp_path / 'm'}" in told
    stopped_demo("-o", tmp_path / "m")
    assert steps[0] == step_of(checkpoint)


def test_shortest_windows_terminate(model: Path) -> None:
    ner = NestedNER.from_pretrained(model, "cpu", max_length=8)
    words = ["a" * 5_000, "lincoln", "b" * 40, "x"] * 3
    assert len(ner.predict([words, [], ["y"]])) == 3


@pytest.mark.parametrize("device", ["cuda", "cuda:7", "tape"])
def test_missing_device_is_a_one_line_error(model: Path, device: str) -> None:
    import torch

    if device.startswith("cuda") and torch.cuda.is_available():
        pytest.skip("it is there")
    code, _, told = run("predict", model, "-", "--device", device, text="x")
    assert (code, told.count("\n")) == (2, 1)
    assert f"the device '{device}' cannot be used" in told


def test_finished_training_only_prints_scores(model: Path, files: Files, tiny_encoder: Callable[[str], str]) -> None:
    before = (model / "manifest.json").read_bytes()
    (model / "README.md").unlink()  # as if it had been killed before the card was written
    code, _, told = run(
        "train", "--train", files[0], "--dev", files[1], "--test", files[1], "-o", model,
        "--encoder", tiny_encoder("bert"), "--cpu", *settings(),
    )  # fmt: skip
    assert code == 0, told
    assert "seed 1 test  precision 100.00" in told
    assert "| train | 16 | 104 | 48 |" in (model / "README.md").read_text()
    assert (model / "manifest.json").read_bytes() == before


def test_option_overrides_the_stored_threshold(model: Path, files: Files, tmp_path: Path) -> None:
    strict = tmp_path / "strict"
    NestedNER.from_pretrained(model, "cpu", threshold=1.0).save_pretrained(strict)
    for option, some in (((), False), (("--threshold", 0), True)):
        code, out, told = run("predict", strict, files[1], "--to", "jsonl", "--device", "cpu", *option)
        assert code == 0, told
        assert any(json.loads(line)["entities"] for line in out.splitlines()) is some


def test_every_setting_is_listed() -> None:
    code, out, _ = run("train", "--settings")
    assert code == 0
    assert "steps = auto\n    optimizer steps in total" in out
    assert out.count("takes") >= 25


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (["--set", "epoch=3"], "there is no setting 'epoch'; did you mean 'epochs'"),
        (["--set", "dropout=2"], "dropout is '2'"),
        (["--set", "max_length=2"], "max_length is '2'"),
        (["--set", "epochs"], "write --set key=value"),
        (["--recipe", "secret"], "no recipe is called 'secret'"),
        (["--encoding", "bio"], "no encoding is called 'bio'"),
        (["--encoder", "./nowhere"], "there is no folder ./nowhere"),
        (["--recipe", "."], "no recipe is called '.'"),
        (["--recipe", "folder.toml"], "the recipe cannot be read (Is a directory)"),
        (["--report-to", "logger_of_nowhere"], "'logger_of_nowhere' is not installed"),
        (["--set", "adam_beta1=1"], "adam_beta1 is '1'"),
        (["--set", "gradient_accumulation_steps=1000000000"], "gradient_accumulation_steps is '1000000000'"),
        (["--set", "learning_rate=1e300"], "learning_rate is '1e300'"),
    ],
)
def test_invalid_options_are_refused_before_training(
    change: list[str], told: str, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.toml").mkdir()
    monkeypatch.chdir(tmp_path)
    code, _, error = run("train", "--train", files[0], "--dev", files[1], "-o", tmp_path / "m", *change)
    assert code == 2
    assert told in error
    assert not (tmp_path / "m").exists()


def test_predict_refuses_unknown_output_formats(tmp_path: Path) -> None:
    code, _, told = run("predict", tmp_path, "-", "-o", tmp_path / "x.unknown", text="x")
    assert (code, "name the format (--to)" in told) == (2, True)


def test_predict_refuses_a_folder_without_a_model(tmp_path: Path) -> None:
    code, _, told = run("predict", tmp_path, "-", text="x")
    assert code == 2
    assert "manifest.json" in told


@pytest.mark.slow
def test_benchmark_prints_every_figure(model: Path, files: Files, tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text("# Speed\n\nWhat it is.\n")
    options = "--times", 2, "--device", "cpu", "--threads", 1, "--write", page
    code, out, told = run("benchmark", model, files[1], *options)
    assert code == 0, told
    figures = {line[:62].strip(): line[62:].split() for line in out.splitlines()}
    assert figures["sentences"] == ["4"]
    for name in (
        "bare encoder, same batches",
        "layout",
        "decoding",
        "tokens in, entities out",
        "one sentence at a time",
        "the same compared with the bare encoder",
    ):
        assert float(figures[name][0].replace(",", "")) > 0, name
    assert len(figures["share of the bare encoder's speed"]) == 1  # and no target
    written = page.read_text()
    assert written.startswith("# Speed\n\nWhat it is.\n\n## ")
    assert written.count("\n| ") == len(figures) + 1
    assert run("benchmark", model, files[1], *options)[0] == 0
    assert page.read_text().count("\n## ") == 1  # in the place of the first
