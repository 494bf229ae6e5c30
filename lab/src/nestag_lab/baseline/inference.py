"""CNN-NER in use: words in, spans out.

Each distinct word is tokenized once, batches are sorted by length and limited by the cells of their grids, and a GPU
computes the next chunk of sentences while the last one is decoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from nestag.data.sentence import Entity
from nestag.model.windows import Layout, LayoutMaker, batches
from nestag_lab.baseline.model import CnnNer, cells

Ints = NDArray[np.int64]

THRESHOLD = 0.5
"""The smallest probability of an entity."""

CHUNK, AHEAD = 4_000, 2
"""Sentences that are sorted by length together, and how many such chunks a GPU may compute before they are decoded."""

BATCH = {"cuda": (65_536, 2**19), "cpu": (1_024, 2**14)}
"""Subwords in a batch of the encoder and cells in a batch of grids, in inference."""


class Spans(NamedTuple):
    """Spans as columns, in the order of the sentences, the most probable of a sentence first."""

    sentence: Ints
    start: Ints
    end: Ints
    type: Ints
    probability: NDArray[np.float32]

    def take(self, rows: Any) -> Spans:
        """Return some of them."""
        return Spans(*(column[rows] for column in self))


def best_types(logits: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """Return each span's best type and its probability, the mean of the two cells of the span; 0 for no span."""
    probabilities = logits.float().sigmoid()
    probability, best = ((probabilities + probabilities.transpose(1, 2)) / 2).max(dim=-1)
    return torch.where(cells(present).triu(), probability, 0), best.to(torch.int16)


def without_crossing(spans: Spans) -> Spans:
    """Take the spans of each sentence by falling probability, and drop what crosses one taken before.

    The authors' code keeps two spans that share one word at their borders; here they cross, as in any tree.
    """
    spans = spans.take(np.lexsort((-spans.end, -spans.start, -spans.probability, spans.sentence)))
    crossed = np.zeros(len(spans.sentence), dtype=bool)
    for distance in range(1, int(np.bincount(spans.sentence).max(initial=0))):
        one, other = spans.take(slice(distance, None)), spans.take(slice(None, -distance))
        crossed[distance:] |= (one.sentence == other.sentence) & crosses(one, other)
    dropped = np.zeros_like(crossed)
    for row in np.flatnonzero(crossed).tolist():  # few; what it crosses may have been dropped itself
        first = int(np.searchsorted(spans.sentence, spans.sentence[row]))
        before = first + np.flatnonzero(~dropped[first:row])
        dropped[row] = bool(np.any(crosses(spans.take(row), spans.take(before))))
    return spans.take(~dropped)


def crosses(one: Spans, other: Spans) -> NDArray[np.bool_]:
    """Return whether spans cross: each has a word that the other has not, and they share one."""
    left = (one.start < other.start) & (other.start < one.end) & (one.end < other.end)
    right = (other.start < one.start) & (one.start < other.end) & (other.end < one.end)
    return np.asarray(left | right)


