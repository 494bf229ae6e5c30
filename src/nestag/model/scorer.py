"""The tagger as the engine calls it: arrays in, log-probabilities out.

On a GPU nothing here waits: arrays go there from pinned memory, scores come back the same way, and only the caller that
needs them waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from nestag.data.arrays import Floats32, Ints
from nestag.decoding import SpanCells, SpanScores
from nestag.errors import as_input_error
from nestag.model.encoders import Precision
from nestag.model.engine import Batch, Heads
from nestag.model.span_grid import SpanGrid
from nestag.model.tagger import Tagger
from nestag.model.windows import NOTHING

ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""The kinds of attention that are computed on a GPU."""

GPU_BATCH, CPU_BATCH = 65_536, 1_024
"""Subwords that are scored at once."""


class TaggerScorer:
    """Scores words with a tagger, in bfloat16 where a GPU has it."""

    def __init__(
        self,
        model: Tagger,
        batch_subwords: int = 0,
        precision: Precision = "auto",
        least_span_logit: float | None = None,
    ) -> None:
        """`batch_subwords` is how many subwords are scored at once; 0 is what suits the device.

        With `least_span_logit`, the spans with at least this logit are returned too, which needs a span grid.
        """
        self.model = model
        self.precision = precision
        self.least_span_logit = least_span_logit
        self.sizes: tuple[int, int, int] = model.config.sizes
        cuda = model.device.type == "cuda"
        self.batch_subwords = batch_subwords or (GPU_BATCH if cuda else CPU_BATCH)
        self.ahead = 3 if cuda else 0
        self.reach: int | None = model.reach
        if self.grid is not None:
            self.reach = model.reach + self.grid.width + self.grid.reach

    @property
    def grid(self) -> SpanGrid | None:
        """The span grid, if it is used."""
        return None if self.least_span_logit is None else self.model.spans

    @torch.inference_mode()
    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Begin to score the words of a chunk; on a GPU this returns before the scores are there."""
        device, was_training = self.model.device, self.model.training
        self.model.train(False)
        heads = [torch.zeros(words, size, device=device) for size in self.sizes]
        cells = None if self.least_span_logit is None else GridCells(words, self.least_span_logit)
        with as_input_error("the model cannot be computed", "model.safetensors"), computing(device, self.precision):
            for batch in batches:
                row = WordRow.of(batch, max(self.model.reach, 1 if cells else 0))
                *inputs, part_of, shape, remaining, place, word = moved([*batch.arrays[:2], *row, batch.word], device)
                hidden = self.model.encoded(*inputs).flatten(0, 1)  # subwords of all windows x width
                vectors = self.model.word_vectors(hidden[None], part_of[None], shape[None])
                seen = vectors[0, place]
                for scores, head in zip(heads, self.model.heads, strict=True):
                    scores[word] = torch.log_softmax(head(seen).float(), dim=-1)
                if cells is not None and self.grid is not None:
                    cells.add(self.grid(vectors, remaining[None])[0, place], batch)
        self.model.train(was_training)
        arrays = _fetched(heads)
        spans = cells.begin() if cells else None

        def waited() -> Heads:
            n, c, u = arrays()
            return Heads(n, c, u, spans() if spans else None)

        return waited


class WordRow(NamedTuple):
    """The words of all windows of a batch in one row, so that the layers above the encoder see no padding.

    Behind each window there are places without words, which count as zero, as places beyond the last word always do.
    """

    part_of: Ints  # which word of the row each subword is part of, those of the windows one after the other, or NOTHING
    shape: Ints  # of each place of the row, NOTHING where no word is
    remaining: Ints  # of each place of the row: words to the end of its window, 0 where no word is
    place: Ints  # of each wanted word, in the row

    @classmethod
    def of(cls, batch: Batch, gap: int) -> WordRow:
        """Return the row of a batch, with `gap` places without words behind each window."""
        _, _, word, shape = batch.arrays
        words = np.count_nonzero(shape != NOTHING, axis=1)
        places = words + gap
        first = np.cumsum(places) - places  # the place of each window's first word
        kept = np.arange(shape.shape[1] + gap) < places[:, None]
        shapes = np.pad(shape, ((0, 0), (0, gap)), constant_values=NOTHING)[kept]
        remaining = np.maximum(words[:, None] - np.arange(shape.shape[1] + gap), 0)[kept]
        part_of = np.where(word == NOTHING, NOTHING, word + first[:, None])
        return cls(part_of.ravel(), shapes, remaining, first[batch.row] + batch.column)


class GridCells:
    """Collects the cells of a span grid whose logit is high enough, batch by batch.

    On a GPU the cells stay there until somebody waits for them, so that nothing waits for a GPU that computes.
    """

    def __init__(self, words: int, least: float) -> None:
        self.least = least
        self.limit = np.ones(words, dtype=np.int64)
        self.batches: list[tuple[Tensor, Ints]] = []  # the logits of the words of a batch, and their numbers
        self.cells: list[SpanCells] = []

    def add(self, logits: Tensor, batch: Batch) -> None:
        """Take the logits of the wanted words of a batch: words x width x types."""
        self.limit[batch.word] = np.minimum(logits.shape[1], batch.remaining)
        if logits.is_cuda:
            self.batches.append((logits, batch.word))
        else:
            self.cells.append(self._best(logits, batch.word))

    def begin(self) -> Callable[[], SpanScores]:
        """Return a function that waits for the cells."""
        if not self.batches:
            return lambda: SpanScores.of(self.cells, self.limit)
        device = self.batches[0][0].device
        ready = torch.cuda.current_stream(device).record_event()

        @torch.inference_mode()
        def waited() -> SpanScores:
            stream = _side_stream(device)  # waits for these batches alone, and not for those that were begun later
            stream.wait_event(ready)
            with torch.cuda.stream(stream):
                return SpanScores.of([self._best(*batch) for batch in self.batches], self.limit)

        return waited

    def _best(self, logits: Tensor, word: Ints) -> SpanCells:
        chosen = (logits >= self.least).nonzero(as_tuple=True)
        place, column, kind = torch.stack(chosen).cpu().numpy()
        return SpanCells(word[place], column + 1, kind, logits[chosen].float().cpu().numpy())


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the one stream of a GPU for decoding; each stream keeps separate memory."""
    return torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]


