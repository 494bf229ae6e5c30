"""The span grid: a score for every span of up to W words, which sees the scores of neighbouring spans.

A span is a cell of a grid: its first word is the row, its number of words the column. Convolutions over the grid let a
cell see spans that begin or end nearby. Time and memory are linear in the number of words.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

RARE = -4.0
"""Initial bias of the logits: nearly all spans are not entities."""


class SpanGrid(nn.Module):
    """Scores the types of all spans of up to `width` words."""

    def __init__(self, size: int, types: int, width: int, channels: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.width = width
        self.first = nn.Linear(size, 2 * channels)
        self.last = nn.Linear(size, 2 * channels)
        self.length = nn.Embedding(width, channels)
        self.layers = nn.ModuleList(GridConvolution(channels) for _ in range(layers))
        self.norm = nn.LayerNorm(channels)
        self.dropout = nn.Dropout(dropout)
        self.types = nn.Linear(channels, types)
        nn.init.normal_(self.length.weight, std=0.02)
        nn.init.constant_(self.types.bias, RARE)

    @property
    def reach(self) -> int:
        """Return how many words beyond the last word of a span influence its score."""
        return 2 * len(self.layers)

    def forward(self, vectors: Tensor, remaining: Tensor) -> Tensor:
        """Return the logits of all spans: rows x words x width x types.

        `vectors` is rows x words x size. `remaining` (rows x words) is the number of words from each word to the end
        of its window, itself included, and 0 where there is no word.
        """
        present = torch.arange(self.width, device=vectors.device) < remaining[..., None]  # rows x words x width
        add, multiply = self.first(vectors)[:, :, None].chunk(2, dim=-1)  # rows x words x 1 x channels
        last_add, last_multiply = self._last_words(self.last(vectors)).chunk(2, dim=-1)
        cells = add + last_add + multiply * last_multiply + self.length.weight  # rows x words x width x channels
        for layer in self.layers:
            cells = layer(cells, present[..., None])
        logits: Tensor = self.types(self.dropout(nn.functional.gelu(self.norm(cells))))
        return logits

    def _last_words(self, vectors: Tensor) -> Tensor:
        """Return the vector of the last word of each span: rows x words x width x size."""
        words = vectors.shape[1]
        padded = nn.functional.pad(vectors, (0, 0, 0, self.width - 1))
        return torch.stack([padded[:, offset : offset + words] for offset in range(self.width)], dim=2)


class GridConvolution(nn.Module):
    """A residual convolution over neighbouring spans; cells that are not spans count as zero."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, cells: Tensor, present: Tensor) -> Tensor:
        """Mix neighbouring cells: rows x words x width x channels."""
        hidden = nn.functional.gelu(self.norm(cells)) * present
        mixed: Tensor = self.conv(hidden.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)  # stays channels last
        return cells + mixed


def remaining_words(present: Tensor) -> Tensor:
    """Return the number of words from each word to the end of its window; windows x words.

    >>> remaining_words(torch.tensor([[True, True, True], [True, False, False]])).tolist()
    [[3, 2, 1], [1, 0, 0]]
    """
    position = torch.arange(present.shape[1], device=present.device)
    return (present.sum(1, keepdim=True) - position).clamp(min=0)
