"""The training data: subwords, labels and entities of the corpus, and its batches."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Sampler

from nestag.data.arrays import Ints
from nestag.data.crossing import drop_crossing
from nestag.data.sentence import Sentence
from nestag.encodings.vocabulary import Vocabulary
from nestag.model.subwords import offsets, ranges
from nestag.model.tagger import IGNORED
from nestag.model.windows import Layout, Windows, batches, sentence_batches

COVERAGE, MAX_WIDTH = 0.995, 32  # share of the entities that a span grid holds, and its maximum width


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
        """Return the entities of some sentences as columns."""
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

    def width(self) -> int:
        """Return the width of a grid that holds nearly all entities: a multiple of four."""
        lengths = np.sort(self.last - self.first + 1)
        needed = int(lengths[int(COVERAGE * (len(lengths) - 1))])
        return min(MAX_WIDTH, -(-needed // 4) * 4)

    def targets(self, windows: Windows, words: int, width: int) -> NDArray[np.bool_]:
        """Return the types of the spans of some windows: windows x words x width x types."""
        row, entity = self._entities_in(windows)
        first, length = self.first[entity] - windows.first[row], self.last[entity] - self.first[entity]
        targets = np.zeros((len(windows.first), words, width, self.types), dtype=bool)
        fits = length < width
        targets[row[fits], first[fits], length[fits], self.type[entity[fits]]] = True
        return targets

    def _entities_in(self, windows: Windows) -> tuple[Ints, Ints]:
        """Return the rows of the windows that contain entities, and the number of each entity."""
        begin = self.begins[windows.sentence]
        count = self.begins[windows.sentence + 1] - begin
        row = np.repeat(np.arange(len(count)), count)
        entity = ranges(begin, count)
        whole = (self.first[entity] >= windows.first[row]) & (self.last[entity] < windows.last[row])
        return row[whole], entity[whole]


@dataclass(frozen=True)
class TrainingSet:
    """A training corpus as arrays."""

    layout: Layout
    labels: Ints  # words x 3: the numbers of n, c and u
    spans: GoldSpans | None = None  # for a span grid
    span_width: int = 0  # of the grid

    def tensors(self, batch: Sequence[int]) -> dict[str, Tensor]:
        """Return the arguments of `Tagger.forward` for some windows, and the targets of the span grid."""
        rows = np.asarray(batch, dtype=np.int64)
        arrays = self.layout.arrays(rows)
        row, column, word = self.layout.labelled_words(rows)
        labels = np.full((*arrays.shape.shape, 3), IGNORED, dtype=np.int64)
        labels[row, column] = self.labels[word]
        inputs = {**arrays._asdict(), "labels": labels}
        if self.spans is not None:
            words = arrays.shape.shape[1]
            inputs["spans"] = self.spans.targets(self.layout.windows.take(rows), words, self.span_width)
        return {name: torch.from_numpy(values) for name, values in inputs.items()}


def nest(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return sentences without their crossing entities, which no label can express."""
    return [sentence.with_entities(drop_crossing(sentence.annotated).nested) for sentence in sentences]


def label_ids(vocabulary: Vocabulary, sentences: Iterable[Sentence]) -> Ints:
    """Return the numbers of n, c and u of all words of nested sentences: words x 3."""
    ids = [np.array(vocabulary.ids(vocabulary.encode(sentence)), dtype=np.int64) for sentence in sentences]
    return np.concatenate(ids, axis=1).T


class BatchSampler(Sampler[list[int]]):
    """Batches of windows; seed and epoch decide their order.

    By default, each epoch has new batches of windows of similar size. Fixed batches are MaChAmp's: the same whole
    sentences in each epoch, the batches in another order.
    """

    def __init__(
        self,
        windows: Windows,
        batch_subwords: int,
        batch_sentences: int,
        seed: int,
        processes: int = 1,
        fixed: bool = False,
    ) -> None:
        """Let processes take batches in turn; the first batches repeat if their number does not divide evenly."""
        self.sizes, self.batch_subwords, self.batch_sentences = windows.sizes, batch_subwords, batch_sentences
        self.seed, self.processes, self.epoch = seed, processes, 0
        self.fixed = sentence_batches(self.sizes, windows.sentence, batch_subwords, batch_sentences) if fixed else None

    def _batches(self, rng: random.Random | None) -> list[Ints]:
        """Return the batches of an epoch; without `rng`, any batches of the same number."""
        if self.fixed is None:
            return batches(self.sizes, self.batch_subwords, self.batch_sentences, rng)
        shuffled = list(self.fixed)
        if rng:
            rng.shuffle(shuffled)
        return shuffled

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch; accelerate calls this before each epoch and when a run resumes."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        epoch = self._batches(random.Random(f"{self.seed} {self.epoch}"))  # noqa: S311 - an order, not a secret
        for batch in islice(cycle(epoch), len(self)):
            yield batch.tolist()

    @cached_property
    def _count(self) -> int:
        count = len(self._batches(None))
        return count + -count % self.processes

    def __len__(self) -> int:
        return self._count
