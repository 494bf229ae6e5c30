"""The loss, the optimizer with its learning rates, and the moving average of the weights.

The loss is the sum of the labels' cross-entropies, and of what else trains the encoder:
- The span grid learns which spans are entities (`span_loss` times its loss). This improves the word vectors for the
  labels too, whether the grid is used in prediction (`decoding = "spans"`) or not.
- `masked_subwords` replaces a share of the subwords by the mask token, so that words are learned from their neighbours.
- `rdrop` reads every batch twice with different dropout and adds the divergence between the label distributions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from nestag.model.tagger import IGNORED, Tagger, TaggerOutput
from nestag.training.plan import TrainingPlan
from nestag.training.recipe import Recipe


def loss_of(model: Any, inputs: dict[str, Tensor], recipe: Recipe, mask: int = 0) -> Tensor:
    """Return the loss of a batch; `mask` is the mask token."""
    inputs = dict(inputs)
    targets = inputs.pop("spans", None)
    if recipe.rdrop:
        inputs = {name: torch.cat([values, values]) for name, values in inputs.items()}
    if recipe.masked_subwords:
        inputs["input_ids"] = masked(inputs["input_ids"], inputs["word"], recipe.masked_subwords, mask)
    output: TaggerOutput = model(**inputs)
    assert output.loss is not None
    loss = output.loss
    learned = inputs["labels"][..., 0] != IGNORED
    if recipe.rdrop:
        loss = loss + recipe.rdrop * divergence(output[:3], learned)
    if output.spans is not None and targets is not None:
        loss = loss + recipe.span_loss * grid_loss(output.spans.float(), targets, learned, recipe.rdrop)
    return loss


def grid_loss(logits: Tensor, targets: Tensor, learned: Tensor, rdrop: float) -> Tensor:
    """Return the binary cross-entropy of all cells and types of a span grid, added, per word.

    A cell is learned if its first and its last word are. With `rdrop`, the batch comes twice, and the symmetric
    divergence between both readings is added.
    """
    width = logits.shape[2]
    ends = torch.nn.functional.pad(learned, (0, width - 1)).unfold(1, width, 1)  # windows x words x width
    cells = (learned[..., None] & ends)[..., None]  # windows x words x width x 1
    wanted = torch.cat([targets, targets]) if rdrop else targets
    apart = functional.binary_cross_entropy_with_logits(logits, wanted.float(), reduction="none")
    loss = (apart * cells).sum()
    if rdrop:
        one, other = logits.chunk(2)
        between = (one.sigmoid() - other.sigmoid()) * (one - other)
        loss = loss + rdrop * (between * cells[: len(one)]).sum()
    return loss / learned.sum().clamp(min=1)


def masked(input_ids: Tensor, word: Tensor, share: float, mask: int) -> Tensor:
    """Subwords of which a share is replaced by the one that hides; those of no word stay."""
    hidden = (torch.rand(word.shape, device=word.device) < share) & (word >= 0)
    return torch.where(hidden, mask, input_ids)


def divergence(scores: Sequence[Tensor], learned: Tensor) -> Tensor:
    """The symmetric Kullback-Leibler divergence between two readings of the same batch, added over the heads."""
    half = len(learned) // 2
    total = torch.zeros((), device=learned.device)
    for score in scores:
        one, other = (functional.log_softmax(part.float(), dim=-1) for part in score.chunk(2))
        apart = 0.5 * ((one.exp() - other.exp()) * (one - other)).sum(-1)  # windows x words
        total = total + (apart * learned[:half]).sum() / learned[:half].sum().clamp(min=1)
    return total


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
        decay = recipe.weight_decay if recipe.decay_all_parameters or weight.ndim > 1 else 0.0
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
    if recipe.lr_scheduler_type == "slanted_triangular":
        return LambdaLR(optimizer, slanted(recipe.warmup_ratio, plan))

    def factor(step: int) -> float:
        up = min(1.0, (step + 1) / plan.warmup_steps)
        falling = (plan.steps - step) / max(1, plan.steps - plan.warmup_steps)
        return up if recipe.lr_scheduler_type == "constant_with_warmup" else up * min(1.0, max(0.0, falling))

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
    return recipe.lr_scheduler_type == "slanted_triangular" and step < plan.epoch_steps


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
