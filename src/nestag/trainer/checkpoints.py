"""What a run leaves on the disk while it goes on: its last whole checkpoint, and the best weights so far.

Trainer writes its own checkpoint; ours stands beside it in the same folder. It counts once its last file, the mark that
it is whole, has been written.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from nestag.evaluation import Score
from nestag.trainer.average import Average
from nestag.trainer.progress import Progress

COMPLETE = "complete"
STATE = "nestag_state.json"
AVERAGE = "average.safetensors"
BEST = "best.safetensors"
CHECKPOINTS = "checkpoints"


def save_checkpoint(checkpoint: Path, progress: Progress, average: Average | None) -> None:
    """Add ours to Trainer's checkpoint, mark it as whole, and remove those before it."""
    state = {"dev": [list(found) for found in progress.dev], "average": average.steps if average else 0}
    (checkpoint / STATE).write_text(json.dumps(state), encoding="utf-8")
    if average:
        save_file({name: value.contiguous() for name, value in average.weights.items()}, checkpoint / AVERAGE)
    (checkpoint / COMPLETE).touch()
    for old in checkpoint.parent.glob("checkpoint-*"):
        if old != checkpoint:
            shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(checkpoint: Path, progress: Progress, average: Average | None, device: torch.device) -> None:
    """The inverse of `save_checkpoint`, for what is not Trainer's."""
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    progress.dev[:] = [Score(*found) for found in state["dev"]]
    if average:
        average.steps = state["average"]
        average.weights = load_file(checkpoint / AVERAGE, device=str(device))


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; what was cut short while it was written is removed."""
    whole: list[Path] = []
    for path in folder.glob("checkpoint-*"):
        if (path / COMPLETE).exists():
            whole.append(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def save_weights(model: torch.nn.Module, path: Path) -> None:
    """Save a model's weights, whole or not at all."""
    partial = path.with_suffix(".part")
    save_file({name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}, partial)
    partial.replace(path)
