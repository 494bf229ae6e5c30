"""Checkpoints: a Trainer that saves when it is interrupted and resumes, and the state that nestag adds to a checkpoint.

nestag's state is one more file in Trainer's checkpoint. A checkpoint counts once its last file marks it as complete.
"""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from nestag.errors import InputError
from nestag.formats.files import sync_tree
from nestag.training.interruption import ENDING, Interrupted, interruptible
from nestag.training.plan import Scoring, scorings_from
from nestag.training.run_folder import COMPLETE, is_first_process, last_checkpoint, process_count

CHECKPOINT_SECONDS = 60.0  # minimum time between two checkpoints
STATE = "nestag.safetensors"
WEIGHTS_OF_STATE = ("average", "best_weights")

Weights = dict[str, torch.Tensor]


@dataclass
class State:
    """nestag's part of a checkpoint."""

    dev: list[Scoring]
    loss_sum: float  # of the steps since the last evaluation
    loss_steps: int
    seconds: float  # of training so far
    average: Weights  # with its number of steps; empty if the weights are not averaged
    best_weights: Weights  # empty before the first evaluation


def save_state(checkpoint: Path, state: State) -> None:
    """Add nestag's state to Trainer's checkpoint: weights as tensors, the rest as metadata."""
    values = dict(vars(state))
    weights = {kind: values.pop(kind) for kind in WEIGHTS_OF_STATE}
    tensors = {f"{kind}.{name}": tensor.contiguous() for kind in weights for name, tensor in weights[kind].items()}
    save_file(tensors, checkpoint / STATE, {"state": json.dumps(values)})


def load_state(checkpoint: Path, device: torch.device) -> State:
    """Load what `save_state` saved."""
    weights: dict[str, Weights] = {kind: {} for kind in WEIGHTS_OF_STATE}
    with safe_open(checkpoint / STATE, "pt", device=str(device)) as file:
        values = json.loads(file.metadata()["state"])
        for key in file.keys():  # noqa: SIM118 - it is not a dict
            kind, _, name = key.partition(".")
            weights[kind][name] = file.get_tensor(key)
    values["dev"] = scorings_from(values["dev"])
    return State(**values | weights)


def mark_complete(checkpoint: Path) -> None:
    """Mark a checkpoint as complete, and remove older ones."""
    sync_tree(checkpoint)  # otherwise the mark could reach the disk first
    (checkpoint / COMPLETE).touch()
    for old in checkpoint.parent.glob("checkpoint-*"):
        if old != checkpoint:
            shutil.rmtree(old, ignore_errors=True)


class ResumableTrainer(Trainer):
    """A Trainer that prints nothing, saves when it is interrupted, and resumes from the last complete checkpoint.

    A callback decides when to evaluate and save.
    """

    def __init__(
        self, model: Any, checkpoints: Path, steps: int, seed: int, use_cpu: bool, options: dict[str, Any], **more: Any
    ) -> None:
        """Set up Trainer; `options` are further TrainingArguments, `more` are arguments of Trainer."""
        self.checkpoints, self.interrupted = checkpoints, Interrupted()
        arguments = TrainingArguments(
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
            **options,
        )
        super().__init__(model=model, args=arguments, **more)
        self.remove_callback(PrinterCallback)

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return bool(self.state.global_step >= self.args.max_steps)

    def run(self) -> None:
        """Train from the last complete checkpoint, or from the beginning."""
        last = last_checkpoint(self.checkpoints)
        if last:
            self.load_extra(last)
        with interruptible(signal.SIGINT, *ENDING, patience=1) as self.interrupted:
            if not self.finished:
                self.train(resume_from_checkpoint=str(last) if last else None)
        if self.interrupted and not self.finished:
            self.interrupted.stop()

    def save_extra(self, checkpoint: Path) -> None:
        """Save what Trainer does not; for subclasses."""

    def load_extra(self, checkpoint: Path) -> None:
        """Load what `save_extra` saved."""

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        super()._save_checkpoint(*arguments, **named)
        if is_first_process():
            checkpoint = self.checkpoints / f"checkpoint-{self.state.global_step}"
            self.save_extra(checkpoint)
            mark_complete(checkpoint)


class SavingCallback(TrainerCallback):
    """Saves from time to time, and saves and stops when the run is interrupted."""

    def __init__(self, trainer: ResumableTrainer) -> None:
        self.trainer = trainer
        self.saved = time.monotonic()

    def control_saving(self, control: Any, allowed: bool) -> None:
        """Save after this step if `allowed` and the last checkpoint is old; several processes have several clocks."""
        interrupted = bool(self.trainer.interrupted)
        old = process_count() > 1 or time.monotonic() - self.saved >= CHECKPOINT_SECONDS
        control.should_save = interrupted or (allowed and old)
        if control.should_save:
            self.saved = time.monotonic()
        if interrupted:
            control.should_training_stop = True


@contextmanager
def explain_write_errors(folder: Path) -> Iterator[None]:
    """Turn a full disk into an error of one line, whichever library reports it."""
    try:
        yield
    except (OSError, SafetensorError, RuntimeError) as error:
        text = " ".join(str(error).split())
        if isinstance(error, RuntimeError) and "PytorchStreamWriter" not in text and "No space left" not in text:
            raise
        raise InputError(
            f"cannot be written ({getattr(error, 'strerror', None) or text[:200]});"
            " make room, then the same command resumes from the last checkpoint",
            str(folder),
        ) from None
