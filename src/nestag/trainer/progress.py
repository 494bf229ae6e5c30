"""Where a training run stands, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nestag.evaluation import Score


@dataclass
class Progress:
    """Where a run stands; handed to whoever watches it."""

    step: int = 0
    steps: int = 0
    epoch: float = 0.0
    loss: float = 0.0
    dev: list[Score] = field(default_factory=list)  # after each epoch

    @property
    def best(self) -> float:
        """The best F1 on dev so far."""
        return max((found.f1 for found in self.dev), default=0.0)

    def stalled(self, patience: int) -> bool:
        """Whether the best F1, if any entity was ever found, is so many epochs old; 0 waits for ever.

        >>> Progress(dev=[Score.of(1, 2, 2), Score.of(1, 2, 2), Score.of(0, 2, 2)]).stalled(patience=2)
        True
        """
        found = [entry.f1 for entry in self.dev]
        return patience > 0 and self.best > 0 and len(found) - 1 - found.index(self.best) >= patience


Watch = Callable[[Progress], None]
"""Whoever wants to know where a run stands."""
