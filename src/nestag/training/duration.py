"""How long training takes on this CPU, estimated before it starts from a measurement of a tenth of a second."""

from __future__ import annotations

import time

import torch
from torch import nn

from nestag.training.plan import TrainingPlan

WIDTH, INNER = 384, 1536
"""The sizes of a feed-forward layer of MiniLM, whose time is the unit."""

UNITS = {"minilm": 25.0, "light": 3.0}
"""Such layers, forward and backward, that take as long as a step of a whole model; measured on two cores."""

TIMES = 5


def cpu_seconds(encoder: str, plan: TrainingPlan, unit: float | None = None) -> float:
    """Estimate how long a plan takes with `minilm` or `light`, scoring of dev included.

    >>> plan = TrainingPlan(456, 11_566, 430, 31, 930, 93, 0.99, 47, 10, 2_400)
    >>> round(cpu_seconds("minilm", plan, unit=0.01)), round(cpu_seconds("light", plan, unit=0.01))
    (242, 29)
    """
    step = UNITS[encoder] * (unit or layer_seconds(plan.batch_subwords))
    scoring = plan.dev_subwords / plan.batch_subwords * step / 3  # forward alone is a third of a step
    return plan.steps * step + plan.evaluations * scoring


def layer_seconds(rows: int) -> float:
    """Measure a feed-forward layer for so many subwords, forward and backward."""
    layer = nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH))
    vectors = torch.randn(rows, WIDTH)
    seconds = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        layer(vectors).sum().backward()
        seconds.append(time.perf_counter() - begun)
    return sorted(seconds)[TIMES // 2]
