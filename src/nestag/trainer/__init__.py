"""Transformers' Trainer with our batches, loss, evaluation and checkpoints; training.py begins and ends a run.

`nested` is the trainer itself. Beside it stand what there is to learn (`lesson`), the average of weights (`average`),
what a run leaves on the disk (`checkpoints`) and where it stands (`progress`).
"""

from nestag.trainer.checkpoints import BEST, CHECKPOINTS
from nestag.trainer.lesson import Lesson
from nestag.trainer.nested import NestedTrainer
from nestag.trainer.progress import Progress, Watch

__all__ = ["BEST", "CHECKPOINTS", "Lesson", "NestedTrainer", "Progress", "Watch"]
