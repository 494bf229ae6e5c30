"""The training data: the corpus as subwords, labels and candidate spans, and its batches."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Sampler

from nestag.data.arrays import Ints
from nestag.data.sentence import Sentence
from nestag.decoding.verification import NEAR_MISSES
from nestag.encodings.vocabulary import LabelIds
from nestag.model.subwords import Layout, Windows, batches, sentence_batches
from nestag.model.subwords.words import offsets
from nestag.model.tagger import IGNORED

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


@dataclass(frozen=True)
class TrainingSet:
    """A training corpus as arrays."""

    layout: Layout
    labels: NDArray[np.int64]  # words x 3: the numbers of n, c and u
    spans: GoldSpans | None = None  # if spans are to be judged too
    seed: int = 0  # of what is drawn at random

    @classmethod
    def of(
        cls, layout: Layout, labels: Sequence[LabelIds], spans: GoldSpans | None = None, seed: int = 0
    ) -> TrainingSet:
        """A corpus with the labels of each sentence."""
        parts = [np.array([number for ids in labels for number in ids[head]], dtype=np.int64) for head in range(3)]
        return cls(layout, np.stack(parts, axis=1), spans, seed)

    def tensors(self, batch: Sequence[int]) -> dict[str, Tensor]:
        """What `Tagger.forward` takes for some windows, labels included."""
        rows = np.asarray(batch, dtype=np.int64)
        arrays = self.layout.arrays(rows)
        row, column, word = self.layout.kept(rows)
        labels = np.full((*arrays.shape.shape, 3), IGNORED, dtype=np.int64)
        labels[row, column] = self.labels[word]
        found = {name: torch.from_numpy(values) for name, values in arrays._asdict().items()}
        found["labels"] = torch.from_numpy(labels)
        if self.spans is not None:
            spans, types = self.spans.judged(self.layout.windows.take(rows), self.seed, rows)
            found |= {"spans": torch.from_numpy(spans), "span_types": torch.from_numpy(types)}
        return found


class BatchSampler(Sampler[list[int]], ABC):
    """Batches of windows; seed and epoch decide their order."""

    def __init__(
        self, windows: Windows, batch_subwords: int, batch_sentences: int, seed: int, processes: int = 1
    ) -> None:
        """Processes take batches in turn; the first batches repeat if their number does not divide evenly."""
        self.processes = processes
        self.windows, self.sizes = windows, windows.sizes
        self.batch_subwords, self.batch_sentences, self.seed = batch_subwords, batch_sentences, seed
        self.epoch = 0

    @abstractmethod
    def batches(self, rng: random.Random | None) -> list[Ints]:
        """The batches of an epoch; without `rng`, any batches of the same number."""

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch, and when a run is resumed."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        rng = random.Random(f"{self.seed} {self.epoch}")  # noqa: S311 - an order, not a secret
        found = self.batches(rng)
        for batch in islice(cycle(found), len(found) + -len(found) % self.processes):
            yield batch.tolist()

    @cached_property
    def _count(self) -> int:
        found = len(self.batches(None))
        return found + -found % self.processes

    def __len__(self) -> int:
        return self._count


class BySize(BatchSampler):
    """New batches in each epoch, of windows of similar size."""

    def batches(self, rng: random.Random | None) -> list[Ints]:
        """Windows of similar size whose padded size is within the budget."""
        return batches(self.sizes, self.batch_subwords, self.batch_sentences, rng)


class WholeSentences(BatchSampler):
    """MaChAmp's batches: the same whole sentences in every epoch, the batches in another order."""

    @cached_property
    def _fixed(self) -> list[Ints]:
        return sentence_batches(self.sizes, self.windows.sentence, self.batch_subwords, self.batch_sentences)

    def batches(self, rng: random.Random | None) -> list[Ints]:
        """The batches, shuffled."""
        found = list(self._fixed)
        if rng:
            rng.shuffle(found)
        return found


SAMPLERS: dict[str, type[BatchSampler]] = {"shuffled": BySize, "fixed": WholeSentences}
"""The sampler of each `batching`."""
