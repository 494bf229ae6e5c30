"""The diary of a run: loss, score on dev and seconds of each epoch, kept beside the model while it is trained.

A run that goes on after an interruption knows only its own epochs; the diary knows those before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nestag.evaluation.score import Score
from nestag.lab.experiment.records import read_record, write_json
from nestag.lab.experiment.result import Epoch
from nestag.validation import to_mapping

DIARY = "epochs.json"


class Entry(NamedTuple):
    """What is written down of an epoch."""

    loss: float
    dev: Score
    seconds: float  # of training, from the very beginning to its end


@dataclass(frozen=True)
class _DiaryFile:
    """The file."""

    loss: float
    seconds: float
    epochs: tuple[Entry, ...]


class Diary:
    """The epochs of a run, saved as they come.

    Seconds are those that led to what is kept: work that a killed run did after its last epoch is not counted.
    """

    def __init__(self, folder: Path) -> None:
        """Open the diary of a folder, or begin one."""
        self.file = folder / DIARY
        self.entries: list[Entry] = []
        self.loss = 0.0  # the last one seen
        self.seconds = 0.0  # before this process
        self._resumed = False
        self._begin = time.monotonic()
        if self.file.exists():
            self._load()

    def _load(self) -> None:
        kept = read_record(_DiaryFile, self.file, "the diary of a run", "delete its folder to begin anew")
        self.entries, self.loss, self.seconds = list(kept.epochs), kept.loss, kept.seconds

    @property
    def elapsed(self) -> float:
        """Seconds of training so far."""
        return self.seconds + time.monotonic() - self._begin

    @property
    def epochs(self) -> tuple[Epoch, ...]:
        """Those written down, as results have them."""
        return tuple(Epoch(entry.loss, entry.dev) for entry in self.entries)

    def see(self, loss: float, dev: list[Score]) -> bool:
        """Record the state of the run; True if an epoch has ended."""
        if not self._resumed:
            self._resume(len(dev))
        self.loss = loss or self.loss  # 0 before the first loss of this process is known
        if len(dev) <= len(self.entries):
            return False
        self.entries.append(Entry(self.loss, dev[-1], self.elapsed))
        self.save()
        return True

    def _resume(self, known: int) -> None:
        """Forget epochs after the checkpoint from which the run goes on: they are done again."""
        self._resumed = True
        if known < len(self.entries):
            self.entries = self.entries[:known]
            self.seconds = self.entries[-1].seconds if self.entries else 0.0

    def save(self) -> None:
        """Save the file, with the time until now."""
        write_json(to_mapping(_DiaryFile(self.loss, self.elapsed, tuple(self.entries))), self.file)
