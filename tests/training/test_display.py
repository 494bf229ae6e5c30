"""Progress of a run for people: plan, progress, scores and the path; nothing for programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import nestag
from nestag.errors import UnknownNameError
from nestag.evaluation import Score
from nestag.model.encoders import fetch
from nestag.training import display, duration
from nestag.training.display import Notebook, TrainingDisplay, is_watched
from nestag.training.plan import Progress, Scoring, TrainingPlan, plan_for
from nestag.training.recipe import Recipe
from two_sentences import CORPUS

QUICK = {"steps": 2, "batch_subwords": 64, "evaluations": 1, "use_cpu": True}


def train(folder: Path, encoder: str, **options: object) -> nestag.NestedNER:
    return nestag.train(CORPUS, CORPUS, folder, encoder=encoder, **QUICK, **options).recognizer  # type: ignore[arg-type]


def test_run_shows_plan_scores_and_folder(
    tiny_encoder: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ner = train(tmp_path / "m", tiny_encoder("bert"), quiet=False)
    captured = capsys.readouterr()
    assert captured.out == ""
    for part in ("2 sentences of", "step 2: loss", "seed 1 dev   precision", f'nestag.load("{tmp_path / "m"}")'):
        assert part in "".join(captured.err.split("\r")), part
    assert repr(ner).startswith("<NestedNER: bert encoder, ")
    assert repr(ner).endswith("M parameters; 3 types: GPE, ORG, PER>")
    assert ner.types == ("GPE", "ORG", "PER")


@pytest.mark.parametrize(("encoder", "shown"), [("minilm", True), ("light", True), ("", False)])
def test_times_of_both_encoders_are_estimated_without_a_gpu(
    encoder: str,
    shown: bool,
    tiny_encoder: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nestag.model.encoders._minilm", lambda: Path(tiny_encoder("bert")))
    monkeypatch.setattr("nestag.training.trainer.NestedTrainer.training_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        nestag.train(CORPUS, CORPUS, tmp_path, encoder=encoder or tiny_encoder("bert"), use_cpu=True, quiet=False)
    messages = capsys.readouterr().err
    line = r"on this CPU, at most about \d.* with encoder=\"minilm\", \d.* with encoder=\"light\"\n"
    assert bool(re.search(line, messages)) is shown
    assert "stopped before the first step" in messages


def test_estimate_follows_the_plan_and_keeps_the_random_state(monkeypatch: pytest.MonkeyPatch) -> None:
    state = torch.get_rng_state()
    assert duration.layer_seconds(64) > 0
    assert torch.equal(torch.get_rng_state(), state)
    monkeypatch.setattr(duration, "layer_seconds", lambda rows: rows / 1_000)

    def plan(recipe: Recipe) -> TrainingPlan:
        return plan_for(recipe.changed({"steps": 90, "batch_subwords": 500}), np.full(200, 30), 5_000)

    one_pass = duration.cpu_estimates(Recipe(evaluations=10), plan)
    assert one_pass["minilm"] == pytest.approx(25 * 0.5 * (90 + 10 * 10 / 3))
    two_passes = duration.cpu_estimates(Recipe(evaluations=10, rdrop=1.0), plan)
    assert two_passes == {"minilm": pytest.approx(2 * one_pass["minilm"]), "light": one_pass["light"]}
    assert duration.cpu_estimates(Recipe(encoder="org/model"), plan) == {}


def test_estimate_takes_the_steps_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duration, "layer_seconds", lambda rows: 0.01)

    def plan(recipe: Recipe) -> TrainingPlan:
        return plan_for(recipe, np.full(200, 30), 5_000)

    few, many = (duration.cpu_estimates(Recipe(encoder="light", steps=steps), plan) for steps in (60, 600))
    assert list(few) == ["minilm", "light"]
    assert many["minilm"] > 3 * few["minilm"]


def test_interrupted_run_shows_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_for(Recipe(steps=90), np.full(9, 30), 10)
    dev = [Scoring(5, 1.0, Score.of(1, 2, 2), 0.0)]
    for progress, line in (
        (Progress(plan), "stopped before the first step\n"),
        (Progress(plan, 3, 1.5), "stopped after step 3 of 90\n"),
        (Progress(plan, 7, 1.5, dev), "stopped after step 7 of 90, dev F1 50.00 so far\n"),
    ):
        with suppress(KeyboardInterrupt), TrainingDisplay("seed 1", None) as display:
            display(progress)
            raise KeyboardInterrupt
        assert capsys.readouterr().err.endswith(line)


def test_nothing_is_shown_if_the_caller_watches_or_stderr_is_piped(
    tiny_encoder: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps: list[int] = []

    def watch(progress: Progress) -> None:
        steps.append(progress.step)

    train(tmp_path / "watched", tiny_encoder("bert"), watch=watch, quiet=False)
    train(tmp_path / "piped", tiny_encoder("bert"))
    assert max(steps) == 2
    assert "seed 1" not in capsys.readouterr().err


def test_progress_is_shown_in_terminals_and_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    assert is_watched(None, None)
    assert not is_watched(None, True)
    assert not is_watched(print, None)
    monkeypatch.setenv("RANK", "1")
    assert not is_watched(None, False)
    monkeypatch.delenv("RANK")
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched(None, None)
    monkeypatch.setattr(display, "in_notebook", lambda: True)
    assert is_watched(None, None)


def test_notebook_shows_lines_and_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    drawn: list[str] = []
    handle = SimpleNamespace(update=drawn.append)
    fake = SimpleNamespace(HTML=str, display=lambda html, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    screen = Notebook("<seed 1>")
    screen.update("<seed 1>", 1, 4)
    screen.update("<seed 1>", 2, 4)  # too soon after the first
    screen.update("<seed 1>", 4, 4)
    screen.stop()
    screen.print("a line")
    assert [text.partition("</progress>")[2] for text in drawn] == [" 1 of 4", " 4 of 4"]
    assert all("&lt;seed 1&gt;" in text for text in drawn)
    assert capsys.readouterr().out == "a line\n"


def test_training_on_data_frames(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    rows = [
        {"tokens": list(s.tokens), "entities": [{"start": a, "end": b, "type": t} for a, b, t in s.entities]}
        for s in CORPUS
    ]
    frame = polars.DataFrame(rows)
    assert list(nestag.read_corpus(frame)) == [nestag.Sentence(s.tokens, s.entities) for s in CORPUS]
    run = nestag.train(frame, frame, tmp_path / "m", encoder=tiny_encoder("bert"), **QUICK)  # type: ignore[arg-type]
    assert run.recognizer.types == ("GPE", "ORG", "PER")


def test_unreachable_hub_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UnknownNameError, match="cannot be reached") as error:
        fetch("unknown/nothing")
    assert "\n" not in str(error.value)
