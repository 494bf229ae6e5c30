"""What is minimized: the labels' cross-entropies, and what helps the encoder beside them.

- The head for spans learns which spans are entities (`span_loss` times its loss). What it needs from the word vectors
  makes them better for the labels too, whether it is asked when tagging (`verifier`) or not.
- With `masked_subwords`, a share of the subwords is hidden, so that a word is learned from its neighbours too.
- With `rdrop`, every batch is read twice with other dropout, and the labels' distributions are drawn to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from nestag.tagger import IGNORED, TaggerOutput
from nestag.training.recipe import Recipe
from nestag.training.spans import UNJUDGED


def loss_of(model: Any, inputs: dict[str, Tensor], recipe: Recipe, mask: int = 0) -> Tensor:
    """The loss of a batch; `mask` is the subword that hides others."""
    inputs = dict(inputs)
    types = inputs.pop("span_types", None)
    if recipe.rdrop:
        inputs = twice(inputs)
    if recipe.masked_subwords:
        inputs["input_ids"] = masked(inputs["input_ids"], inputs["word"], recipe.masked_subwords, mask)
    found: TaggerOutput = model(**inputs)
    assert found.loss is not None
    loss = found.loss
    if found.spans is not None and types is not None:
        loss = loss + recipe.span_loss * judgement(found.spans, torch.cat([types, types]) if recipe.rdrop else types)
    if recipe.rdrop:
        loss = loss + recipe.rdrop * divergence(found[:3], inputs["labels"][..., 0] != IGNORED)
    return loss


def masked(input_ids: Tensor, word: Tensor, share: float, mask: int) -> Tensor:
    """Subwords of which a share is replaced by the one that hides; those of no word stay."""
    hidden = (torch.rand(word.shape, device=word.device) < share) & (word >= 0)
    return torch.where(hidden, mask, input_ids)


def judgement(scores: Tensor, types: Tensor) -> Tensor:
    """The types' cross-entropies, added, the mean over the spans that are judged."""
    judged = types != UNJUDGED
    apart = functional.binary_cross_entropy_with_logits(scores.float(), types, reduction="none")
    return (apart * judged).sum() / judged[:, 0].sum().clamp(min=1)


def twice(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """A batch and the same once more behind it."""
    doubled = {name: torch.cat([values, values]) for name, values in inputs.items()}
    if "spans" in inputs:
        spans = inputs["spans"]
        below = torch.zeros_like(spans)
        below[:, 0] = len(inputs["input_ids"])  # the windows of the second half
        doubled["spans"] = torch.cat([spans, spans + below])
    return doubled


def divergence(scores: Sequence[Tensor], learned: Tensor) -> Tensor:
    """The symmetric Kullback-Leibler divergence between two readings of the same batch, added over the heads."""
    half = len(learned) // 2
    total = torch.zeros((), device=learned.device)
    for score in scores:
        one, other = (functional.log_softmax(part.float(), dim=-1) for part in score.chunk(2))
        apart = 0.5 * ((one.exp() - other.exp()) * (one - other)).sum(-1)  # windows x words
        total = total + (apart * learned[:half]).sum() / learned[:half].sum().clamp(min=1)
    return total
