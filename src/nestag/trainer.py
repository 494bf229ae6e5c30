"""Transformers' Trainer with our batches, loss, evaluation and checkpoints.

Batches are made by subwords; the weights that are evaluated can be an average over time (EMA); the best epoch is that
with the highest entity F1 on dev. A checkpoint counts once its last file, the mark that it is whole, has been written.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.utils.data import DataLoader, Dataset, Sampler
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from nestag.batching import Window, batches
from nestag.data import Sentence
from nestag.evaluation import Score, score
from nestag.inputs import Reader, Reading
from nestag.optimizing import optimizer_of, scheduler_of
from nestag.recipe import Recipe
from nestag.recognizer import NestedNER
from nestag.vocabulary import LabelIds

COMPLETE = "complete"
STATE = "nestag_state.json"
AVERAGE = "average.safetensors"
BEST = "best.safetensors"
CHECKPOINTS = "checkpoints"


@dataclass
class Progress:
    """Where a run stands; handed to whoever watches it."""

    step: int = 0
    steps: int = 0
    epoch: float = 0.0
    loss: float = 0.0
    dev: list[Score] = field(default_factory=list)  # after each epoch

    @property
    def best(self) -> float:
        """The best F1 on dev so far."""
        return max((found.f1 for found in self.dev), default=0.0)


Watch = Callable[[Progress], None]
"""Whoever wants to know where a run stands."""


@dataclass(frozen=True)
class Lesson:
    """What there is to learn: sentences as subwords in windows, and their labels."""

    reader: Reader
    reading: Reading
    labels: Sequence[LabelIds]


class _Windows(Dataset[Window]):
    """The windows of the training corpus."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self.windows = windows

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int) -> Window:
        return self.windows[index]


