"""The state of a training run, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nestag.evaluation import Score
from nestag.training.plan import TrainingPlan


class Scoring(NamedTuple):
    """Dev scored once."""

    step: int  # after which it was scored
    loss: float  # the mean since it was scored before
    score: Score
    seconds: float  # of training until then, interruptions left out
    labels: float | None = None  # the sum of the three heads' accuracies, if the best scoring is chosen by it

    @property
    def rank(self) -> float:
        """What the best scoring has most of."""
        return self.score.f1 if self.labels is None else self.labels


@dataclass
class Progress:
    """The state of a run, passed to the watcher."""

    plan: TrainingPlan
    step: int = 0
    loss: float | None = None  # the mean since dev was scored last; None before the first step
    dev: list[Scoring] = field(default_factory=list)
    seconds: float | None = None  # how long the whole run will take if it does not stop early; None until known

    @property
    def best_scoring(self) -> Scoring | None:
        """The first of the best scorings, or None if dev has not been scored."""
        return best_of(self.dev)

    @property
    def stalled(self) -> bool:
        """Whether the score has not improved for `patience` evaluations; never before the first true positive."""
        best = self.best_scoring
        if not self.plan.patience or best is None or best.score.f1 == 0:
            return False
        return len(self.dev) - 1 - self.dev.index(best) >= self.plan.patience

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to learn."""
        return self.stalled or self.step >= self.plan.steps


ProgressCallback = Callable[[Progress], None]
"""Whoever wants to know where a run stands: called at the start, after each step and after each scoring."""


def best_of(scorings: Sequence[Scoring]) -> Scoring | None:
    """The first scoring of the highest rank, or None if there is none."""
    return max(scorings, key=lambda scoring: scoring.rank, default=None)


def scorings_from(records: Sequence[Sequence[Any]]) -> list[Scoring]:
    """Scorings as JSON has them."""
    return [Scoring(step, loss, Score(*score), *rest) for step, loss, score, *rest in records]
