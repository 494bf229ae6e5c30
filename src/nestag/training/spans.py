"""Spans to be judged while training: the entities, their near misses, and some others at random.

Which others are drawn depends on the batch alone, so that a resumed run sees what an undisturbed one would have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.arrays import Ints
from nestag.data import Sentence
from nestag.decoding.verification import NEAR_MISSES
from nestag.subwords.windows import Windows
from nestag.subwords.words import offsets

WORDS_A_DRAW = 4
"""A span is drawn at random for so many words."""

CONTINUES = 0.6
"""The probability that a span drawn at random takes in one word more."""


UNJUDGED = -1.0
"""Stands for the types of a span that only fills a batch up."""


class JudgedSpans(NamedTuple):
    """Spans of a batch and the types that hold for them."""

    spans: Ints  # spans x 3: window, first word, last word
    types: NDArray[np.float32]  # spans x types, 1 where a type holds


@dataclass(frozen=True)
class GoldSpans:
    """The entities of a corpus as columns, sentence by sentence; words are numbered through all sentences."""

    first: Ints
    last: Ints
    type: Ints
    begins: Ints  # the first entity of each sentence, and the end of the last
    types: int

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> GoldSpans:
        """Those of some sentences."""
        names = sorted({entity.type for sentence in sentences for entity in sentence.entities})
        number = {name: index for index, name in enumerate(names)}
        starts = offsets(np.array([len(sentence.tokens) for sentence in sentences], dtype=np.int64))
        rows = [
            (start + entity.start, start + entity.end - 1, number[entity.type])
            for start, sentence in zip(starts.tolist(), sentences, strict=False)
            for entity in sentence.entities
        ]
        first, last, kind = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        counts = np.array([len(sentence.entities) for sentence in sentences], dtype=np.int64)
        return cls(first, last, kind, offsets(counts), len(names))

    def judged(self, windows: Windows, seed: int, batch: Ints) -> JudgedSpans:
        """What is to be judged in the windows of a batch."""
        row, entity = self._inside(windows)
        first, last = self.first[entity] - windows.first[row], self.last[entity] - windows.first[row]
        size = windows.last - windows.first
        near = np.stack(
            [
                np.tile(row, len(NEAR_MISSES)),
                *(NEAR_MISSES.T[:, :, None] + np.stack([first, last])[:, None]).reshape(2, -1),
            ]
        )
        spans = np.concatenate([near, _drawn(size, np.random.default_rng([seed, *batch.tolist()]))], axis=1)
        spans = spans[:, (spans[1] >= 0) & (spans[1] <= spans[2]) & (spans[2] < size[spans[0]])]
        width = int(size.max())
        keys = np.unique((spans[0] * width + spans[1]) * width + spans[2])
        types = np.zeros((len(keys), self.types), dtype=np.float32)
        types[np.searchsorted(keys, (row * width + first) * width + last), self.type[entity]] = 1
        return JudgedSpans(np.stack([keys // width**2, keys // width % width, keys % width], axis=1), types)

    def _inside(self, windows: Windows) -> tuple[Ints, Ints]:
        """The entities that lie in windows whole: the window of each in the batch, and its number."""
        begin = self.begins[windows.sentence]
        count = self.begins[windows.sentence + 1] - begin
        row = np.repeat(np.arange(len(count)), count)
        entity = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        whole = (self.first[entity] >= windows.first[row]) & (self.last[entity] < windows.last[row])
        return row[whole], entity[whole]


def _drawn(size: Ints, rng: np.random.Generator) -> Ints:
    """Spans at random, short ones more often; some may end beyond their window."""
    count = np.maximum(1, size // WORDS_A_DRAW)
    row = np.repeat(np.arange(len(size)), count)
    first = (rng.random(len(row)) * size[row]).astype(np.int64)
    return np.stack([row, first, first + rng.geometric(1 - CONTINUES, len(row)) - 1])