def _fetched(heads: Sequence[Tensor]) -> Callable[[], list[Floats32]]:
    """Copy tensors from a device without waiting; the function returned waits for them."""
    if heads[0].device.type != "cuda":
        return lambda: [head.numpy() for head in heads]
    copies = [torch.empty(head.shape, dtype=head.dtype, pin_memory=True) for head in heads]
    for copy, head in zip(copies, heads, strict=True):
        copy.copy_(head, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record()

    def waited() -> list[Floats32]:
        done.synchronize()
        return [copy.numpy() for copy in copies]

    return waited


@contextmanager
def computing(device: torch.device, precision: Precision = "auto") -> Iterator[None]:
    """How scores are computed on a device: in bfloat16 where a GPU has it and no higher precision is asked for.

    cuDNN's attention is not used, because it prepares itself anew for every shape of a batch, and ours all differ.
    """
    if device.type != "cuda":
        yield
        return
    # kernels and products are those of all threads, the bits of this one
    with sdpa_kernel(ATTENTION), fewer_bits(device, precision), multiplying(precision):
        yield


def fewer_bits(device: torch.device, precision: Precision) -> torch.autocast:
    """Compute in bfloat16 where a GPU has it and no higher precision is asked for, in this thread alone."""
    fast = device.type == "cuda" and precision == "auto" and torch.cuda.is_bf16_supported()
    return torch.autocast(device.type, torch.bfloat16, enabled=fast)


@contextmanager
def multiplying(precision: Precision) -> Iterator[None]:
    """Multiply float32 matrices in TensorFloat-32 if that is asked for, and only then."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def moved(arrays: Sequence[NDArray[np.int64]], device: torch.device) -> list[Tensor]:
    """Arrays as tensors on a device, copied there all at once and without waiting."""
    if device.type != "cuda":
        return [torch.from_numpy(values) for values in arrays]
    together = torch.empty(sum(values.size for values in arrays), dtype=torch.int64, pin_memory=True)
    np.concatenate([values.ravel() for values in arrays], out=together.numpy())
    parts = torch.split(together.to(device, non_blocking=True), [values.size for values in arrays])
    return [part.view(values.shape) for part, values in zip(parts, arrays, strict=True)]
