"""Where a run keeps its checkpoints, and which of them counts; without torch, so that anybody can look."""

from __future__ import annotations

import shutil
from pathlib import Path

CHECKPOINTS = "checkpoints"
COMPLETE = "complete"
"""The file that marks a checkpoint as complete."""


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint, or None; what was cut short while it was written is removed."""
    complete: list[Path] = []
    for path in folder.glob("checkpoint-*"):
        if (path / COMPLETE).exists():
            complete.append(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return max(complete, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
