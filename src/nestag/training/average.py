"""The moving average of a model's weights, which is often better than the weights of any one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import torch


class Average:
    """The exponential moving average of a model's weights."""

    def __init__(self, model: torch.nn.Module, decay: float) -> None:
        """Start with the weights as they are."""
        self.decay = decay
        self.steps = 0
        self.model = model
        self.weights = copied(model)

    @torch.no_grad()
    def update(self) -> None:
        """Move towards the current weights, faster at the beginning."""
        self.steps += 1
        keep = min(self.decay, (1 + self.steps) / (10 + self.steps))
        averages, values = self._pairs
        torch._foreach_lerp_(averages, values, 1 - keep)

    @cached_property
    def _pairs(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """The averages and the weights they follow, both as they lie in memory."""
        state = self.model.state_dict()
        names = [name for name, value in state.items() if value.dtype.is_floating_point]
        return [self.weights[name] for name in names], [state[name] for name in names]

    def restore(self, steps: int, weights: dict[str, torch.Tensor]) -> None:
        """Go on from an average that was saved."""
        self.steps, self.weights = steps, weights
        self.__dict__.pop("_pairs", None)

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """Swap the averaged weights into the model, then restore."""
        learned = copied(self.model)
        counted = {name: value for name, value in learned.items() if not value.dtype.is_floating_point}
        self.model.load_state_dict(self.weights | counted)
        try:
            yield
        finally:
            self.model.load_state_dict(learned)


def copied(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A copy of a model's weights."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
