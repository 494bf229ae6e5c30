"""The tagger as the engine calls it: arrays in, log-probabilities out.

On a GPU nothing here waits: arrays go there from pinned memory, scores come back the same way, and only whoever needs
them waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from nestag.encoders import Precision
from nestag.engine import Batch, Heads
from nestag.tagger import Tagger

ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""The kinds of attention that are computed on a GPU."""

GPU_BATCH, CPU_BATCH = 65_536, 4_096
"""Subwords that are scored at once."""


class TaggerScorer:
    """Scores words with a tagger, in bfloat16 where a GPU has it."""

    def __init__(self, model: Tagger, batch_subwords: int = 0, precision: Precision = "auto") -> None:
        """`batch_subwords` is how many subwords are scored at once; 0 is what suits the device."""
        self.model = model
        self.precision = precision
        self.sizes: tuple[int, int, int] = model.config.sizes
        cuda = model.device.type == "cuda"
        self.batch_subwords = batch_subwords or (GPU_BATCH if cuda else CPU_BATCH)
        self.ahead = 3 if cuda else 0

    @torch.inference_mode()
    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Begin to score the words of a chunk; on a GPU this returns before the scores are there."""
        device, was_training = self.model.device, self.model.training
        self.model.train(False)
        heads = [torch.zeros(words, size, device=device) for size in self.sizes]
        with computing(device, self.precision):
            for batch in batches:
                *inputs, row, column, word = moved([*batch.arrays, *batch[1:]], device)
                for head, score in zip(heads, self.model(*inputs), strict=False):
                    head[word] = torch.log_softmax(score[row, column].float(), dim=-1)
        self.model.train(was_training)
        return _fetched(heads)


def _fetched(heads: Sequence[Tensor]) -> Callable[[], Heads]:
    """Copy tensors from a device without waiting; the function returned waits for them."""
    if heads[0].device.type != "cuda":
        return lambda: _arrays(heads)
    copies = [torch.empty(head.shape, dtype=head.dtype, pin_memory=True) for head in heads]
    for copy, head in zip(copies, heads, strict=True):
        copy.copy_(head, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record()

    def waited() -> Heads:
        done.synchronize()
        return _arrays(copies)

    return waited


def _arrays(heads: Sequence[Tensor]) -> Heads:
    n, c, u = (head.numpy() for head in heads)
    return n, c, u


@contextmanager
def computing(device: torch.device, precision: Precision = "auto") -> Iterator[None]:
    """How scores are computed on a device: in bfloat16 where a GPU has it and nobody asks for more.

    cuDNN's attention is left out, because it prepares itself anew for every shape of a batch, and ours all differ.
    """
    if device.type != "cuda":
        yield
        return
    fast = precision == "auto" and torch.cuda.is_bf16_supported()
    with sdpa_kernel(ATTENTION), torch.autocast("cuda", torch.bfloat16, enabled=fast):
        yield


def moved(arrays: Sequence[NDArray[np.int64]], device: torch.device) -> list[Tensor]:
    """Arrays as tensors on a device, copied there all at once and without waiting."""
    if device.type != "cuda":
        return [torch.from_numpy(values) for values in arrays]
    together = torch.empty(sum(values.size for values in arrays), dtype=torch.int64, pin_memory=True)
    np.concatenate([values.ravel() for values in arrays], out=together.numpy())
    parts = torch.split(together.to(device, non_blocking=True), [values.size for values in arrays])
    return [part.view(values.shape) for part, values in zip(parts, arrays, strict=True)]
