"""The trainer: transformers' own, with our batches, loss and scoring of dev, and the callback that follows it.

Everything is counted in steps. Dev is scored at even intervals with the averaged weights; the best weights are kept in
memory and go into every checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from accelerate.utils import broadcast_object_list, gather_object
from torch.utils.data import DataLoader
from transformers import TrainerCallback

from nestag.data.arrays import Ints
from nestag.data.crossing import drop_crossing
from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.encodings.vocabulary import Vocabulary
from nestag.evaluation import Score, score
from nestag.model.engine import ChunkScores
from nestag.model.recognizer import NestedNER
from nestag.model.scorer import computing, multiplying
from nestag.training.checkpoints import ResumableTrainer, State, Weights, load_state, save_state
from nestag.training.dataset import SAMPLERS, TrainingSet
from nestag.training.graphs import GraphedPass, Padding
from nestag.training.optimization import Average, copied, freezes_encoder, loss_of, optimizer_of, scheduler_of
from nestag.training.plan import Progress, ProgressCallback, Scoring, TrainingPlan
from nestag.training.recipe import Recipe
from nestag.training.run_folder import CHECKPOINTS, is_first_process, process_count, step_of

CHECKPOINT_SECONDS = 60.0
"""Time between two checkpoints, at least; each is written when dev has been scored."""

WARM, TIMED = {"cpu": 3, "cuda": 30}, {"cpu": 13, "cuda": 60}
"""The steps between which the speed of a run is measured; the first ones are slower, on a GPU much slower."""


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
        self.sampler = SAMPLERS[recipe.batching](
            windows, plan.batch_subwords, recipe.batch_sentences, seed, process_count()
        )
        self.score_dev = DevScorer(recognizer, dev, labels=recipe.metric_for_best_model == "label_accuracy")
        self.progress = Progress(plan)
        if torch.cuda.is_available() and not use_cpu:
            recognizer.model.to("cuda")  # type: ignore[arg-type]  # before the optimizer, which can do more for weights on a GPU
        self.weights = list(recognizer.model.parameters())
        self.padding, self.graphed = self._graphs(plan)
        optimizer = optimizer_of(recognizer.model, recipe)
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
            data_collator=self._tensors,
            train_dataset=range(len(windows)),
            eval_dataset=range(0),
            optimizers=(optimizer, scheduler_of(optimizer, recipe, plan)),
            callbacks=[_Follow(self, watch)],
        )
        self.average = Average(recognizer.model, plan.ema_decay) if plan.ema_decay else None
        self.best_weights: Weights | None = None
        self.loss_sum = torch.zeros((), device=recognizer.model.device)
        self.loss_steps = 0
        self.frozen: bool | None = None
        self.mask = _mask_of(recognizer.tokenizer)
        self.begun = time.monotonic()  # less what was trained before an interruption

    def _graphs(self, plan: TrainingPlan) -> tuple[Padding | None, GraphedPass | None]:
        """How batches are padded and passed over as graphs, where one process has a GPU."""
        model, windows = self.recognizer.model, self.corpus.layout.windows
        alone = process_count() == 1 and self.recipe.gradient_accumulation_steps == 1
        if not (alone and model.device.type == "cuda" and model.mask_whole):
            return None, None
        longest, pad = int(windows.sizes.max()), self.corpus.layout.special.pad
        padding = Padding(plan.batch_subwords, self.recipe.batch_sentences, longest, pad)
        return padding, GraphedPass(partial(self._loss, model), self.weights)

    def _tensors(self, batch: Sequence[int]) -> dict[str, torch.Tensor]:
        """What the model takes for some windows."""
        found = self.corpus.tensors(batch)
        return self.padding(found) if self.padding else found

    @property
    def finished(self) -> bool:
        """Whether all steps are taken, or training stopped early."""
        return self.progress.finished

    def load_more(self, checkpoint: Path) -> None:
        """Load nestag's state."""
        state = load_state(checkpoint, self.recognizer.model.device)
        self.begun = time.monotonic() - state.seconds
        self.progress.step = step_of(checkpoint)
        self.progress.dev[:] = state.dev
        self.best_weights, self.loss_steps = state.best_weights, state.loss_steps
        self.loss_sum.fill_(state.loss_sum)
        if self.average and state.average:
            self.average.restore(state.average_steps, state.average)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches by subwords."""
        numbers: Any = range(len(self.sampler.sizes))
        loader: DataLoader[Any] = DataLoader(numbers, batch_sampler=self.sampler, collate_fn=self.data_collator)
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
        """Not counted: nothing reads it, and counting looks at every weight in every step."""
        return 0

    def freeze(self) -> None:
        """See that the encoder gets a gradient in the next step, or none."""
        frozen = freezes_encoder(self.recipe, self.progress.plan, self.state.global_step)
        if frozen is not self.frozen:
            self.recognizer.model.encoder.requires_grad_(not frozen)
            self.frozen = frozen

    @property
    def seconds(self) -> float:
        """How long was trained, without interruptions."""
        return time.monotonic() - self.begun

    def mean_loss(self) -> float | None:
        """The mean loss since dev was scored last, or None before the first step."""
        return _mean_over_processes(self.loss_sum.item() / self.loss_steps) if self.loss_steps else None

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score dev with the averaged weights; the best ones are kept."""
        best, loss = self.progress.best_scoring, self.mean_loss()
        with self.average.swapped_in() if self.average else nullcontext():
            ((found, labels),) = broadcast_object_list([self.score_dev() if is_first_process() else None])
            scoring = Scoring(self.state.global_step, loss or 0.0, found, self.seconds, labels)
            if is_first_process() and (best is None or scoring.rank > best.rank):
                self.best_weights = copied(self.recognizer.model)
        self.progress.loss = loss
        self.progress.dev.append(scoring)
        self.loss_sum.zero_()
        self.loss_steps = 0
        metrics = {"eval_f1": found.f1, "eval_precision": found.precision, "eval_recall": found.recall}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def save_more(self, checkpoint: Path) -> None:
        """Save nestag's state."""
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
        several = process_count() > 1  # whose clocks could disagree
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


