"""The training loop: precision, checkpoints, mean loss, early stopping and Ctrl-C."""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nestag.encodings.vocabulary import Vocabulary
from nestag.evaluation import Score
from nestag.model.scorer import compute_mode
from nestag.model.tagger import Tagger
from nestag.training import checkpoints, duration
from nestag.training import trainer as trainer_module
from nestag.training.checkpoints import State, load_state, mark_complete, save_state
from nestag.training.interruption import interruptible
from nestag.training.plan import Progress, Scoring, best_of, plan_for
from nestag.training.recipe import Recipe, load_recipe
from nestag.training.run import new_recognizer, train
from nestag.training.run_folder import COMPLETE, last_checkpoint, remove_incomplete
from two_sentences import CORPUS, MANY, quick


def test_only_training_uses_bfloat16(
    tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autocast: dict[bool, set[bool]] = {True: set(), False: set()}  # by whether the model is being trained
    forward, encoded = Tagger.forward, Tagger.encode

    def train_forward(self: Tagger, *arguments: torch.Tensor, **named: torch.Tensor) -> object:
        autocast[self.training].add(torch.is_autocast_enabled("cpu"))
        with torch.autocast("cpu", enabled=False):  # not every CPU has bfloat16
            return forward(self, *arguments, **named)

    def encode(self: Tagger, *arguments: torch.Tensor) -> object:
        if not self.training:
            autocast[False].add(torch.is_autocast_enabled("cpu"))
        return encoded(self, *arguments)

    def bfloat16(device: torch.device, precision: str) -> AbstractContextManager[object]:
        return torch.autocast("cpu", torch.bfloat16)

    monkeypatch.setattr(Tagger, "forward", train_forward)
    monkeypatch.setattr(Tagger, "encode", encode)
    monkeypatch.setattr(trainer_module, "compute_mode", bfloat16)
    train(MANY, CORPUS, tmp_path / "model", quick(tiny_encoder("bert"), steps=3), use_cpu=True)
    assert autocast == {True: {True}, False: {False}}


def test_no_autocast_without_a_gpu() -> None:
    with compute_mode(torch.device("cpu")):
        assert not torch.is_autocast_enabled("cpu")
        assert not torch.is_autocast_enabled("cuda")


def test_loss_is_the_mean_since_the_last_evaluation(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    losses: list[float] = []
    compute = trainer_module.NestedTrainer.compute_loss

    def recorded(self: trainer_module.NestedTrainer, *arguments: object, **named: object) -> torch.Tensor:
        loss = compute(self, *arguments, **named)  # type: ignore[arg-type]
        losses.append(loss.item())
        return loss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer_module.NestedTrainer, "compute_loss", recorded)
        run = train(MANY, CORPUS, tmp_path / "m", quick(tiny_encoder("bert"), steps=6, evaluations=2), use_cpu=True)
    assert [scoring.step for scoring in run.scorings] == [3, 6]
    expected = [np.mean(losses[:3]), np.mean(losses[3:6])]
    assert [scoring.loss for scoring in run.scorings] == pytest.approx(expected, rel=1e-5)


def test_time_is_estimated_after_a_few_steps(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    reports: list[tuple[int, float | None]] = []
    recipe = quick(tiny_encoder("bert"), steps=40, early_stopping_patience=0)

    def watch(progress: Progress) -> None:
        reports.append((progress.step, progress.seconds))

    run = train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True, watch=watch)
    assert reports[0] == (0, None)
    first = next(step for step, seconds in reports if seconds is not None)
    assert first == 1 + duration.TIMED["cpu"]
    assert run.scorings[-1].seconds > 0


@pytest.mark.parametrize("averaged", [True, False])
def test_state_of_a_checkpoint_round_trip(averaged: bool, tmp_path: Path) -> None:
    weights = {"w": torch.randn(2, 3)}
    (tmp_path / "checkpoint-3").mkdir()
    (tmp_path / "checkpoint-2").mkdir()
    dev = [Scoring(1, 0.5, Score.of(1, 2, 3), 2.5), Scoring(2, 0.25, Score.of(2, 2, 3), 5.0)]
    average = {"w": torch.zeros(3, 2).T} if averaged else {}  # not contiguous
    saved = State(dev, 1.5, 4, 7.5, average, weights)
    save_state(tmp_path / "checkpoint-3", saved)
    mark_complete(tmp_path / "checkpoint-3")
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-3"]  # the older one is removed
    back = load_state(tmp_path / "checkpoint-3", torch.device("cpu"))
    assert (back.dev, back.loss_sum, back.loss_steps, back.seconds) == (dev, 1.5, 4, 7.5)
    assert back.average.keys() == average.keys()
    assert torch.equal(back.best_weights["w"], weights["w"])


def test_last_complete_checkpoint_has_the_highest_step(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "none") is None
    for number in (9, 10, 11):
        (tmp_path / f"checkpoint-{number}").mkdir()
        if number < 11:
            (tmp_path / f"checkpoint-{number}" / COMPLETE).touch()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert (tmp_path / "checkpoint-11").exists()  # it may be in use by another process
    remove_incomplete(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-10", "checkpoint-9"]


@pytest.mark.parametrize(
    ("correct", "patience", "stalled"),
    [
        ([1, 1, 1], 2, True),  # equal to the best is not better
        ([1, 2, 1], 2, False),
        ([0, 0, 0, 0], 2, False),  # no true positive yet
        ([1, 0, 0, 0], 0, False),  # never
        ([], 1, False),
    ],
)
def test_patience_stops_training(correct: list[int], patience: int, stalled: bool) -> None:
    plan = plan_for(Recipe(steps=100, early_stopping_patience=patience), np.full(10, 10), 10)
    dev = [Scoring(step, 1.0, Score.of(count, 2, 2), 0.0) for step, count in enumerate(correct)]
    assert Progress(plan, dev=dev).stalled is stalled


def test_second_ctrl_c_stops_at_once() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible(signal.SIGINT, patience=1) as interrupted:
        assert not interrupted
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupted
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_frozen_encoder_has_no_gradient_and_no_moments(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    """MaChAmp's gradual unfreezing: with 3 steps an epoch, the encoder's moments know the steps after the third."""
    batches = {"batching": "fixed", "batch_sentences": 6, "batch_subwords": 10_000}
    recipe = quick(tiny_encoder("bert"), epochs=2, lr_scheduler_type="slanted_triangular", **batches)
    gradients: list[tuple[bool, bool]] = []  # whether the encoder has a gradient, and whether the heads have one
    trainers: list[trainer_module.NestedTrainer] = []
    step = trainer_module.NestedTrainer.training_step

    def recorded(self: trainer_module.NestedTrainer, *arguments: object, **named: object) -> torch.Tensor:
        loss = step(self, *arguments, **named)  # type: ignore[arg-type]
        model = self.recognizer.model
        gradients.append(
            tuple(any(w.grad is not None for w in part.parameters()) for part in (model.encoder, model.heads))
        )  # type: ignore[arg-type]
        trainers[:] = [self]
        return loss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer_module.NestedTrainer, "training_step", recorded)
        patch.setattr(checkpoints, "CHECKPOINT_SECONDS", 1e9)
        train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True)
    assert gradients == [(False, True)] * 3 + [(True, True)] * 3
    (trainer,) = trainers
    state = trainer.optimizer.optimizer.state  # type: ignore[union-attr]
    model = trainer.recognizer.model
    assert {int(state[weight]["step"]) for weight in model.encoder.parameters()} == {3}
    assert {int(state[weight]["step"]) for weight in model.heads.parameters()} == {6}
    assert all(weight.requires_grad for weight in model.parameters())


def test_label_accuracy_selects_the_best_epoch(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(
        tiny_encoder("bert"),
        epochs=3,
        early_stopping_patience=0,
        metric_for_best_model="label_accuracy",
        decoding="greedy",
    )
    run = train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True)
    sums = [scoring.labels for scoring in run.scorings]
    assert len(sums) == 3
    assert all(value is not None and 0 <= value <= 3 for value in sums)
    recognizer = run.recognizer
    scores = recognizer.scores([sentence.tokens for sentence in CORPUS])
    gold = [recognizer.vocabulary.ids(recognizer.vocabulary.encode(sentence)) for sentence in CORPUS]
    accuracy = 0.0
    for head, logits in enumerate((scores.n, scores.c, scores.u)):  # 13 words
        labels = [*gold[0][head], *gold[1][head]]
        accuracy += sum(int(row.argmax()) == label for row, label in zip(logits, labels, strict=True)) / 13
    assert accuracy == pytest.approx(max(value for value in sums if value is not None))


def test_scorings_are_ranked_by_label_accuracy_if_counted() -> None:
    high, low = Score.of(2, 2, 2), Score.of(1, 2, 2)
    by_labels = [Scoring(1, 0.0, high, 0.0, 2.5), Scoring(2, 0.0, low, 0.0, 2.7), Scoring(3, 0.0, high, 0.0, 2.7)]
    assert best_of(by_labels) == by_labels[1]
    assert best_of([scoring._replace(labels=None) for scoring in reversed(by_labels)]) == by_labels[2]._replace(
        labels=None
    )


def test_heads_of_the_paper_start_as_nn_linear(tiny_encoder: Callable[[str], str]) -> None:
    paper = replace(load_recipe("paper"), encoder=tiny_encoder("bert"))
    vocabulary = Vocabulary.learn(CORPUS, "dyn")
    recognizer = new_recognizer(paper, vocabulary)
    assert (recognizer.settings.windows, recognizer.settings.node_label_strategy, recognizer.settings.precision) == (
        "disjoint", "majority", "float32"
    )  # fmt: skip
    bound = 1 / 16**0.5  # uniform within 1 / sqrt(width), biases too
    for head in recognizer.model.heads:
        assert 0.9 * bound < head.weight.abs().max() <= bound
        assert head.bias.abs().max() > 0
    usual = new_recognizer(replace(paper, head_init="normal"), vocabulary)
    assert all(head.weight.abs().max() < 0.12 and not head.bias.any() for head in usual.model.heads)
