"""The tagger as the engine calls it: arrays in, log-probabilities out.

On a GPU nothing here waits: arrays go there from pinned memory, scores come back the same way, and only whoever needs
them waits for them.
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
from nestag.decoding import SpanPlaces
from nestag.errors import as_input_error
from nestag.model.encoders import Precision
from nestag.model.engine import Batch, Heads
from nestag.model.subwords import NOTHING
from nestag.model.tagger import Tagger

ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""The kinds of attention that are computed on a GPU."""

GPU_BATCH, CPU_BATCH = 65_536, 1_024
"""Subwords that are scored at once."""


class TaggerScorer:
    """Scores words with a tagger, in bfloat16 where a GPU has it."""

    def __init__(
        self, model: Tagger, batch_subwords: int = 0, precision: Precision = "auto", judges: bool = False
    ) -> None:
        """`batch_subwords` is how many subwords are scored at once; 0 is what suits the device.

        With `judges`, the vectors of words are kept, so that spans can be judged.
        """
        self.model = model
        self.precision = precision
        self.judges = judges
        self.sizes: tuple[int, int, int] = model.config.sizes
        cuda = model.device.type == "cuda"
        self.batch_subwords = batch_subwords or (GPU_BATCH if cuda else CPU_BATCH)
        self.ahead = 3 if cuda else 0
        self.reach: int | None = model.reach

    @torch.inference_mode()
    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Begin to score the words of a chunk; on a GPU this returns before the scores are there."""
        device, was_training = self.model.device, self.model.training
        self.model.train(False)
        heads = [torch.zeros(words, size, device=device) for size in self.sizes]
        vectors = torch.zeros(words, self.model.width, device=device) if self.judges else None
        with as_input_error("the model cannot be computed", "model.safetensors"), computing(device, self.precision):
            for batch in batches:
                row = WordRow.of(batch, self.model.reach)
                *inputs, part_of, shape, place, word = moved([*batch.arrays[:2], *row, batch.word], device)
                hidden = self.model.encoded(*inputs).flatten(0, 1)  # subwords of all windows x width
                seen = self.model.word_vectors(hidden[None], part_of[None], shape[None])[0, place]
                for scores, head in zip(heads, self.model.heads, strict=True):
                    scores[word] = torch.log_softmax(head(seen).float(), dim=-1)
                if vectors is not None:
                    vectors[word] = seen.float()
        self.model.train(was_training)
        arrays = _fetched(heads)
        judge = None if vectors is None else SpanJudge(self.model, vectors, self.precision)

        def waited() -> Heads:
            n, c, u = arrays()
            return Heads(n, c, u, judge)

        return waited


class WordRow(NamedTuple):
    """The words of all windows of a batch in one row, so that the layers above the encoder see no padding.

    Behind each window there are places without words, which count as zero, as places beyond the last word always do.
    """

    part_of: Ints  # which word of the row each subword is part of, those of the windows one after the other, or NOTHING
    shape: Ints  # of each place of the row, NOTHING where no word is
    place: Ints  # of each wanted word, in the row

    @classmethod
    def of(cls, batch: Batch, gap: int) -> WordRow:
        """The row of a batch, with so many places behind each window as words are looked at on each side of a word."""
        _, _, word, shape = batch.arrays
        places = np.count_nonzero(shape != NOTHING, axis=1) + gap
        first = np.cumsum(places) - places  # the place of each window's first word
        kept = np.arange(shape.shape[1] + gap) < places[:, None]
        shapes = np.pad(shape, ((0, 0), (0, gap)), constant_values=NOTHING)[kept]
        part_of = np.where(word == NOTHING, NOTHING, word + first[:, None])
        return cls(part_of.ravel(), shapes, first[batch.row] + batch.column)


class SpanJudge:
    """Judges spans of words whose vectors stayed on the device.

    On a GPU this is work of its own: it waits for the vectors it needs, and not for chunks that were begun later.
    """

    def __init__(self, model: Tagger, vectors: Tensor, precision: Precision) -> None:
        """`vectors` is words x width."""
        assert model.spans is not None
        self.head, self.vectors, self.precision = model.spans, vectors, precision
        self.ready = torch.cuda.current_stream(vectors.device).record_event() if vectors.is_cuda else None

    @torch.inference_mode()
    def __call__(self, places: SpanPlaces) -> Floats32:
        """The logits of every type: spans x types."""
        device, was_training = self.vectors.device, self.head.training
        self.head.train(False)
        with self._aside(), fewer_bits(device, self.precision):
            logits = self.head(self.vectors, *(torch.from_numpy(values).to(device) for values in places))
            found: Floats32 = logits.float().cpu().numpy()
        self.head.train(was_training)
        return found

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """On a GPU: beside what else it does, as soon as the vectors are there."""
        if self.ready is None:
            yield
            return
        stream = judging_stream(self.vectors.device)
        stream.wait_event(self.ready)
        with torch.cuda.stream(stream):
            yield


@cache
def judging_stream(device: torch.device) -> torch.cuda.Stream:
    """The one stream of a GPU on which spans are judged; each stream keeps memory of its own."""
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
    """How scores are computed on a device: in bfloat16 where a GPU has it and nobody asks for more.

    cuDNN's attention is left out, because it prepares itself anew for every shape of a batch, and ours all differ.
    """
    if device.type != "cuda":
        yield
        return
    # kernels and products are those of all threads, the bits of this one
    with sdpa_kernel(ATTENTION), fewer_bits(device, precision), multiplying(precision):
        yield


def fewer_bits(device: torch.device, precision: Precision) -> torch.autocast:
    """Compute in bfloat16 where a GPU has it and nobody asks for more, in this thread alone."""
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
