"""The parts of the trainer: precision, averages, batches, checkpoints and Ctrl-C; test_recognizer.py has whole runs."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nestag.batching import Window
from nestag.evaluation import Score
from nestag.interruption import interruptible
from nestag.model import Tagger
from nestag.recipe import Recipe
from nestag.trainer import nested
from nestag.trainer.average import Average
from nestag.trainer.checkpoints import COMPLETE, last_checkpoint, load_checkpoint, save_checkpoint
from nestag.trainer.lesson import ByBudget
from nestag.trainer.progress import Progress
from nestag.training import train
from test_recognizer import CORPUS, MANY, quick


def test_only_learning_is_done_in_half_the_bits(
    tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[bool, set[bool]] = {True: set(), False: set()}  # whether learning -> whether in fewer bits
    forward = Tagger.forward

    def recorded(self: Tagger, *arguments: torch.Tensor, **named: torch.Tensor) -> object:
        seen[self.training].add(torch.is_autocast_enabled("cpu"))
        with torch.autocast("cpu", enabled=False):  # not every processor that runs this has bfloat16
            return forward(self, *arguments, **named)

    monkeypatch.setattr(Tagger, "forward", recorded)
    monkeypatch.setattr(nested, "precision", lambda use_cpu: torch.autocast("cpu", torch.bfloat16))
    run = train(MANY, CORPUS, tmp_path / "model", quick(tiny_encoder("bert"), epochs=1), use_cpu=True)
    assert seen == {True: {True}, False: {False}}  # dev was scored and the temperature found as users will have it
    run.recognizer.predict(CORPUS)
    assert seen[False] == {False}


def test_without_a_gpu_there_are_no_fewer_bits() -> None:
    with nested.precision(use_cpu=True):
        assert not torch.is_autocast_enabled("cpu")
        assert not torch.is_autocast_enabled("cuda")


@given(st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=30), st.floats(0, 1))
def test_an_average_follows_its_definition(values: list[float], decay: float) -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    average = Average(model, decay)
    expected = model.weight.item()
    for step, value in enumerate(values, 1):
        model.weight.data.fill_(value)
        average.update(model)
        keep = min(decay, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * value
    assert average.weights["weight"].item() == pytest.approx(expected, abs=1e-4)


def test_what_was_learned_comes_back_after_the_average() -> None:
    model = torch.nn.BatchNorm1d(1)  # which has a whole number among its weights
    average = Average(model, 0.5)
    model.weight.data.fill_(5.0)
    model.num_batches_tracked.fill_(3)
    average.update(model)
    with average.inside(model):
        assert 1 < model.weight.item() < 5
    assert (model.weight.item(), model.num_batches_tracked.item()) == (5.0, 3)
    assert average.weights["num_batches_tracked"].item() == 3


def test_every_window_is_in_one_batch_and_the_epoch_decides_the_order() -> None:
    windows = [Window(i, 0, 1, 0, 1, size=1 + i % 5) for i in range(40)]
    sampler = ByBudget(windows, Recipe(budget=12), seed=1)
    first = list(sampler)
    assert list(sampler) == first
    assert len(sampler) == len(first)
    assert sorted(index for batch in first for index in batch) == list(range(40))
    sampler.set_epoch(1)
    assert list(sampler) != first
    assert list(ByBudget(windows, Recipe(budget=12), seed=2)) != first


@pytest.mark.parametrize("decay", [0.5, 0.0])
def test_a_checkpoint_is_the_inverse_of_its_saving(decay: float, tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    saved = Average(model, decay) if decay else None
    if saved:
        saved.update(model)
    (tmp_path / "checkpoint-3").mkdir()
    (tmp_path / "checkpoint-2").mkdir()
    progress = Progress(dev=[Score.of(1, 2, 3), Score.of(2, 2, 3)])
    save_checkpoint(tmp_path / "checkpoint-3", progress, saved)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-3"]  # the one before it is gone
    back, average = Progress(), Average(torch.nn.Linear(2, 2), decay) if decay else None
    load_checkpoint(tmp_path / "checkpoint-3", back, average, torch.device("cpu"))
    assert back.dev == progress.dev
    if saved and average:
        assert average.steps == 1
        assert all(torch.equal(average.weights[name], value) for name, value in saved.weights.items())


def test_the_last_whole_checkpoint_is_the_one_with_the_highest_number(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "none") is None
    for number in (9, 10, 11):
        (tmp_path / f"checkpoint-{number}").mkdir()
        if number < 11:
            (tmp_path / f"checkpoint-{number}" / COMPLETE).touch()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert not (tmp_path / "checkpoint-11").exists()  # cut short


@pytest.mark.parametrize(
    ("correct", "patience", "stalled"),
    [
        ([1, 1, 1], 2, True),  # as good as the best is not better
        ([1, 2, 1], 2, False),
        ([0, 0, 0, 0], 2, False),  # nothing found yet
        ([1, 0, 0, 0], 0, False),  # never
        ([], 1, False),
    ],
)
def test_patience(correct: list[int], patience: int, stalled: bool) -> None:
    assert Progress(dev=[Score.of(count, 2, 2) for count in correct]).stalled(patience) is stalled


def test_the_first_ctrl_c_asks_and_the_second_stops() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible(signal.SIGINT, patience=1) as interrupted:
        assert not interrupted
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupted
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
