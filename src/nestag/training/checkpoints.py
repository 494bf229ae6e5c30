"""Checkpoints: the last complete state of a run, with the best weights so far.

Trainer writes its own checkpoint; ours stands beside it in the same folder. It counts once its last file, the mark that
it is complete, has been written.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from nestag.errors import InputError
from nestag.files import sync_tree
from nestag.model_folder import WEIGHTS
from nestag.training.folder import COMPLETE
from nestag.training.progress import Scoring, scorings_from

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
    """Add nestag's state to Trainer's checkpoint, mark it as complete, and remove older ones."""
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
    complete(checkpoint)


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
