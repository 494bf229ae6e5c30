"""The trainer: transformers' own, with our batches, loss and scoring of dev, and the callback that follows it.

Everything is counted in steps. Dev is scored at even intervals with the averaged weights; the best weights are kept in
memory and go into every checkpoint.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from nestag.data import Sentence
from nestag.interruption import ENDING, Interrupted, interruptible
from nestag.recognizer import NestedNER
from nestag.scorer import computing, multiplying
from nestag.training import processes
from nestag.training.average import Average, copied
from nestag.training.checkpoints import State, Weights, load_state, save_state
from nestag.training.dataset import SAMPLERS, Numbers, TrainingSet
from nestag.training.folder import CHECKPOINTS, last_checkpoint
from nestag.training.graphs import GraphedPass, Padding
from nestag.training.objective import loss_of
from nestag.training.optimizer import freezes_encoder, optimizer_of, scheduler_of
from nestag.training.plan import TrainingPlan
from nestag.training.progress import Progress, ProgressCallback, Scoring
from nestag.training.recipe import Recipe
from nestag.training.scoring import DevScorer

CHECKPOINT_SECONDS = 60.0
"""Time between two checkpoints, at least; each is written when dev has been scored."""

WARM, TIMED = {"cpu": 3, "cuda": 30}, {"cpu": 13, "cuda": 60}
"""The steps between which the speed of a run is measured; the first ones are slower, on a GPU much slower."""


class NestedTrainer(Trainer):
    """Trainer with our batches, loss, scoring and checkpoints."""

    def __init__(
        self,
        recognizer: NestedNER,
        corpus: TrainingSet,
        dev: Sequence[Sentence],
        folder: Path,
        recipe: Recipe,
        plan: TrainingPlan,
        seed: int,
        watch: ProgressCallback | None = None,
        report_to: Sequence[str] = (),
        use_cpu: bool = False,
    ) -> None:
        self.recognizer, self.corpus, self.folder, self.recipe = recognizer, corpus, folder, recipe
        windows = corpus.layout.windows
        self.sampler = SAMPLERS[recipe.batching](
            windows, plan.batch_subwords, recipe.batch_sentences, seed, processes.count()
        )
        self.score_dev = DevScorer(recognizer, dev, labels=recipe.best_epoch == "labels")
        self.progress = Progress(plan)
        if torch.cuda.is_available() and not use_cpu:
            recognizer.model.to("cuda")  # type: ignore[arg-type]  # before the optimizer, which can do more for weights on a GPU
        self.weights = list(recognizer.model.parameters())
        self.padding, self.graphed = self._graphs(plan)
        optimizer = optimizer_of(recognizer.model, recipe)
        super().__init__(
            model=recognizer.model,
            args=_arguments(folder, recipe, plan, seed, report_to, use_cpu),
            data_collator=self._tensors,
            train_dataset=Numbers(len(windows)),
            eval_dataset=Numbers(0),
            optimizers=(optimizer, scheduler_of(optimizer, recipe, plan)),
            callbacks=[_Follow(self, watch)],
        )
        self.remove_callback(PrinterCallback)
        self.average = Average(recognizer.model, plan.ema_decay) if plan.ema_decay else None
        self.best_weights: Weights | None = None
        self.loss_sum = torch.zeros((), device=recognizer.model.device)
        self.loss_steps = 0
        self.frozen: bool | None = None
        self.mask = _mask_of(recognizer.tokenizer)
        self.interrupted = Interrupted()
        self.begun = time.monotonic()  # less what was trained before an interruption

    def _graphs(self, plan: TrainingPlan) -> tuple[Padding | None, GraphedPass | None]:
        """How batches are padded and passed over as graphs, where one process has a GPU."""
        model, windows = self.recognizer.model, self.corpus.layout.windows
        alone = processes.count() == 1 and self.recipe.gradient_accumulation_steps == 1
        if not (alone and model.device.type == "cuda" and model.mask_whole):
            return None, None
        longest, pad = int(windows.sizes.max()), self.corpus.layout.special.pad
        padding = Padding(plan.batch_subwords, self.recipe.batch_sentences, longest, pad)
        return padding, GraphedPass(partial(self._loss, model), self.weights)

    def _tensors(self, batch: Sequence[int]) -> dict[str, torch.Tensor]:
        """What the model takes for some windows."""
        found = self.corpus.tensors(batch)
        return self.padding(found) if self.padding else found

    def run(self) -> None:
        """Train from the last complete checkpoint, or from the beginning."""
        last = last_checkpoint(self.folder / CHECKPOINTS)
        if last:
            self._restore(load_state(last, self.recognizer.model.device), last)
        with interruptible(signal.SIGINT, *ENDING, patience=1) as self.interrupted:
            if not self.progress.finished:
                self.train(resume_from_checkpoint=str(last) if last else None)
        if self.interrupted and not self.progress.finished:
            self.interrupted.obey()

    def _restore(self, state: State, checkpoint: Path) -> None:
        self.begun = time.monotonic() - state.seconds
        self.progress.step = int(checkpoint.name.rpartition("-")[2])
        self.progress.dev[:] = state.dev
        self.best_weights, self.loss_steps = state.best_weights, state.loss_steps
        self.loss_sum.fill_(state.loss_sum)
        if self.average and state.average:
            self.average.restore(state.average_steps, state.average)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches by subwords."""
        loader = DataLoader(Numbers(len(self.sampler.sizes)), batch_sampler=self.sampler, collate_fn=self.data_collator)
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def training_step(self, model: Any, inputs: dict[str, Any], *arguments: Any, **named: Any) -> torch.Tensor:
        """Pass over a batch forward and backward."""
        with multiplying(self.recipe.precision):
            if self.graphed is None:
                return super().training_step(model, inputs, *arguments, **named)
            model.train()
            return self._counted(self.graphed(inputs))

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        """The loss of a batch."""
        return self._counted(self._loss(model, inputs))

    def _loss(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        with computing(self.recognizer.model.device, self.recipe.precision):
            return loss_of(model, inputs, self.recipe, self.mask)

    def _counted(self, loss: torch.Tensor) -> torch.Tensor:
        self.loss_sum += loss.detach()
        self.loss_steps += 1
        return loss

    def _clip_grad_norm(self, model: Any) -> torch.Tensor:
        """Clip the gradients; transformers' own way looks all weights up again in every step."""
        return torch.nn.utils.clip_grad_norm_(self.weights, self.args.max_grad_norm, foreach=True)

    def floating_point_ops(self, inputs: Any) -> int:
        """Not counted: nobody reads it, and counting looks at every weight in every step."""
        return 0

    def freeze(self) -> None:
        """See that the encoder gets a gradient in the next step, or none."""
        frozen = freezes_encoder(self.recipe, self.progress.plan, self.state.global_step)
        if frozen is not self.frozen:
            self.recognizer.model.encoder.requires_grad_(not frozen)
            self.frozen = frozen

    @property
    def seconds(self) -> float:
        """How long was trained, interruptions left out."""
        return time.monotonic() - self.begun

    def mean_loss(self) -> float | None:
        """The mean loss since dev was scored last, or None before the first step."""
        return processes.mean(self.loss_sum.item() / self.loss_steps) if self.loss_steps else None

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score dev with the averaged weights; the best ones are kept."""
        best, loss = self.progress.best_scoring, self.mean_loss()
        with self.average.swapped_in() if self.average else nullcontext():
            found, labels = processes.from_first(self.score_dev)
            scoring = Scoring(self.state.global_step, loss or 0.0, found, self.seconds, labels)
            if processes.is_first() and (best is None or scoring.rank > best.rank):
                self.best_weights = copied(self.recognizer.model)
        self.progress.loss = loss
        self.progress.dev.append(scoring)
        self.loss_sum.zero_()
        self.loss_steps = 0
        metrics = {"eval_f1": found.f1, "eval_precision": found.precision, "eval_recall": found.recall}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        """Save Trainer's checkpoint, and nestag's state in the same folder."""
        super()._save_checkpoint(*arguments, **named)
        if not processes.is_first():
            return
        checkpoint = self.folder / CHECKPOINTS / f"checkpoint-{self.state.global_step}"
        average = self.average
        state = State(
            dev=self.progress.dev,
            loss_sum=self.loss_sum.item(),
            loss_steps=self.loss_steps,
            seconds=self.seconds,
            average_steps=average.steps if average else 0,
            average=average.weights if average else None,
            best_weights=self.best_weights,
        )
        save_state(checkpoint, state)


class _Follow(TrainerCallback):
    """Keeps the average, says when to score and save, tells the watcher, and stops early or when interrupted."""

    def __init__(self, trainer: NestedTrainer, watch: ProgressCallback | None) -> None:
        self.trainer, self.watch = trainer, watch
        self.saved = time.monotonic()
        self.started = (0, 0.0)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Before the first step."""
        self._tell(state)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Before each step."""
        self.trainer.freeze()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each step."""
        trainer, plan = self.trainer, self.trainer.progress.plan
        if trainer.average:
            trainer.average.update()
        self._time(state.global_step)
        self._tell(state)
        last = state.global_step >= plan.steps
        several = processes.count() > 1  # whose clocks could disagree
        control.should_evaluate = state.global_step % plan.evaluate_every == 0 or last
        control.should_save = bool(trainer.interrupted) or (
            control.should_evaluate and not last and (several or time.monotonic() - self.saved >= CHECKPOINT_SECONDS)
        )
        if control.should_save:
            self.saved = time.monotonic()
        if trainer.interrupted:
            control.should_training_stop = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After dev has been scored."""
        self._tell(state)
        if self.trainer.progress.stalled:
            control.should_training_stop = True

    def _time(self, step: int) -> None:
        """Measure the speed over a few steps, and say from it how long the run will take."""
        kind = self.trainer.recognizer.model.device.type
        warm, timed = WARM.get(kind, WARM["cuda"]), TIMED.get(kind, TIMED["cuda"])
        if self.started[0] == 0 or step == self.started[0] + warm:
            self._wait()
            self.started = (self.started[0] or step, time.monotonic())
        elif step == self.started[0] + timed:
            self._wait()
            plan = self.trainer.progress.plan
            a_step = (time.monotonic() - self.started[1]) / (timed - warm)
            scoring = plan.dev_subwords / plan.batch_subwords * a_step / 3  # forward alone is a third of a step
            self.trainer.progress.seconds = plan.steps * a_step + plan.evaluations * scoring

    def _wait(self) -> None:
        if self.trainer.recognizer.model.device.type == "cuda":
            torch.cuda.synchronize()

    def _tell(self, state: Any) -> None:
        self.trainer.progress.step = state.global_step
        if self.watch:
            self.watch(self.trainer.progress)


def _mask_of(tokenizer: Any) -> int:
    """The subword that hides others: the one made for that, or else the unknown one."""
    known = (number for number in (tokenizer.mask_token_id, tokenizer.unk_token_id) if number is not None)
    return int(next(known, 0))


def _arguments(
    folder: Path, recipe: Recipe, plan: TrainingPlan, seed: int, report_to: Sequence[str], use_cpu: bool
) -> TrainingArguments:
    return quiet_arguments(
        folder / CHECKPOINTS,
        plan.steps,
        seed,
        use_cpu,
        gradient_accumulation_steps=recipe.gradient_accumulation_steps,
        max_grad_norm=recipe.max_grad_norm,
        accelerator_config={
            "even_batches": False,
            "non_blocking": True,
        },  # batches differ in size; the sampler evens them
        logging_steps=max(1, plan.evaluate_every // 4),
        logging_nan_inf_filter=False,  # looking at every loss would make the GPU wait
        report_to=list(report_to) or "none",
    )


def quiet_arguments(checkpoints: Path, steps: int, seed: int, use_cpu: bool, **more: Any) -> TrainingArguments:
    """Arguments for a trainer whose callback says when to score and save, and which prints nothing."""
    return TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        seed=seed,
        data_seed=seed,
        use_cpu=use_cpu,
        eval_strategy="no",
        save_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available() and not use_cpu,
        log_level="error",
        **more,
    )
