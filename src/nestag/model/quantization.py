"""int8 quantization of an ONNX graph, for the parts of a tagger that hold most weights.

Weights use seven of the eight bits, so that sums do not overflow on CPUs without VNNI; tables of vectors, which are
only looked up, use all eight. Activations are int8 too, in a range that is calibrated on samples: a range computed
for every batch would make an answer depend on what else is in the batch, and takes time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nestag.data.arrays import Ints
from nestag.model.onnx_runtime import installed

PARTS = ("tagger.encoder", "tagger.narrow", "tagger.convolutions")
"""The large parts; the heads stay in float32."""

_OPERATIONS = ["MatMul", "Gather"]


def quantize(path: Path, samples: Iterable[Mapping[str, Ints]]) -> None:
    """Quantize the large parts of a graph, with ranges calibrated on samples of its inputs."""
    onnx: Any = import_module("onnx")
    quantization = installed("onnxruntime.quantization")
    model = onnx.load(path)
    fold(model.graph)
    onnx.save(model, path)
    nodes = [node for node in model.graph.node if _is_in(node, PARTS)]
    weights = {weight.name for weight in model.graph.initializer}
    tables = weights & {node.input[0] for node in nodes if node.op_type == "Gather"}
    whole = {"quant_type": quantization.QuantType.QUInt8, "reduce_range": False}
    quantization.quantize_static(
        path,
        path,
        _Samples(samples),
        op_types_to_quantize=_OPERATIONS,
        nodes_to_quantize=[node.name for node in nodes],
        per_channel=True,
        reduce_range=True,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
        extra_options={
            "OpTypesToExcludeOutputQuantization": _OPERATIONS,
            "TensorQuantOverrides": {table: [whole] for table in tables},
        },
    )
    model = onnx.load(path)
    keep_residuals(model.graph)
    onnx.save(model, path)


class _Samples:
    """Samples as onnxruntime's calibration reads them."""

    def __init__(self, samples: Iterable[Mapping[str, Ints]]) -> None:
        self.remaining = iter(samples)

    def get_next(self) -> Mapping[str, Ints] | None:
        return next(self.remaining, None)


def keep_residuals(graph: Any) -> None:
    """Let everything but products read values as they were before quantization, as residual connections must."""
    quantized = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"}
    restored = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "DequantizeLinear"}
    factors = {name for node in graph.node if node.op_type == "MatMul" for name in node.input}
    for node in graph.node:
        for place, name in enumerate(node.input):
            if node.op_type != "MatMul" and name in factors and restored.get(name) in quantized:
                node.input[place] = quantized[restored[name]]


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
