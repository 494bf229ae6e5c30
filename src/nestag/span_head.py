"""A head that judges spans: which types hold for the words from here to there.

It sees the words at both ends, the words just outside, the mean of those inside and the length. Its cost is linear in
the words and in the spans that are given; which spans those are is decided elsewhere.
"""

from __future__ import annotations

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

    def forward(self, vectors: Tensor, spans: Tensor) -> Tensor:
        """The scores of every type for spans given as window, first word and last word: spans x types."""
        row, first, last = spans.unbind(1)
        size = last - first + 1
        parts = nn.functional.pad(self.parts(vectors), (0, 0, 1, 1)).float()  # a word of zeros before and after
        begin, end, before, after, inside = parts.chunk(5, dim=-1)  # windows x words + 2 x SIZE
        total = nn.functional.pad(inside.cumsum(1), (0, 0, 1, 0))  # the sum of all words before each
        mean = (total[row, last + 2] - total[row, first + 1]) / size[:, None]
        ends = begin[row, first + 1] + end[row, last + 1] + before[row, first] + after[row, last + 2]
        hidden = nn.functional.gelu(ends + mean + self.length(size.clamp(max=LONGEST - 1)))
        scores: Tensor = self.types(self.dropout(hidden))
        return scores
