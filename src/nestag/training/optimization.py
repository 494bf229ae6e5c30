"""The loss, the optimizer with its learning rates, and the moving average of the weights.

The loss is the sum of the labels' cross-entropies. A recipe can add more:
- `span_loss` times the loss of the span grid, which learns the spans that are entities. This improves the word vectors
  for the labels too, even if the grid is not used in prediction.
- `masked_subwords` replaces a share of the subwords by the mask token, so that the model learns from neighbours.
- `rdrop` passes each batch twice with different dropout and adds the divergence between the label distributions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from nestag.model.tagger import IGNORED, Tagger, TaggerOutput
from nestag.training.plan import TrainingPlan, head_rates
from nestag.training.recipe import Recipe


def loss_of(model: Any, inputs: dict[str, Tensor], recipe: Recipe, mask: int = 0) -> Tensor:
    """Return the loss of a batch; `mask` is the mask token."""
    inputs = dict(inputs)
    targets = inputs.pop("spans", None)
    if recipe.rdrop:
        inputs = {name: torch.cat([values, values]) for name, values in inputs.items()}
    if recipe.masked_subwords:
        inputs["input_ids"] = mask_subwords(inputs["input_ids"], inputs["word"], recipe.masked_subwords, mask)
    output: TaggerOutput = model(**inputs)
    assert output.loss is not None
    loss = output.loss
    labelled = inputs["labels"][..., 0] != IGNORED
    if recipe.rdrop:
        loss = loss + recipe.rdrop * divergence(output[:3], labelled)
    if output.spans is not None and targets is not None:
        loss = loss + recipe.span_loss * grid_loss(output.spans.float(), targets, labelled, recipe.rdrop)
    return loss


def grid_loss(logits: Tensor, targets: Tensor, labelled: Tensor, rdrop: float) -> Tensor:
    """Return the binary cross-entropy of all cells and types of a span grid, summed, per word.

    A cell counts if its first and its last word are labelled. With `rdrop`, the batch comes twice, and the symmetric
    divergence between both passes is added.
    """
    width = logits.shape[2]
    ends = functional.pad(labelled, (0, width - 1)).unfold(1, width, 1)  # windows x words x width
    cells = (labelled[..., None] & ends)[..., None]  # windows x words x width x 1
    gold = torch.cat([targets, targets]) if rdrop else targets
    losses = functional.binary_cross_entropy_with_logits(logits, gold.float(), reduction="none")
    loss = (losses * cells).sum()
    if rdrop:
        first, second = logits.chunk(2)
        divergences = (first.sigmoid() - second.sigmoid()) * (first - second)
        loss = loss + rdrop * (divergences * cells[: len(first)]).sum()
    return loss / labelled.sum().clamp(min=1)


def mask_subwords(input_ids: Tensor, word: Tensor, share: float, mask: int) -> Tensor:
    """Replace a share of the subwords of words by the mask token."""
    masked = (torch.rand(word.shape, device=word.device) < share) & (word >= 0)
    return torch.where(masked, mask, input_ids)


def divergence(heads: Sequence[Tensor], labelled: Tensor) -> Tensor:
    """Return the symmetric Kullback-Leibler divergence between two passes of a batch, summed over the heads."""
    half = len(labelled) // 2
    total = torch.zeros((), device=labelled.device)
    for logits in heads:
        first, second = (functional.log_softmax(part.float(), dim=-1) for part in logits.chunk(2))
        by_word = 0.5 * ((first.exp() - second.exp()) * (first - second)).sum(-1)  # windows x words
        total = total + (by_word * labelled[:half]).sum() / labelled[:half].sum().clamp(min=1)
    return total


_LAYER = re.compile(r"\.(?:layers?|h|block)\.(\d+)\.")
FUSED = ("cpu", "cuda")
LOWEST = 32.0  # the slanted schedule falls to the highest rate divided by this


def optimizer_of(model: Tagger, recipe: Recipe, sentences: int) -> AdamW:
    """Return AdamW with a parameter group for each learning rate and weight decay, those of the heads last."""
    heads = head_rates(recipe, sentences, pretrained=bool(model.pretrained_layers))
    groups: dict[tuple[bool, float, float], list[nn.Parameter]] = {}
    layers = 1 + max((layer_of(name) for name, _ in model.named_parameters()), default=0)
    for name, weight in model.named_parameters():
        is_head = not name.startswith("encoder.")
        below = 0 if is_head else layers - 1 - layer_of(name)
        rate = recipe.learning_rate * recipe.layer_decay**below
        if is_head:
            rate = heads.pretrained if name in model.pretrained_layers else heads.new
        decay = recipe.weight_decay if recipe.decay_all_parameters or weight.ndim > 1 else 0.0
        groups.setdefault((is_head, rate, decay), []).append(weight)
    settings = [
        {"params": weights, "lr": rate, "weight_decay": decay, "is_head": is_head}
        for (is_head, rate, decay), weights in sorted(groups.items(), key=lambda item: item[0])
    ]
    fused = all(weight.device.type in FUSED for weight in model.parameters())  # one pass over the weights, not ten
    return AdamW(settings, betas=(recipe.adam_beta1, recipe.adam_beta2), fused=fused)


def layer_of(name: str) -> int:
    """Return the layer of the encoder that a weight belongs to: 0 for embeddings, then 1, 2, ...

    >>> layer_of("encoder.encoder.layer.4.output.dense.weight"), layer_of("encoder.embeddings.word_embeddings.weight")
    (5, 0)
    """
    match = _LAYER.search(name)
    return int(match[1]) + 1 if match else 0


def scheduler_of(optimizer: AdamW, recipe: Recipe, plan: TrainingPlan) -> LambdaLR:
    """Return the learning rate schedule of a recipe."""
    if recipe.lr_scheduler_type == "slanted_triangular":
        return LambdaLR(optimizer, lambda step: slanted_factor(step, recipe.warmup_ratio, plan))

    def factor(step: int) -> float:
        up = min(1.0, (step + 1) / plan.warmup_steps)
        falling = (plan.steps - step) / max(1, plan.steps - plan.warmup_steps)
        return up if recipe.lr_scheduler_type == "constant_with_warmup" else up * min(1.0, max(0.0, falling))

    return LambdaLR(optimizer, factor)


def slanted_factor(step: int, warmup_ratio: float, plan: TrainingPlan) -> float:
    """Return MaChAmp's factor: a steep rise and a long fall, once in the first epoch and once in all others."""
    number, length = step + 1, plan.epoch_steps  # numbered from 1, because the rate is set before each step
    if number > plan.epoch_steps:
        number, length = number - plan.epoch_steps, plan.steps - plan.epoch_steps
    peak = int(length * warmup_ratio)
    share = number / peak if number < peak else 1 - (number - peak) / max(1, length - peak)
    return (1 + max(0.0, share) * (LOWEST - 1)) / LOWEST


