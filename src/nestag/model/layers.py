"""The layers of a tagger above its encoder: word vectors, convolutions over words, and the span grid.

The span grid scores every span of up to W words. A span is a cell of the grid: its first word is the row, its number of
words the column. Convolutions over the grid let a cell see spans that begin or end nearby. Time and memory are linear
in the number of words.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

RARE = -4.0  # initial bias of the logits: nearly all spans are not entities


def pool_subwords(hidden: Tensor, word: Tensor, words: int, pooling: str) -> Tensor:
    """Pool the vectors of subwords into those of words; subwords of no word (-1) go to a row that is dropped."""
    batch, length, width = hidden.shape
    target = torch.where(word < 0, words, word)  # windows x subwords
    if pooling == "mean":
        total = hidden.new_zeros(batch, words + 1, width).scatter_add_(1, target[..., None].expand_as(hidden), hidden)
        count = hidden.new_zeros(batch, words + 1).scatter_add_(1, target, torch.ones_like(target, dtype=hidden.dtype))
        return total[:, :words] / count[:, :words, None].clamp(min=1)
    place = torch.arange(length, device=word.device).expand_as(word)
    if pooling == "first":
        at = place.new_full((batch, words + 1), length - 1).scatter_reduce_(1, target, place, "amin")
    else:
        at = place.new_zeros(batch, words + 1).scatter_reduce_(1, target, place, "amax")
    return hidden.gather(1, at[:, :words, None].expand(-1, -1, width))


class Convolution(nn.Module):
    """A gated residual convolution over neighbouring words; words beyond the last count as zero."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.conv = nn.Conv1d(size, 2 * size, 3, padding=1)

    def forward(self, vectors: Tensor, present: Tensor) -> Tensor:
        """Mix the vectors of neighbouring words: windows x words x size.

        It is one matrix product, because convolutions of PyTorch take longer on a CPU.
        """
        padded = nn.functional.pad(self.norm(vectors) * present, (0, 0, 1, 1))
        words = vectors.shape[1]
        neighbours = torch.cat([padded[:, at : at + words] for at in range(3)], dim=-1)
        weight = self.conv.weight.transpose(1, 2).flatten(1)  # 2 size x 3 size
        mixed = nn.functional.linear(neighbours, weight, self.conv.bias)  # windows x words x 2 size
        added: Tensor = vectors + nn.functional.glu(mixed, dim=-1)
        return added


class SpanGrid(nn.Module):
    """A score for each type of every span of up to `width` words."""

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
        """The number of words beyond the last word of a span that influence its score."""
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
