"""The trainer: transformers' own, with our batches, loss and evaluation, and the callback that follows it.

The weights that are evaluated can be an average over time; the best epoch is that with the highest entity F1 on dev.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from nestag.evaluation import score
from nestag.interruption import interruptible
from nestag.optimizing import optimizer_of, scheduler_of
from nestag.recipe import Recipe
from nestag.recognizer import NestedNER
from nestag.trainer.average import Average
from nestag.trainer.checkpoints import (
    BEST,
    CHECKPOINTS,
    last_checkpoint,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from nestag.trainer.lesson import ByBudget, Lesson, Windows
from nestag.trainer.progress import Progress, Watch


class NestedTrainer(Trainer):
    """Trainer with our batches, loss, evaluation and checkpoints."""

    def __init__(
        self,
        recognizer: NestedNER,
        lesson: Lesson,
        folder: Path,
        recipe: Recipe,
        seed: int,
        watch: Watch | None,
        report_to: Sequence[str],
        use_cpu: bool,
    ) -> None:
        self.recognizer, self.lesson, self.folder, self.recipe = recognizer, lesson, folder, recipe
        self.sampler = ByBudget(lesson.reading.windows, recipe, seed)
        self.average = Average(recognizer.model, recipe.ema) if recipe.ema else None
        self.precision = precision(use_cpu)
        epoch_steps = -(-len(self.sampler) // recipe.accumulate)
        self.progress = Progress(steps=epoch_steps * recipe.epochs)
        optimizer = optimizer_of(recognizer.model, recipe)
        super().__init__(
            model=recognizer.model,
            args=_arguments(folder, recipe, seed, report_to, use_cpu, max(1, epoch_steps // 10)),
            data_collator=lesson.tensors,
            train_dataset=Windows(lesson.reading.windows),
            eval_dataset=Windows([]),
            optimizers=(optimizer, scheduler_of(optimizer, recipe, epoch_steps)),
            callbacks=[_Follow(self, watch)],
        )
        self.remove_callback(PrinterCallback)
        if self.average:
            self.average.to(recognizer.model.device)

    def run(self) -> None:
        """Train from the last whole checkpoint, or from the beginning."""
        last = last_checkpoint(self.folder / CHECKPOINTS)
        if last:
            load_checkpoint(last, self.progress, self.average, self.recognizer.model.device)
        with interruptible(signal.SIGINT, patience=1) as interrupted:
            self.interrupted = interrupted
            self.train(resume_from_checkpoint=str(last) if last else None)
        if interrupted:
            raise KeyboardInterrupt

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches by subwords."""
        windows = Windows(self.lesson.reading.windows)
        loader = DataLoader(windows, batch_sampler=self.sampler, collate_fn=self.data_collator)
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        """The sum of the three heads' losses."""
        with self.precision:
            loss: torch.Tensor = model(**inputs).loss
        return loss

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Entity F1 on dev with the averaged weights; the best ones are kept."""
        dev, model = self.lesson.dev, self.recognizer.model
        with self.average.inside(model) if self.average else nullcontext():
            found = score([sentence.entities for sentence in dev], self.recognizer.predict(dev))
            if found.f1 > self.progress.best or not self.progress.dev:
                save_weights(model, self.folder / BEST)
        self.progress.dev.append(found)
        metrics = {"eval_f1": found.f1, "eval_precision": found.precision, "eval_recall": found.recall}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        """Trainer's checkpoint, and ours in the same folder."""
        super()._save_checkpoint(*arguments, **named)
        checkpoint = self.folder / CHECKPOINTS / f"checkpoint-{self.state.global_step}"
        save_checkpoint(checkpoint, self.progress, self.average)


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
        if self.trainer.progress.stalled(self.trainer.recipe.patience):
            control.should_training_stop = True

    def _tell(self, state: Any) -> None:
        progress = self.trainer.progress
        progress.step, progress.epoch = state.global_step, state.epoch or 0.0
        if self.watch:
            self.watch(progress)


def precision(use_cpu: bool) -> AbstractContextManager[object]:
    """The numbers in which a step is computed: bfloat16 where a GPU has it.

    Learning alone is done in them. Trainer's own `bf16` would wrap the model for good, and the best epoch and the
    confidences would be chosen by other scores than those the saved model, which is loaded in float32, will give.
    """
    if torch.cuda.is_available() and not use_cpu and torch.cuda.is_bf16_supported():
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


def _arguments(
    folder: Path, recipe: Recipe, seed: int, report_to: Sequence[str], use_cpu: bool, log_every: int
) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(folder / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        gradient_accumulation_steps=recipe.accumulate,
        max_grad_norm=recipe.clip,
        use_cpu=use_cpu,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=log_every,
        report_to=list(report_to) or "none",
        disable_tqdm=True,
        remove_unused_columns=False,
        seed=seed,
        data_seed=seed,
        dataloader_pin_memory=torch.cuda.is_available() and not use_cpu,
        log_level="error",
    )
