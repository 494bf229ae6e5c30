"""A scorer with torch: arrays in, log-probabilities out.

On a GPU nothing here waits. Arrays go there from pinned memory, and scores come back the same way. Only a caller that
needs the scores waits for them.
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
from nestag.model.settings import Settings
from nestag.model.tagger import Tagger
from nestag.model.windows import NOTHING

ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]  # on a GPU
GPU_BATCH, CPU_BATCH = 65_536, 1_024  # subwords in a batch
GPU_AHEAD = 3  # chunks that wait to be decoded while a GPU scores the next one


class TaggerScorer:
    """Scores words with a tagger, in bfloat16 where a GPU has it."""

    def __init__(self, model: Tagger, settings: Settings) -> None:
        self.model, self.precision, self.least_span_logit = model, settings.precision, settings.least_span_logit
        cuda = model.device.type == "cuda"
        self.batch_subwords = settings.batch_subwords or (GPU_BATCH if cuda else CPU_BATCH)
        self.ahead = GPU_AHEAD if cuda else 0
        self.grid = None if self.least_span_logit is None else model.spans
        self.reach: int | None = model.reach + (0 if self.grid is None else self.grid.width + self.grid.reach)

    @torch.inference_mode()
    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Begin to score the words of a chunk; on a GPU this returns before the scores are there."""
        device, was_training = self.model.device, self.model.training
        self.model.train(False)
        heads = [torch.zeros(words, size, device=device) for size in self.model.config.sizes]
        cells = None if self.least_span_logit is None else GridCells(words, self.least_span_logit)
        with as_input_error("the model cannot be computed", "model.safetensors"), compute_mode(device, self.precision):
            for batch in batches:
                row = WordRow.of(batch, max(self.model.reach, 1 if cells else 0))
                *inputs, part_of, shape, remaining, place, word = to_device(
                    [*batch.arrays[:2], *row, batch.word], device
                )
                hidden = self.model.encode(*inputs).flatten(0, 1)  # subwords of all windows x width
                vectors = self.model.word_vectors(hidden[None], part_of[None], shape[None])
                targets = vectors[0, place]
                for scores, head in zip(heads, self.model.heads, strict=True):
                    scores[word] = torch.log_softmax(head(targets).float(), dim=-1)
                if cells is not None and self.grid is not None:
                    cells.add(self.grid(vectors, remaining[None])[0, place], batch)
        self.model.train(was_training)
        arrays = _start_copy(heads)
        spans = cells.start() if cells else None

        def wait() -> Heads:
            n, c, u = arrays()
            return Heads(n, c, u, spans() if spans else None)

        return wait


class WordRow(NamedTuple):
    """The words of all windows of a batch in one row, so that the layers above the encoder see no padding.

    A gap follows each window: places without words, which count as zero, as places beyond the last word always do.
    """

    part_of: Ints  # the word in the row of each subword of the concatenated windows, or NOTHING
    shape: Ints  # of each place of the row, NOTHING in a gap
    remaining: Ints  # of each place of the row: words to the end of its window, 0 in a gap
    place: Ints  # of each word to score, in the row

    @classmethod
    def of(cls, batch: Batch, gap: int) -> WordRow:
        """Return the row of a batch, with gaps of `gap` places."""
        _, _, word, shape = batch.arrays
        words = np.count_nonzero(shape != NOTHING, axis=1)
        places = words + gap
        first = np.cumsum(places) - places  # the place of each window's first word
        present = np.arange(shape.shape[1] + gap) < places[:, None]  # windows x places
        shapes = np.pad(shape, ((0, 0), (0, gap)), constant_values=NOTHING)[present]
        remaining = np.maximum(words[:, None] - np.arange(shape.shape[1] + gap), 0)[present]
        part_of = np.where(word == NOTHING, NOTHING, word + first[:, None])
        return cls(part_of.ravel(), shapes, remaining, first[batch.row] + batch.column)


class GridCells:
    """The cells of a span grid with at least a logit, collected batch by batch.

    Logits on a GPU stay there until `start`'s function is called, so that nothing waits for a GPU that computes.
    """

    def __init__(self, words: int, least: float) -> None:
        self.least = least
        self.limit = np.ones(words, dtype=np.int64)
        self.batches: list[tuple[Tensor, Ints]] = []  # the logits of the words of a batch, and their numbers
        self.cells: list[SpanCells] = []

    def add(self, logits: Tensor, batch: Batch) -> None:
        """Add the logits of the words to score of a batch: words x width x types."""
        self.limit[batch.word] = np.minimum(logits.shape[1], batch.remaining)
        if logits.is_cuda:
            self.batches.append((logits, batch.word))
        else:
            self.cells.append(self._best(logits, batch.word))

    def start(self) -> Callable[[], SpanScores]:
        """Return a function that waits for the cells and returns them."""
        if not self.batches:
            return lambda: SpanScores.of(self.cells, self.limit)
        device = self.batches[0][0].device
        ready = torch.cuda.current_stream(device).record_event()

        @torch.inference_mode()
        def wait() -> SpanScores:
            stream = _side_stream(device)  # waits for these batches alone, and not for those that started later
            stream.wait_event(ready)
            with torch.cuda.stream(stream):
                return SpanScores.of([self._best(*batch) for batch in self.batches], self.limit)

        return wait

    def _best(self, logits: Tensor, word: Ints) -> SpanCells:
        chosen = (logits >= self.least).nonzero(as_tuple=True)
        place, column, kind = torch.stack(chosen).cpu().numpy()
        return SpanCells(word[place], column + 1, kind, logits[chosen].float().cpu().numpy())


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the one stream of a GPU for decoding; each stream keeps separate memory."""
    return torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]


def _start_copy(heads: Sequence[Tensor]) -> Callable[[], list[Floats32]]:
    """Begin to copy tensors from a device; the returned function waits for them."""
    if heads[0].device.type != "cuda":
        return lambda: [head.numpy() for head in heads]
    copies = [torch.empty(head.shape, dtype=head.dtype, pin_memory=True) for head in heads]
    for copy, head in zip(copies, heads, strict=True):
        copy.copy_(head, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record()

    def wait() -> list[Floats32]:
        done.synchronize()
        return [copy.numpy() for copy in copies]

    return wait


@contextmanager
def compute_mode(device: torch.device, precision: Precision = "auto") -> Iterator[None]:
    """Compute in bfloat16 where a GPU supports it, unless another precision is set.

    cuDNN's attention is not used, because it prepares itself for every new shape of a batch, and all of ours differ.
    """
    if device.type != "cuda":
        yield
        return
    bfloat16 = precision == "auto" and torch.cuda.is_bf16_supported()
    # kernels and matrix products are settings of all threads, autocast of this one
    with sdpa_kernel(ATTENTION), torch.autocast("cuda", torch.bfloat16, enabled=bfloat16), matmul_mode(precision):
        yield


@contextmanager
def matmul_mode(precision: Precision) -> Iterator[None]:
    """Multiply float32 matrices in TensorFloat-32 if that is the precision, and only then."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def to_device(arrays: Sequence[NDArray[np.int64]], device: torch.device) -> list[Tensor]:
    """Return arrays as tensors on a device; they are copied in one transfer, without waiting."""
    if device.type != "cuda":
        return [torch.from_numpy(values) for values in arrays]
    together = torch.empty(sum(values.size for values in arrays), dtype=torch.int64, pin_memory=True)
    np.concatenate([values.ravel() for values in arrays], out=together.numpy())
    parts = torch.split(together.to(device, non_blocking=True), [values.size for values in arrays])
    return [part.view(values.shape) for part, values in zip(parts, arrays, strict=True)]
