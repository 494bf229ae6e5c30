"""A head that judges spans: which types hold for the words from here to there.

It sees the words at both ends, the words just outside, the mean of those inside and the length. Its cost is linear in
the words and in the spans that are given; which spans those are is decided elsewhere.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

SIZE = 256
LONGEST = 32
"""Lengths from here on count as one."""

RARE = -2.0
"""The first bias: most spans are no entities."""


class SpanHead(nn.Module):
    """Scores the types of spans."""

    def __init__(self, width: int, types: int, dropout: float) -> None:
        super().__init__()
        self.parts = nn.Linear(width, 5 * SIZE)
        self.length = nn.Embedding(LONGEST, SIZE)
        self.dropout = nn.Dropout(dropout)
        self.types = nn.Linear(SIZE, types)
        nn.init.normal_(self.length.weight, std=0.02)
        nn.init.constant_(self.types.bias, RARE)

    def forward(self, vectors: Tensor, first: Tensor, last: Tensor, opens: Tensor, closes: Tensor) -> Tensor:
        """The scores of every type for spans of words that stand one after the other: spans x types.

        `vectors` is words x width. Each span has a first and a last word, and opens or closes its sentence, or not:
        beyond that there are no neighbours.
        """
        parts = self.parts(vectors)
        if self.training:
            parts = parts.float()  # many gradients are added up
        begin, end, before, after, inside = parts.chunk(5, dim=-1)  # words x SIZE
        size = last - first + 1
        total = nn.functional.pad(inside.to(_widest(vectors)).T.cumsum(1), (1, 0))  # SIZE x words + 1
        mean = ((total.index_select(1, last + 1) - total.index_select(1, first)) / size).T.float()  # spans x SIZE
        left = _rows(before, torch.where(opens, first, first - 1)) * ~opens[:, None]
        right = _rows(after, torch.where(closes, last, last + 1)) * ~closes[:, None]
        ends = _rows(begin, first) + _rows(end, last) + left + right
        hidden = nn.functional.gelu(ends + mean + self.length(size.clamp(max=LONGEST - 1)))
        scores: Tensor = self.types(self.dropout(hidden))
        return scores

    def in_windows(self, vectors: Tensor, present: Tensor, spans: Tensor) -> Tensor:
        """The same for padded windows (windows x words x width), spans given as window, first word and last word."""
        words = vectors.shape[1]
        row, first, last = spans.unbind(1)
        closes = (last + 1 == words) | ~present[row, (last + 1).clamp(max=words - 1)]
        begin = row * words
        return self.forward(vectors.flatten(0, 1), begin + first, begin + last, first == 0, closes)


def _widest(vectors: Tensor) -> torch.dtype:
    """What sums over many words are kept in, so that a mean does not depend on the words before it."""
    return torch.float32 if vectors.device.type == "mps" else torch.float64


def _rows(values: Tensor, rows: Tensor) -> Tensor:
    """values[rows], whose gradient a GPU adds up without sorting the rows."""
    return values.index_select(0, rows).float()
