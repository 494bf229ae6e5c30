"""Forward and backward passes on a GPU as CUDA graphs, so that the GPU does not wait for Python.

A forward and backward pass are about two thousand small kernels. Python takes longer to launch them than the GPU to run
them. Batches are therefore padded to few shapes. When a shape occurs the second time, its pass is recorded, and from
then on replayed. Padding has no labels, so the gradient does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nestag.model.tagger import IGNORED
from nestag.model.windows import NOTHING

BatchTensors = dict[str, Tensor]


@dataclass(frozen=True)
class Padding:
    """Pads batches to few shapes; the number of subwords decides the shape."""

    batch_subwords: int  # the budget of a batch
    windows: int  # in a batch, at most
    longest: int  # subwords of the longest window
    pad: int  # the padding subword

    def __call__(self, inputs: BatchTensors) -> BatchTensors:
        """Pad a batch; the number of windows stays if the batch exceeds the budget."""
        windows, subwords = inputs["input_ids"].shape
        length = min(round_up(subwords), self.longest)
        rows = max(windows, min(self.windows, self.batch_subwords // smallest_rounded_to(length)))
        fill = {"input_ids": self.pad, "attention_mask": 0, "labels": IGNORED, "spans": 0}
        padded = {
            name: _pad(values, (rows, length, *values.shape[2:]), fill.get(name, NOTHING))
            for name, values in inputs.items()
        }
        padded["attention_mask"][windows:, 0] = 1  # attention over nothing would be NaN
        return padded


def round_up(size: int) -> int:
    """Return the next allowed size: a multiple of 8 up to 64, then one of four sizes for each doubling.

    >>> [round_up(size) for size in (5, 33, 64, 65, 130)]
    [8, 40, 64, 80, 160]
    """
    step = _step(size)
    return -(-size // step) * step


def smallest_rounded_to(size: int) -> int:
    """Return the smallest size that is rounded up to this one.

    >>> [smallest_rounded_to(size) for size in (8, 40, 80, 160)]
    [1, 33, 65, 129]
    """
    step = _step(size)
    return (size - 1) // step * step + 1


def _step(size: int) -> int:
    """Return the distance of allowed sizes around this one."""
    return max(8, 1 << max(0, (size - 1).bit_length() - 3))


def _pad(values: Tensor, shape: Sequence[int], value: float) -> Tensor:
    padded = torch.full(tuple(shape), value, dtype=values.dtype)
    padded[tuple(slice(size) for size in values.shape)] = values
    return padded


class Recording(NamedTuple):
    """A recorded pass."""

    graph: torch.cuda.CUDAGraph
    inputs: BatchTensors  # that the graph reads
    loss: Tensor  # that the graph writes
    trained: list[int]  # the weights whose gradients it writes


class GraphedPass:
    """Computes the loss of a batch and the gradients; clear the gradients before the next batch."""

    def __init__(self, loss: Callable[[BatchTensors], Tensor], weights: Sequence[nn.Parameter]) -> None:
        self.loss, self.weights = loss, list(weights)
        self.gradients = [torch.empty_like(weight) for weight in weights]  # shared by all graphs
        self.recordings: dict[tuple[object, ...], Recording | None] = {}
        self.stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self.pool = torch.cuda.graph_pool_handle()

    def __call__(self, inputs: BatchTensors) -> Tensor:
        """Return the loss of a batch of tensors on the GPU; the next call overwrites it."""
        trained = (weight.requires_grad for weight in self.weights)
        key = (*trained, *(tuple(values.shape) for values in inputs.values()))
        is_new = key not in self.recordings
        recording = self.recordings.setdefault(key, None)
        if is_new:
            return self._run(inputs)
        if recording is None:
            recording = self.recordings[key] = self._record(inputs)
        for name, values in inputs.items():
            recording.inputs[name].copy_(values, non_blocking=True)
        recording.graph.replay()
        for index in recording.trained:
            self.weights[index].grad = self.gradients[index]
        return recording.loss

    def _run(self, inputs: BatchTensors) -> Tensor:
        """Do a pass without a graph, on the stream on which passes are recorded."""
        current = torch.cuda.current_stream()
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            loss = self.loss(inputs)
            loss.backward()  # type: ignore[no-untyped-call]
        current.wait_stream(self.stream)
        return loss.detach()

    def _record(self, inputs: BatchTensors) -> Recording:
        static = {name: values.clone() for name, values in inputs.items()}
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, pool=self.pool, stream=self.stream, capture_error_mode="thread_local"):
            loss = self.loss(static)
            loss.backward()  # type: ignore[no-untyped-call]
            computed = {index: weight.grad for index, weight in enumerate(self.weights) if weight.grad is not None}
            torch._foreach_copy_([self.gradients[index] for index in computed], list(computed.values()))
            for weight in self.weights:
                weight.grad = None
        return Recording(graph, static, loss.detach(), list(computed))
