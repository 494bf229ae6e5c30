"""How long training takes: estimated before a run on a CPU, and measured over the first steps of any run."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

from nestag.training.plan import TrainingPlan
from nestag.training.recipe import Recipe, load_recipe, recipe_for

WIDTH, INNER = 384, 1536  # sizes of a feed-forward layer of MiniLM, whose time is the unit
UNITS = {"minilm": 25.0, "light": 3.0}  # such layers that take as long as a step of a whole model, on two cores
TIMES = 5
# The steps between which the speed of a run is measured; the first ones are slower, on a GPU much slower.
WARM_UP, TIMED = {"cpu": 3, "cuda": 30}, {"cpu": 13, "cuda": 60}


def cpu_estimates(recipe: Recipe, plan: Callable[[Recipe], TrainingPlan]) -> dict[str, float]:
    """Estimate the seconds of training on this CPU with `minilm` and with `light`; empty for other encoders."""
    if recipe.encoder not in UNITS:
        return {}
    length = {"steps": recipe.steps, "epochs": recipe.epochs}
    others = {name: load_recipe(recipe_for(name)).changed(length) for name in UNITS if name != recipe.encoder}
    recipes = {recipe.encoder: recipe, **others}
    return {name: (2 if recipes[name].rdrop else 1) * cpu_seconds(name, plan(recipes[name])) for name in UNITS}


def cpu_seconds(encoder: str, plan: TrainingPlan, unit: float | None = None) -> float:
    """Estimate how long a plan takes with `minilm` or `light`, scoring of dev included.

    >>> plan = TrainingPlan(456, 11_566, 430, 31, 930, 93, 0.99, 47, 10, 2_400)
    >>> round(cpu_seconds("minilm", plan, unit=0.01)), round(cpu_seconds("light", plan, unit=0.01))
    (242, 29)
    """
    return plan.seconds(UNITS[encoder] * (unit or layer_seconds(plan.batch_subwords)))


def layer_seconds(rows: int) -> float:
    """Measure a feed-forward layer for so many subwords, forward and backward."""
    with torch.random.fork_rng(devices=[]):  # the run that follows must not depend on this measurement
        layer = nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH))
        vectors = torch.randn(rows, WIDTH)
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        layer(vectors).sum().backward()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[TIMES // 2]


class Stopwatch:
    """Measures the seconds of a step."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.start = 0.0

    def step_seconds(self, step: int, device: str) -> float | None:
        """Return the mean seconds of a step once, when enough steps are done; otherwise None."""
        if self.first is None:
            self.first = step
        kind = device if device in TIMED else "cuda"
        if step - self.first not in (WARM_UP[kind], TIMED[kind]):
            return None
        if device == "cuda":
            torch.cuda.synchronize()
        if step - self.first == TIMED[kind]:
            return (time.monotonic() - self.start) / (TIMED[kind] - WARM_UP[kind])
        self.start = time.monotonic()
        return None