def freezes_encoder(recipe: Recipe, plan: TrainingPlan, step: int) -> bool:
    """Return whether the encoder is frozen in a step: in the first epoch of MaChAmp's schedule."""
    return recipe.lr_scheduler_type == "slanted_triangular" and step < plan.epoch_steps


class Average(nn.Module):
    """A copy of a model that follows it as an exponential moving average.

    AveragedModel of torch does the same, but waits for the GPU in each step.
    """

    steps: Tensor  # on the CPU

    def __init__(self, model: nn.Module, decay: float) -> None:
        super().__init__()
        self.decay, self.module = decay, deepcopy(model)
        self.register_buffer("steps", torch.tensor(0))
        self.pairs: tuple[list[Tensor], list[Tensor]] = [*self.module.parameters()], [*model.parameters()]
        self.buffer_pairs = list(zip(self.module.buffers(), model.buffers(), strict=True))

    @torch.no_grad()
    def update(self) -> None:
        """Move towards the weights of the model, faster at the beginning."""
        self.steps += 1
        steps, (averages, weights) = int(self.steps), self.pairs
        torch._foreach_lerp_(averages, weights, 1 - min(self.decay, (1 + steps) / (10 + steps)))
        for own, followed in self.buffer_pairs:
            own.copy_(followed)


def copy_weights(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return a copy of a model's weights."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