class Recognizer:
    """A trained model in use. A GPU computes the next chunks while the last one is decoded."""

    def __init__(self, model: CnnNer, maker: LayoutMaker, types: Sequence[str]) -> None:
        self.model, self.maker, self.types = model.eval(), maker, types
        self.device = next(model.parameters()).device
        self.subwords, self.cells = BATCH[self.device.type]

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[Entity]]:
        """Return the entities of each sentence."""
        entities: list[list[Entity]] = [[] for _ in sentences]
        for number, spans in enumerate(self.run(sentences)):
            for sentence, start, end, best in zip(*(column.tolist() for column in spans[:4]), strict=True):
                entities[CHUNK * number + sentence].append(Entity(start, end, self.types[best]))
        return entities

    def run(self, sentences: Sequence[Sequence[str]]) -> Iterator[Spans]:
        """Return the spans of each chunk of sentences."""
        waiting: deque[Callable[[], Spans]] = deque()
        for at in range(0, len(sentences), CHUNK):
            waiting.append(self.start(self.maker.lay_out(sentences[at : at + CHUNK])))
            if len(waiting) > AHEAD:
                yield waiting.popleft()()
        while waiting:
            yield waiting.popleft()()

    @torch.inference_mode()
    def start(self, layout: Layout) -> Callable[[], Spans]:
        """Begin to compute a chunk; the function returned waits for it and decodes it."""
        lengths, first_word = layout.subwords.lengths, layout.subwords.word_offsets
        filled = np.flatnonzero(lengths)
        found: list[tuple[Ints, Callable[[], list[NDArray[Any]]]]] = []
        with computing(self.device):
            words = self._words(layout)
            for rows in batches(lengths[filled] ** 2, self.cells):
                batch = filled[rows]
                column = np.arange(int(lengths[batch].max()))
                row = np.minimum(first_word[batch, None] + column, len(words) - 1)
                place, present = moved([row, column < lengths[batch, None]], self.device)
                probability, best = best_types(self.model(words[place], present), present)
                found.append((batch, fetched([probability, best])))
        return lambda: without_crossing(joined([[batch, *values()] for batch, values in found]))

    def _words(self, layout: Layout) -> Tensor:
        """Return the vectors of all words of a chunk."""
        words = torch.zeros(len(layout.subwords.counts), self.model.width, device=self.device)
        for batch in batches(layout.windows.sizes, self.subwords):
            arrays = layout.arrays(batch)
            row, column, word = layout.labelled_words(batch)
            numbers = np.full((len(batch), arrays.shape.shape[1] + 1), len(word))  # the last column is for no word
            numbers[row, column] = np.arange(len(word))
            *inputs, of_subword, shape, place = moved(
                [*arrays[:2], np.take_along_axis(numbers, arrays.word, axis=1), arrays.shape[row, column], word],
                self.device,
            )
            words[place] = self.model.word_vectors(self.model.encode(*inputs), of_subword, shape)
        return words

    @torch.inference_mode()
    def encode_alone(self, layouts: Sequence[Layout]) -> None:
        """Compute the encoder alone on the same batches, to compare speeds with."""
        with computing(self.device):
            for layout in layouts:
                for batch in batches(layout.windows.sizes, self.subwords):
                    self.model.encode(*moved(layout.arrays(batch)[:2], self.device))
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def joined(found: Sequence[Sequence[NDArray[Any]]]) -> Spans:
    """Return the spans above the threshold of all batches, each its sentences and what `best_types` found there."""
    columns: list[list[NDArray[Any]]] = [[np.zeros(0, dtype=np.int64)] * 5]
    for batch, probability, best in found:
        flat = np.flatnonzero(probability >= THRESHOLD)
        row, start, last = np.unravel_index(flat, probability.shape)
        columns.append([batch[row], start, last + 1, best.ravel()[flat].astype(np.int64), probability.ravel()[flat]])
    return Spans(*map(np.concatenate, zip(*columns, strict=True)))


def computing(device: torch.device) -> ExitStack:
    """Compute in bfloat16 on a GPU, without cuDNN's attention, which prepares itself anew for each shape of a batch."""
    stack = ExitStack()
    if device.type == "cuda":
        stack.enter_context(sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]))
        stack.enter_context(torch.autocast("cuda", torch.bfloat16))
    return stack


def moved(arrays: Sequence[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """Return arrays as tensors on a device, without waiting for the copies."""
    tensors = [torch.from_numpy(np.ascontiguousarray(values)) for values in arrays]
    if device.type != "cuda":
        return tensors
    return [tensor.pin_memory().to(device, non_blocking=True) for tensor in tensors]


def fetched(tensors: Sequence[Tensor]) -> Callable[[], list[NDArray[Any]]]:
    """Copy tensors from a device without waiting; the function returned waits."""
    if tensors[0].device.type != "cuda":
        return lambda: [tensor.numpy() for tensor in tensors]
    copies = [torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True) for tensor in tensors]
    for copy, tensor in zip(copies, tensors, strict=True):
        copy.copy_(tensor, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record()

    def wait() -> list[NDArray[Any]]:
        done.synchronize()
        return [copy.numpy() for copy in copies]

    return wait