def _mean_over_processes(value: float) -> float:
    values = gather_object([value])
    return float(sum(values) / len(values))


def _mask_of(tokenizer: Any) -> int:
    """The subword that hides others: the one made for that, or else the unknown one."""
    known = (number for number in (tokenizer.mask_token_id, tokenizer.unk_token_id) if number is not None)
    return int(next(known, 0))


class DevScore(NamedTuple):
    """What a model is worth on dev."""

    score: Score
    labels: float | None  # the sum of the three heads' accuracies, if somebody wants it


class DevScorer:
    """Scores a recognizer that is being trained."""

    def __init__(self, recognizer: NestedNER, dev: Sequence[Sentence], labels: bool) -> None:
        """With `labels`, the accuracies of the three heads are computed too, from the same scores."""
        self.recognizer, self.dev = recognizer, dev
        self.gold = [sentence.entities for sentence in dev]
        self.labels = _labels(recognizer.vocabulary, dev) if labels else None

    def __call__(self) -> DevScore:
        """Score the weights of now."""
        if self.labels is None:
            return DevScore(score(self.gold, self.recognizer.predict(self.dev)), None)
        scores = self.recognizer.scores([one.tokens for one in self.dev], [document_of(one) for one in self.dev])
        found = self.recognizer.engine().decode(scores).table.to_lists()
        return DevScore(score(self.gold, found), label_accuracy(scores, self.labels))


def label_accuracy(scores: ChunkScores, labels: Sequence[Ints]) -> float:
    """The shares of words whose best n, c and u are right, added, as MaChAmp adds them; an unseen label is wrong."""
    pairs = zip((scores.n, scores.c, scores.u), labels, strict=True)
    return sum(float(np.mean(head.argmax(axis=1) == wanted)) for head, wanted in pairs)


def _labels(vocabulary: Vocabulary, dev: Sequence[Sentence]) -> list[Ints]:
    """The label numbers of all words, one array a head; crossing entities are dropped."""
    nested = (sentence.with_entities(drop_crossing(sentence.annotated).nested) for sentence in dev)
    ids = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in nested]
    return [np.array([number for one in ids for number in one[head]], dtype=np.int64) for head in range(3)]
