"""Passes over batches on a GPU as CUDA graphs, so that the GPU does not wait for Python.

Forward and backward pass of a batch are some two thousand small kernels, which take Python longer to launch than the
GPU to run. Batches are therefore padded to few shapes, and a shape that comes a second time is recorded and replayed
from then on. Padding is read and not learned, so the gradient is that of the batch as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nestag.model.subwords.layout import NOTHING
from nestag.model.tagger import IGNORED

BatchTensors = dict[str, Tensor]


@dataclass(frozen=True)
class Padding:
    """Pads batches to few shapes; a shape is known by its subwords alone."""

    batch_subwords: int  # the budget of a batch
    windows: int  # in a batch, at most
    longest: int  # subwords of the longest window
    pad: int  # the padding subword

    def __call__(self, inputs: BatchTensors) -> BatchTensors:
        """A batch in a shape that will come again; as it is where it exceeds the budget."""
        windows, subwords = inputs["input_ids"].shape
        length = min(rounded_up(subwords), self.longest)
        rows = max(windows, min(self.windows, self.batch_subwords // shortest_of(length)))
        found = {
            "input_ids": _filled(inputs["input_ids"], (rows, length), self.pad),
            "attention_mask": _filled(inputs["attention_mask"], (rows, length), 0),
            "word": _filled(inputs["word"], (rows, length), NOTHING),
            "shape": _filled(inputs["shape"], (rows, length), NOTHING),
            "labels": _filled(inputs["labels"], (rows, length, 3), IGNORED),
        }
        found["attention_mask"][windows:, 0] = 1  # where nothing is seen, nothing can be computed
        if "spans" in inputs:
            found["spans"] = _filled(inputs["spans"], (rows, length, *inputs["spans"].shape[2:]), 0)
        return found


def rounded_up(size: int) -> int:
    """The next of the sizes that are used: multiples of 8 at first, then four for each doubling.

    >>> [rounded_up(size) for size in (5, 33, 64, 65, 130)]
    [8, 40, 64, 80, 160]
    """
    step = _step(size)
    return -(-size // step) * step


def shortest_of(size: int) -> int:
    """The smallest size that is rounded up to this one.

    >>> [shortest_of(size) for size in (8, 40, 80, 160)]
    [1, 33, 65, 129]
    """
    step = _step(size)
    return (size - 1) // step * step + 1


def _step(size: int) -> int:
    """How far apart the sizes around this one are."""
    return max(8, 1 << max(0, (size - 1).bit_length() - 3))


def _filled(values: Tensor, shape: Sequence[int], value: float) -> Tensor:
    found = torch.full(tuple(shape), value, dtype=values.dtype)
    found[tuple(slice(size) for size in values.shape)] = values
    return found


class Recorded(NamedTuple):
    """A pass that can be replayed."""

    graph: torch.cuda.CUDAGraph
    inputs: BatchTensors  # what it reads
    loss: Tensor  # what it writes
    learned: list[int]  # the weights whose gradients it writes


class GraphedPass:
    """Computes the loss of a batch and the weights' gradients, which are to be dropped before the next batch."""

    def __init__(self, loss: Callable[[BatchTensors], Tensor], weights: Sequence[nn.Parameter]) -> None:
        self.loss, self.weights = loss, list(weights)
        self.gradients = [torch.empty_like(weight) for weight in weights]  # one place for all graphs
        self.recorded: dict[tuple[object, ...], Recorded | None] = {}
        self.stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self.pool = torch.cuda.graph_pool_handle()

    def __call__(self, inputs: BatchTensors) -> Tensor:
        """The loss of a batch of tensors on the GPU; it is overwritten by the next call."""
        learning = (weight.requires_grad for weight in self.weights)
        key = (*learning, *(tuple(values.shape) for values in inputs.values()))
        known = key in self.recorded
        found = self.recorded.setdefault(key, None)
        if not known:
            return self._passed(inputs)
        if found is None:
            found = self.recorded[key] = self._record(inputs)
        for name, values in inputs.items():
            found.inputs[name].copy_(values, non_blocking=True)
        found.graph.replay()
        for index in found.learned:
            self.weights[index].grad = self.gradients[index]
        return found.loss

    def _passed(self, inputs: BatchTensors) -> Tensor:
        """A plain pass, on the stream on which passes are recorded."""
        now = torch.cuda.current_stream()
        self.stream.wait_stream(now)
        with torch.cuda.stream(self.stream):
            loss = self.loss(inputs)
            loss.backward()  # type: ignore[no-untyped-call]
        now.wait_stream(self.stream)
        return loss.detach()

    def _record(self, inputs: BatchTensors) -> Recorded:
        held = {name: values.clone() for name, values in inputs.items()}
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, pool=self.pool, stream=self.stream, capture_error_mode="thread_local"):
            loss = self.loss(held)
            loss.backward()  # type: ignore[no-untyped-call]
            found = {index: weight.grad for index, weight in enumerate(self.weights) if weight.grad is not None}
            torch._foreach_copy_([self.gradients[index] for index in found], list(found.values()))
            for weight in self.weights:
                weight.grad = None
        return Recorded(graph, held, loss.detach(), list(found))
