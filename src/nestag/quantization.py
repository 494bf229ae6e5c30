"""Weights of eight bits in an ONNX graph, for the parts of a tagger that hold most of them.

Seven of the eight bits are used, so that sums do not overflow on processors without VNNI.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nestag.runtime import installed

ENCODER = ("tagger.encoder",)
"""What is large in most taggers; the small layers above it stay as they are."""

WITH_CONVOLUTIONS = (*ENCODER, "tagger.narrow", "tagger.convolutions")
"""What is large if the encoder is a table."""

_OPERATIONS = ["MatMul", "Gather"]


def quantize(path: Path, parts: Sequence[str] = ENCODER) -> None:
    """Replace the weights of some parts in a graph by eight bits each."""
    onnx: Any = import_module("onnx")
    quantization = installed("onnxruntime.quantization")
    model = onnx.load(path)
    fold(model.graph)
    onnx.save(model, path)
    quantization.quantize_dynamic(
        path,
        path,
        op_types_to_quantize=_OPERATIONS,
        nodes_to_quantize=[node.name for node in model.graph.node if _is_in(node, parts)],
        per_channel=True,
        reduce_range=True,
        weight_type=quantization.QuantType.QInt8,
    )


def fold(graph: Any) -> None:
    """Compute what is only a weight in another shape, because weights alone can be quantized.

    The weights of convolutions are reshaped and transposed before they are multiplied (`Convolution` in tagger.py).
    """
    helper: Any = import_module("onnx.numpy_helper")
    weights = {weight.name: weight for weight in graph.initializer}
    for node in list(graph.node):
        if node.op_type not in ("Reshape", "Transpose") or not all(name in weights for name in node.input):
            continue
        value, *shape = (helper.to_array(weights[name]) for name in node.input)
        turned = value.reshape(shape[0]) if shape else value.transpose(_permutation(node))
        weights[node.output[0]] = helper.from_array(np.ascontiguousarray(turned), node.output[0])
        graph.node.remove(node)
    used = {name for node in graph.node for name in node.input}
    del graph.initializer[:]
    graph.initializer.extend(weight for name, weight in weights.items() if name in used)


def _permutation(node: Any) -> list[int] | None:
    return next((list(attribute.ints) for attribute in node.attribute if attribute.name == "perm"), None)


def _is_in(node: Any, parts: Sequence[str]) -> bool:
    """Whether a node comes from a part of the tagger, by the modules that torch notes with it."""
    scopes = next((entry.value for entry in node.metadata_props if entry.key == "pkg.torch.onnx.name_scopes"), "")
    return any(f"'{part}'" in scopes or f"'{part}." in scopes for part in parts)
