"""The model of CNN-NER: an encoder, and a grid of scores with a cell for each pair of words.

A biaffine product gives each pair a vector, convolutions over the grid let neighbouring spans see each other, and a
linear layer scores the types. Grids are sentences x starts x ends x channels, so channels are last in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nestag.model.pretrained import takes_whole_masks
from nestag.model.subwords import SHAPES

LENGTHS = 30
"""Span lengths that have a vector of their own; half of them are for cells whose end is before their start."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the layers; the defaults are the authors' for GENIA."""

    biaffine: int = 400
    heads: int = 4
    channels: int = 200
    convolutions: int = 3
    length: int = 25
    shape: int = 32  # nestag's word shapes, which the authors do not have
    dropout: float = 0.4


class GridNorm(nn.LayerNorm):
    """Layer normalization in the precision of its input, which autocast would turn into float32."""

    def forward(self, grid: Tensor) -> Tensor:
        """Normalize the channels of each cell."""
        weight, bias = self.weight.to(grid.dtype), self.bias.to(grid.dtype)
        with torch.autocast(grid.device.type, enabled=False):
            return functional.layer_norm(grid, self.normalized_shape, weight, bias, self.eps)


class CnnNer(nn.Module):
    """An encoder and a grid of span scores. Grids are sentences x starts x ends x channels."""

    def __init__(self, encoder: Any, types: int, sizes: Sizes | None = None) -> None:
        super().__init__()
        sizes = sizes or Sizes()
        self.encoder = encoder
        self.encoder.pooler = None
        self.whole_mask = takes_whole_masks(encoder.config)
        self.shapes = nn.Embedding(SHAPES, sizes.shape)
        inner, channels, heads = sizes.biaffine, sizes.channels, sizes.heads
        self.width: int = encoder.config.hidden_size + sizes.shape  # of a word's vector
        self.start, self.end = (
            nn.Sequential(nn.Dropout(sizes.dropout), nn.Linear(self.width, inner), nn.LeakyReLU()) for _ in range(2)
        )
        self.product = nn.Parameter(torch.empty(heads, channels // heads, inner // heads, inner // heads))
        self.lengths = nn.Embedding(LENGTHS, sizes.length)
        self.from_start = nn.Linear(inner, channels)
        self.from_end = nn.Linear(inner, channels, bias=False)
        self.from_length = nn.Linear(sizes.length, channels, bias=False)
        self.dropout = nn.Dropout(sizes.dropout)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(sizes.convolutions)
        ).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.norms = nn.ModuleList(GridNorm(channels, eps=1e-6) for _ in range(sizes.convolutions))
        self.types = nn.Linear(channels, types)
        nn.init.normal_(self.shapes.weight, std=0.02)
        nn.init.xavier_normal_(self.product)
        for layer in (self.from_start, self.from_end, self.from_length):  # the authors have one layer for all three
            nn.init.normal_(layer.weight, std=(2 / (2 * inner + sizes.length + channels)) ** 0.5)

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the vectors of subwords: windows x subwords x width of the encoder."""
        whole = self.whole_mask and attention_mask.is_cuda  # for a mask of two dimensions, transformers waits for a GPU
        mask = attention_mask[:, None, None, :].bool() if whole else attention_mask
        hidden: Tensor = self.encoder(input_ids=input_ids, attention_mask=mask).last_hidden_state
        return hidden

    def word_vectors(self, hidden: Tensor, word: Tensor, shape: Tensor) -> Tensor:
        """Return the mean of each word's subwords and the vector of its shape: words x width.

        `word` says which word each subword belongs to: a row of the result, or the number of rows if it has none.
        """
        rows, flat, word = len(shape), hidden.flatten(0, 1).float(), word.flatten()
        total = flat.new_zeros(rows + 1, flat.shape[1]).index_add(0, word, flat)[:rows]
        count = flat.new_zeros(rows + 1).index_add(0, word, torch.ones_like(flat[:, 0]))[:rows, None]
        return torch.cat([total / count.clamp(min=1), self.shapes(shape.clamp(min=0))], dim=-1)

    def forward(self, words: Tensor, present: Tensor) -> Tensor:
        """Return the logits of all types for all pairs of words.

        `words` is sentences x words x width, and `present` says which of them are not padding.
        """
        start, end = self.start(words), self.end(words)
        place = torch.arange(words.shape[1], device=words.device)
        length = (place - place[:, None]).clamp(-LENGTHS // 2, LENGTHS // 2 - 1) + LENGTHS // 2  # starts x ends
        linear = self.from_start(self.dropout(start))[:, :, None] + self.from_end(self.dropout(end))[:, None]
        grid = self.products(start, end) + linear + self.from_length(self.dropout(self.lengths(length)))
        logits: Tensor = self.types(grid + self.convolve(grid, cells(present)))
        return logits

    def products(self, start: Tensor, end: Tensor) -> Tensor:
        """Return the biaffine product of every start with every end, head by head."""
        shape = *start.shape[:2], self.product.shape[0], -1
        left = torch.einsum("blhx,hdxy->bhldy", start.view(shape), self.product)
        grid = torch.einsum("bhldy,bkhy->blkhd", left, end.view(shape))
        return grid.flatten(-2).contiguous()

    def convolve(self, grid: Tensor, cell: Tensor) -> Tensor:
        """Mix neighbouring cells of a grid; cells beyond the sentence count as zero."""
        padding = ~cell[..., None]
        residual = grid.masked_fill(padding, 0)
        hidden = residual
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            mixed = convolution(hidden.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)  # channels last in memory
            residual = norm(mixed + residual)
            hidden = functional.gelu(residual).masked_fill(padding, 0)
        return residual


def cells(present: Tensor) -> Tensor:
    """Return which pairs of words are not padding: sentences x starts x ends."""
    return present[:, :, None] & present[:, None]


def loss_of(logits: Tensor, gold: Tensor, cell: Tensor, sentences: float, rdrop: float = 0.0) -> Tensor:
    """Return the binary cross-entropy, added over all cells and types, a sentence.

    With `rdrop`, the second half of the batch is the first half once more, and the divergence between the two readings
    is added: the symmetric Kullback-Leibler divergence of two Bernoulli distributions for each cell and type.
    """
    logits, cell = logits.float(), cell[..., None]
    entropy = functional.binary_cross_entropy_with_logits(logits, gold, reduction="none")
    loss = (entropy * cell).sum() / sentences
    if not rdrop:
        return loss
    first, second = logits.chunk(2)
    divergence = 0.5 * (first.sigmoid() - second.sigmoid()) * (first - second)
    return loss / 2 + rdrop * (divergence * cell.chunk(2)[0]).sum() / sentences
