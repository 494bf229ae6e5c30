"""Which weights learn at which rate, and how the rates change over a run."""

from __future__ import annotations

import re
from collections.abc import Callable

import torch
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from nestag.tagger import Tagger
from nestag.training.plan import TrainingPlan
from nestag.training.recipe import Recipe

_LAYER = re.compile(r"\.(?:layers?|h|block)\.(\d+)\.")
FUSED = ("cpu", "cuda")
LOWEST = 32.0
"""The slanted schedule falls to the highest rate divided by this."""


def optimizer_of(model: Tagger, recipe: Recipe) -> AdamW:
    """AdamW with one group for each rate and decay. The heads' groups come last."""
    groups: dict[tuple[bool, float, float], list[torch.nn.Parameter]] = {}
    layers = 1 + max((layer_of(name) for name, _ in model.named_parameters()), default=0)
    for name, weight in model.named_parameters():
        ours = not name.startswith("encoder.")
        below = 0 if ours else layers - 1 - layer_of(name)
        rate = recipe.head_learning_rate if ours else recipe.learning_rate * recipe.layer_decay**below
        decay = recipe.weight_decay if recipe.decayed == "all" or weight.ndim > 1 else 0.0
        groups.setdefault((ours, rate, decay), []).append(weight)
    settings = [
        {"params": weights, "lr": rate, "weight_decay": decay, "ours": ours}
        for (ours, rate, decay), weights in sorted(groups.items(), key=lambda item: item[0])
    ]
    fused = all(weight.device.type in FUSED for weight in model.parameters())  # one pass over the weights, not ten
    return AdamW(settings, betas=(recipe.adam_beta1, recipe.adam_beta2), fused=fused)


def layer_of(name: str) -> int:
    """The layer of the encoder that a weight belongs to: 0 for embeddings, then 1, 2, ...

    >>> layer_of("encoder.encoder.layer.4.output.dense.weight"), layer_of("encoder.embeddings.word_embeddings.weight")
    (5, 0)
    """
    match = _LAYER.search(name)
    return int(match[1]) + 1 if match else 0


def scheduler_of(optimizer: AdamW, recipe: Recipe, plan: TrainingPlan) -> LambdaLR:
    """The schedule of a recipe over all steps of a plan."""
    if recipe.schedule == "slanted":
        return LambdaLR(optimizer, slanted(recipe.warmup_ratio, plan))

    def factor(step: int) -> float:
        up = min(1.0, (step + 1) / plan.warmup_steps)
        falling = (plan.steps - step) / max(1, plan.steps - plan.warmup_steps)
        return up if recipe.schedule == "constant" else up * min(1.0, max(0.0, falling))

    return LambdaLR(optimizer, factor)


def slanted(rising: float, plan: TrainingPlan) -> Callable[[int], float]:
    """MaChAmp's triangle: a steep rise and a long fall, once for the first epoch and once for all others.

    Its steps are counted from 1, as the rate is set before each step. What is frozen in the first epoch is said by
    `freezes_encoder`.
    """

    def factor(before: int) -> float:
        step, length = before + 1, plan.epoch_steps
        if step > plan.epoch_steps:
            step, length = step - plan.epoch_steps, plan.steps - plan.epoch_steps
        return _triangle(step, length, int(length * rising))

    return factor


def _triangle(step: int, length: int, cut: int) -> float:
    """Up from the floor to 1 at the cut, and down to the floor at the end."""
    share = step / cut if step < cut else 1 - (step - cut) / max(1, length - cut)
    return (1 + max(0.0, share) * (LOWEST - 1)) / LOWEST


def freezes_encoder(recipe: Recipe, plan: TrainingPlan, step: int) -> bool:
    """Whether the encoder gets no gradient in the step after so many: MaChAmp's gradual unfreezing of two groups."""
    return recipe.schedule == "slanted" and step < plan.epoch_steps
