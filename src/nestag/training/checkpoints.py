"""Checkpoints: a Trainer that saves when it is interrupted and resumes, and the state that nestag adds to a checkpoint.

nestag's state is saved in the folder of Trainer's checkpoint. A checkpoint counts once its last file, which marks it as
complete, has been written.
"""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PrinterCallback, Trainer, TrainingArguments

from nestag.errors import InputError
from nestag.formats.files import sync_tree
from nestag.model.model_folder import WEIGHTS
from nestag.training.interruption import ENDING, Interrupted, interruptible
from nestag.training.plan import Scoring, scorings_from
from nestag.training.run_folder import COMPLETE, is_first_process, last_checkpoint

STATE = "nestag_state.json"
AVERAGE = "average.safetensors"
BEST = "best.safetensors"

Weights = dict[str, torch.Tensor]


@dataclass
class State:
    """nestag's part of a checkpoint."""

    dev: list[Scoring]
    loss_sum: float  # of the steps since dev was scored last
    loss_steps: int
    seconds: float  # of training so far
    average_steps: int
    average: Weights | None
    best_weights: Weights | None


def save_state(checkpoint: Path, state: State) -> None:
    """Add nestag's state to Trainer's checkpoint."""
    record = {
        "dev": state.dev,
        "loss": [state.loss_sum, state.loss_steps],
        "seconds": state.seconds,
        "average": state.average_steps,
    }
    (checkpoint / STATE).write_text(json.dumps(record), encoding="utf-8")
    for name, weights in ((AVERAGE, state.average), (BEST, state.best_weights)):
        if weights is not None:
            save_file({key: value.contiguous() for key, value in weights.items()}, checkpoint / name)
    for name in (AVERAGE, BEST, WEIGHTS):
        if (checkpoint / name).exists():
            shutil.copymode(checkpoint / STATE, checkpoint / name)  # safetensors lets nobody but the owner read


def complete(checkpoint: Path) -> None:
    """Mark a checkpoint as complete, and remove older ones."""
    sync_tree(checkpoint)  # or the mark could be on the disk before what it speaks for
    (checkpoint / COMPLETE).touch()
    for old in checkpoint.parent.glob("checkpoint-*"):
        if old != checkpoint:
            shutil.rmtree(old, ignore_errors=True)


def load_state(checkpoint: Path, device: torch.device) -> State:
    """The inverse of `save_state`."""
    record = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))

    def weights(name: str) -> Weights | None:
        path = checkpoint / name
        return load_file(path, device=str(device)) if path.exists() else None

    return State(
        dev=scorings_from(record["dev"]),
        loss_sum=record["loss"][0],
        loss_steps=record["loss"][1],
        seconds=record["seconds"],
        average_steps=record["average"],
        average=weights(AVERAGE),
        best_weights=weights(BEST),
    )


class ResumableTrainer(Trainer):
    """A Trainer that prints nothing, saves when it is interrupted, and resumes from the last complete checkpoint.

    Its callback decides when to evaluate and save.
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
        """Whether there are no more steps to take."""
        return bool(self.state.global_step >= self.args.max_steps)

    def run(self) -> None:
        """Train from the last complete checkpoint, or from the beginning."""
        last = last_checkpoint(self.checkpoints)
        if last:
            self.load_more(last)
        with interruptible(signal.SIGINT, *ENDING, patience=1) as self.interrupted:
            if not self.finished:
                self.train(resume_from_checkpoint=str(last) if last else None)
        if self.interrupted and not self.finished:
            self.interrupted.obey()

    def save_more(self, checkpoint: Path) -> None:
        """Save what Trainer does not know of; subclasses extend it."""

    def load_more(self, checkpoint: Path) -> None:
        """The inverse of `save_more`."""

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        super()._save_checkpoint(*arguments, **named)
        if is_first_process():
            checkpoint = self.checkpoints / f"checkpoint-{self.state.global_step}"
            self.save_more(checkpoint)
            complete(checkpoint)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn a full disk into a one-line error, whichever library hits it."""
    try:
        yield
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        full = isinstance(error, SafetensorError) or "PytorchStreamWriter" in reason or "No space left" in reason
        if isinstance(error, OSError) or full:
            raise InputError(
                f"cannot be written ({getattr(error, 'strerror', None) or reason[:200]});"
                " make room, then the same command goes on from the last checkpoint",
                str(folder),
            ) from None
        raise
