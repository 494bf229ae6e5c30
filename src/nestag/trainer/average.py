"""The moving average of a model's weights, which is often better than the weights of any one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Average:
    """The exponential moving average of a model's weights."""

    def __init__(self, model: torch.nn.Module, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.weights = copied(model)

    def to(self, device: torch.device) -> None:
        """Keep the average where the model is."""
        self.weights = {name: value.to(device) for name, value in self.weights.items()}

    @torch.no_grad()
    def update(self, model: torch.nn.Module) -> None:
        """Move towards the weights of now, faster in the beginning."""
        self.steps += 1
        keep = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for name, value in model.state_dict().items():
            if value.dtype.is_floating_point:
                self.weights[name].lerp_(value, 1 - keep)
            else:
                self.weights[name].copy_(value)

    @contextmanager
    def inside(self, model: torch.nn.Module) -> Iterator[None]:
        """The averaged weights in the model, and the learned ones back in it afterwards."""
        learned = copied(model)
        model.load_state_dict(self.weights)
        try:
            yield
        finally:
            model.load_state_dict(learned)


def copied(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A copy of a model's weights, which learning leaves alone."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
