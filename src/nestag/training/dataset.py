"""The training data: the corpus as subwords and labels, and its batches."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from nestag.arrays import Ints
from nestag.subwords import Layout, Windows, batches, sentence_batches
from nestag.tagger import IGNORED
from nestag.training.spans import GoldSpans
from nestag.vocabulary import LabelIds


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


class Numbers(Dataset[int]):
    """The numbers of windows: the collator makes whole batches of them."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        return index


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