class _ByBudget(Sampler[list[int]]):
    """Batches by subwords, in an order that seed and epoch decide."""

    def __init__(self, windows: Sequence[Window], recipe: Recipe, seed: int) -> None:
        self.windows, self.recipe, self.seed, self.epoch = windows, recipe, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch, and when a run is resumed."""
        self.epoch = epoch

    def _batches(self) -> list[list[int]]:
        rng = random.Random(f"{self.seed} {self.epoch}")  # noqa: S311 - an order, not a secret
        return batches(self.windows, self.recipe.budget, self.recipe.sentences, rng)

    def __iter__(self) -> Iterator[list[int]]:
        yield from self._batches()

    def __len__(self) -> int:
        return len(self._batches())


class _Average:
    """The exponential moving average of a model's weights."""

    def __init__(self, model: torch.nn.Module, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.weights = {name: value.detach().clone() for name, value in model.state_dict().items()}

    def to(self, device: torch.device) -> None:
        """Keep the average where the model is."""
        self.weights = {name: value.to(device) for name, value in self.weights.items()}

    @torch.no_grad()
    def update(self, model: torch.nn.Module) -> None:
        """Move towards the weights of now, faster in the beginning."""
        self.steps += 1
        keep = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for name, value in model.state_dict().items():
            if value.dtype.is_floating_point:
                self.weights[name].lerp_(value, 1 - keep)
            else:
                self.weights[name].copy_(value)


class NestedTrainer(Trainer):
    """Trainer with our batches, loss, evaluation and checkpoints."""

    def __init__(
        self,
        recognizer: NestedNER,
        lesson: Lesson,
        dev: Sequence[Sentence],
        folder: Path,
        recipe: Recipe,
        seed: int,
        progress: Progress,
        watch: Watch | None,
        report_to: Sequence[str],
        use_cpu: bool,
    ) -> None:
        self.recognizer, self.dev, self.folder, self.recipe = recognizer, dev, folder, recipe
        self.progress = progress
        self.sampler = _ByBudget(lesson.reading.windows, recipe, seed)
        self.average = _Average(recognizer.model, recipe.ema) if recipe.ema else None
        epoch_steps = -(-len(self.sampler) // recipe.accumulate)
        progress.steps = epoch_steps * recipe.epochs
        optimizer = optimizer_of(recognizer.model, recipe)
        super().__init__(
            model=recognizer.model,
            args=_arguments(folder, recipe, seed, report_to, use_cpu, max(1, epoch_steps // 10)),
            data_collator=lambda batch: lesson.reader.tensors(lesson.reading, batch, lesson.labels),
            train_dataset=_Windows(lesson.reading.windows),
            eval_dataset=_Windows([]),
            optimizers=(optimizer, scheduler_of(optimizer, recipe, epoch_steps)),
            callbacks=[_Follow(self, watch)],
        )
        self.remove_callback(PrinterCallback)
        if self.average:
            self.average.to(recognizer.model.device)

    def run(self) -> None:
        """Train from the last whole checkpoint, or from the beginning."""
        last = _last_checkpoint(self.folder / CHECKPOINTS)
        if last:
            self._restore(last)
        with _interruptible() as interrupted:
            self.interrupted = interrupted
            self.train(resume_from_checkpoint=str(last) if last else None)
        if interrupted:
            raise KeyboardInterrupt

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches by subwords."""
        windows = _Windows(self.sampler.windows)
        loader = DataLoader(windows, batch_sampler=self.sampler, collate_fn=self.data_collator)
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        """The sum of the three heads' losses."""
        loss: torch.Tensor = model(**inputs).loss
        return loss

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Entity F1 on dev with the averaged weights; the best ones are kept."""
        with self._averaged():
            predicted = self.recognizer.predict(self.dev)
            found = score([sentence.entities for sentence in self.dev], predicted)
            if found.f1 > self.progress.best or not self.progress.dev:
                _save_weights(self.recognizer.model, self.folder / BEST)
        self.progress.dev.append(found)
        metrics = {"eval_f1": found.f1, "eval_precision": found.precision, "eval_recall": found.recall}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """The averaged weights in the model, and the learned ones back in it afterwards."""
        if not self.average:
            yield
            return
        model = self.recognizer.model
        learned = {name: value.detach().clone() for name, value in model.state_dict().items()}
        model.load_state_dict(self.average.weights)
        try:
            yield
        finally:
            model.load_state_dict(learned)

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        """Trainer's checkpoint and ours beside it; the mark that it is whole is written last."""
        super()._save_checkpoint(*arguments, **named)
        checkpoints = self.folder / CHECKPOINTS
        folder = checkpoints / f"checkpoint-{self.state.global_step}"
        averaged = self.average.steps if self.average else 0
        state = {"dev": [list(found) for found in self.progress.dev], "average": averaged}
        (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
        if self.average:
            save_file({name: value.contiguous() for name, value in self.average.weights.items()}, folder / AVERAGE)
        (folder / COMPLETE).touch()
        for old in checkpoints.glob("checkpoint-*"):
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)

    def _restore(self, checkpoint: Path) -> None:
        state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
        self.progress.dev[:] = [Score(*found) for found in state["dev"]]
        if self.average:
            self.average.steps = state["average"]
            self.average.weights = load_file(checkpoint / AVERAGE, device=str(self.recognizer.model.device))


class _Follow(TrainerCallback):
    """Keeps the average, tells the watcher, and stops early or when interrupted."""

    def __init__(self, trainer: NestedTrainer, watch: Watch | None) -> None:
        self.trainer, self.watch = trainer, watch

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each step."""
        if self.trainer.average:
            self.trainer.average.update(self.trainer.recognizer.model)
        self._tell(state)
        if self.trainer.interrupted:
            control.should_save = control.should_training_stop = True

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """An epoch that was cut short is not evaluated; its checkpoint has been saved."""
        if self.trainer.interrupted:
            control.should_evaluate = control.should_save = False

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """When Trainer has a loss to tell."""
        self.trainer.progress.loss = (logs or {}).get("loss", self.trainer.progress.loss)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each epoch."""
        self._tell(state)
        found = [entry.f1 for entry in self.trainer.progress.dev]
        patience = self.trainer.recipe.patience
        if patience and max(found) > 0 and len(found) - 1 - found.index(max(found)) >= patience:
            control.should_training_stop = True

    def _tell(self, state: Any) -> None:
        progress = self.trainer.progress
        progress.step, progress.epoch = state.global_step, state.epoch or 0.0
        if self.watch:
            self.watch(progress)


def _arguments(
    folder: Path, recipe: Recipe, seed: int, report_to: Sequence[str], use_cpu: bool, log_every: int
) -> TrainingArguments:
    on_gpu = torch.cuda.is_available() and not use_cpu
    return TrainingArguments(
        output_dir=str(folder / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        gradient_accumulation_steps=recipe.accumulate,
        max_grad_norm=recipe.clip,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        use_cpu=use_cpu,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=log_every,
        report_to=list(report_to) or "none",
        disable_tqdm=True,
        remove_unused_columns=False,
        seed=seed,
        data_seed=seed,
        dataloader_pin_memory=on_gpu,
        log_level="error",
    )


def _last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; what was cut short while it was written is removed."""
    whole: list[Path] = []
    for path in folder.glob("checkpoint-*"):
        if (path / COMPLETE).exists():
            whole.append(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def _save_weights(model: torch.nn.Module, path: Path) -> None:
    """Save a model's weights, whole or not at all."""
    partial = path.with_suffix(".part")
    save_file({name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}, partial)
    partial.replace(path)


class _Interrupted:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.asked = False

    def __bool__(self) -> bool:
        return self.asked


@contextmanager
def _interruptible() -> Iterator[_Interrupted]:
    """The first Ctrl-C asks to stop after the step at hand; a second one stops at once."""
    interrupted = _Interrupted()

    def ask(*_: object) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.asked = True

    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:  # not in the main thread: nobody can press Ctrl-C here
        yield interrupted
        return
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
