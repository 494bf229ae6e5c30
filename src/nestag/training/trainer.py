"""The trainer: a Trainer of transformers with nestag's batches, loss and evaluation, and its callback.

Everything is counted in steps. Dev is scored at even intervals with the averaged weights. The best weights stay in
memory and are part of each checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from accelerate.utils import broadcast_object_list, gather_object
from torch.utils.data import DataLoader

from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.evaluation import Score, score
from nestag.model.recognizer import NestedNER
from nestag.model.scorer import compute_mode, matmul_mode
from nestag.model.tagger import Tagger
from nestag.training.checkpoints import ResumableTrainer, SavingCallback, State, Weights, load_state, save_state
from nestag.training.dataset import BatchSampler, TrainingSet, label_ids, nest
from nestag.training.duration import Stopwatch
from nestag.training.graphs import GraphedPass, Padding
from nestag.training.optimization import Average, copy_weights, freezes_encoder, loss_of, optimizer_of, scheduler_of
from nestag.training.plan import Progress, ProgressCallback, Scoring, TrainingPlan
from nestag.training.recipe import Recipe
from nestag.training.run_folder import CHECKPOINTS, is_first_process, process_count, step_of


class NestedTrainer(ResumableTrainer):
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
        self.recognizer, self.corpus, self.recipe = recognizer, corpus, recipe
        windows = corpus.layout.windows
        self.sampler = BatchSampler(
            windows, plan.batch_subwords, recipe.batch_sentences, seed, process_count(), recipe.batching == "fixed"
        )
        self.dev = dev
        by_labels = recipe.metric_for_best_model == "label_accuracy"
        self.dev_labels = label_ids(recognizer.vocabulary, nest(dev)) if by_labels else None
        self.progress = Progress(plan)
        if torch.cuda.is_available() and not use_cpu:
            recognizer.model.to("cuda")  # type: ignore[arg-type]  # before the optimizer, which can do more for weights on a GPU
        self.weights = list(recognizer.model.parameters())
        self.padding, self.graphed = self._graphs(plan)
        optimizer = optimizer_of(recognizer.model, recipe, plan.sentences)
        super().__init__(
            recognizer.model,
            folder / CHECKPOINTS,
            plan.steps,
            seed,
            use_cpu,
            {
                "gradient_accumulation_steps": recipe.gradient_accumulation_steps,
                "max_grad_norm": recipe.max_grad_norm,
                # batches differ in size, and the sampler gives each process as many
                "accelerator_config": {"even_batches": False, "non_blocking": True},
                "logging_steps": max(1, plan.evaluate_every // 4),
                "logging_nan_inf_filter": False,  # looking at every loss would make the GPU wait
                "report_to": list(report_to) or "none",
            },
            data_collator=self._collate,
            train_dataset=range(len(windows)),
            eval_dataset=range(0),
            optimizers=(optimizer, scheduler_of(optimizer, recipe, plan)),
            callbacks=[_RunCallback(self, watch)],
        )
        self.average = Average(recognizer.model, plan.ema_decay) if plan.ema_decay else None
        self.best_weights: Weights = {}
        self.loss_sum = torch.zeros((), device=recognizer.model.device)
        self.loss_steps = 0
        self.mask = _mask_id(recognizer.tokenizer)
        self.start = time.monotonic()  # minus the seconds of training before an interruption

    def _graphs(self, plan: TrainingPlan) -> tuple[Padding | None, GraphedPass | None]:
        """Return padding and CUDA graphs, if this is the only process and it has a GPU."""
        model, windows = self.recognizer.model, self.corpus.layout.windows
        alone = process_count() == 1 and self.recipe.gradient_accumulation_steps == 1
        if not (alone and model.device.type == "cuda" and model.mask_whole):
            return None, None
        longest, pad = int(windows.sizes.max()), self.corpus.layout.special.pad
        padding = Padding(plan.batch_subwords, self.recipe.batch_sentences, longest, pad)
        return padding, GraphedPass(partial(self._loss, model), self.weights)

    def _collate(self, windows: Sequence[int]) -> dict[str, torch.Tensor]:
        tensors = self.corpus.tensors(windows)
        return self.padding(tensors) if self.padding else tensors

    @property
    def finished(self) -> bool:
        """Whether all steps are done, or training stopped early."""
        return self.progress.finished

    def load_extra(self, checkpoint: Path) -> None:
        """Load nestag's state."""
        state = load_state(checkpoint, self.recognizer.model.device)
        self.start = time.monotonic() - state.seconds
        self.progress.step = step_of(checkpoint)
        self.progress.dev[:] = state.dev
        self.best_weights, self.loss_steps = state.best_weights, state.loss_steps
        self.loss_sum.fill_(state.loss_sum)
        if self.average:
            self.average.load_state_dict(state.average)

    def save_extra(self, checkpoint: Path) -> None:
        """Save nestag's state."""
        state = State(
            dev=self.progress.dev,
            loss_sum=self.loss_sum.item(),
            loss_steps=self.loss_steps,
            seconds=self.seconds,
            average=copy_weights(self.average) if self.average else {},
            best_weights=self.best_weights,
        )
        save_state(checkpoint, state)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Return batches of about the same number of subwords."""
        windows: Any = range(len(self.corpus.layout.windows))
        loader: DataLoader[Any] = DataLoader(windows, batch_sampler=self.sampler, collate_fn=self.data_collator)
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def training_step(self, model: Any, inputs: dict[str, Any], *arguments: Any, **named: Any) -> torch.Tensor:
        """Do the forward and backward pass of a batch."""
        with matmul_mode(self.recipe.precision):
            if self.graphed is None:
                return super().training_step(model, inputs, *arguments, **named)
            model.train()
            return self._add_loss(self.graphed(inputs))

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        """Compute the loss of a batch."""
        return self._add_loss(self._loss(model, inputs))

    def _loss(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        with compute_mode(self.recognizer.model.device, self.recipe.precision):
            return loss_of(model, inputs, self.recipe, self.mask)

    def _add_loss(self, loss: torch.Tensor) -> torch.Tensor:
        self.loss_sum += loss.detach()
        self.loss_steps += 1
        return loss

    def _clip_grad_norm(self, model: Any) -> torch.Tensor:
        """Clip the gradients; the method of transformers collects all weights again in each step."""
        return torch.nn.utils.clip_grad_norm_(self.weights, self.args.max_grad_norm, foreach=True)

    def floating_point_ops(self, inputs: Any) -> int:
        """Skip counting, which would visit each weight in each step."""
        return 0

    @property
    def seconds(self) -> float:
        """The time spent on training, without interruptions."""
        return time.monotonic() - self.start

    def _score_dev(self) -> tuple[Score, float | None]:
        """Score dev, and add the accuracies of the three heads as MaChAmp does if they select the best weights."""
        gold = [sentence.entities for sentence in self.dev]
        if self.dev_labels is None:
            return score(gold, self.recognizer.predict(self.dev)), None
        scores = self.recognizer.scores([s.tokens for s in self.dev], [document_of(s) for s in self.dev])
        entities = self.recognizer.engine().decode(scores).table.to_lists()
        heads = zip((scores.n, scores.c, scores.u), self.dev_labels.T, strict=True)
        return score(gold, entities), sum(float(np.mean(head.argmax(axis=1) == labels)) for head, labels in heads)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score dev with the averaged weights, and copy the weights if they are the best so far."""
        best = self.progress.best_scoring
        loss = float(np.mean(gather_object([self.loss_sum.item() / self.loss_steps]))) if self.loss_steps else None
        current, averaged = self.recognizer.model, self.average.module if self.average else self.recognizer.model
        self.recognizer.model = cast(Tagger, averaged)
        ((dev, labels),) = broadcast_object_list([self._score_dev() if is_first_process() else None])
        self.recognizer.model = current
        scoring = Scoring(self.state.global_step, loss or 0.0, dev, self.seconds, labels)
        if is_first_process() and (best is None or scoring.rank > best.rank):
            self.best_weights = copy_weights(averaged)
        self.progress.loss = loss
        self.progress.dev.append(scoring)
        self.loss_sum.zero_()
        self.loss_steps = 0
        metrics = {"eval_f1": dev.f1, "eval_precision": dev.precision, "eval_recall": dev.recall}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class _RunCallback(SavingCallback):
    """Updates the average, decides when to evaluate and save, reports progress, and stops early."""

    trainer: NestedTrainer

    def __init__(self, trainer: NestedTrainer, watch: ProgressCallback | None) -> None:
        super().__init__(trainer)
        self.watch = watch
        self.stopwatch = Stopwatch()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report(state)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        frozen = freezes_encoder(self.trainer.recipe, self.trainer.progress.plan, state.global_step)
        self.trainer.recognizer.model.encoder.requires_grad_(not frozen)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        progress = self.trainer.progress
        if self.trainer.average:
            self.trainer.average.update()
        if seconds := self.stopwatch.step_seconds(state.global_step, self.trainer.recognizer.model.device.type):
            progress.seconds = progress.plan.seconds(seconds)
        self._report(state)
        last = state.global_step >= progress.plan.steps
        control.should_evaluate = state.global_step % progress.plan.evaluate_every == 0 or last
        self.control_saving(control, allowed=control.should_evaluate and not last)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report(state)
        if self.trainer.progress.stalled:
            control.should_training_stop = True

    def _report(self, state: Any) -> None:
        self.trainer.progress.step = state.global_step
        if self.watch:
            self.watch(self.trainer.progress)


def _mask_id(tokenizer: Any) -> int:
    """Return the mask token, or else the unknown token."""
    ids = (number for number in (tokenizer.mask_token_id, tokenizer.unk_token_id) if number is not None)
    return int(next(ids, 0))
