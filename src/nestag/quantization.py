"""Weights and products of eight bits in an ONNX graph, for the parts of a tagger that hold most weights.

Seven of the eight bits of weights are used, so that sums do not overflow on processors without VNNI. What weights are
multiplied with has eight bits too, in a range that is seen on samples and then fixed: a range found anew for every
batch would make an answer depend on what else is in the batch, and takes time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestag.arrays import Ints
from nestag.runtime import installed

PARTS = ("tagger.encoder", "tagger.narrow", "tagger.convolutions")
"""What is large; the heads stay as they are."""

_OPERATIONS = ["MatMul", "Gather"]
_STEPS = 255  # of eight bits


class Range(NamedTuple):
    """Between which numbers some values lie; zero is always among them."""

    low: float
    high: float

    @classmethod
    def of_scale(cls, scale: float, zero: float) -> Range:
        """The range that eight bits of a scale span, of which `zero` stands for 0."""
        return cls(-zero * scale, (_STEPS - zero) * scale)

    def __or__(self, other: Range) -> Range:
        """The range that spans both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    @property
    def scale(self) -> float:
        """How far apart two neighbouring numbers of eight bits are."""
        return max((self.high - self.low) / _STEPS, float(np.finfo(np.float32).tiny))

    @property
    def zero(self) -> int:
        """The number of eight bits that stands for 0."""
        return min(_STEPS, max(0, round(-self.low / self.scale)))


def quantize(path: Path, samples: Iterable[Mapping[str, Ints]]) -> None:
    """Make the large parts of a graph compute in eight bits, in ranges that are seen on samples of its inputs."""
    onnx: Any = import_module("onnx")
    quantization = installed("onnxruntime.quantization")
    model = onnx.load(path)
    fold(model.graph)
    onnx.save(model, path)
    quantization.quantize_dynamic(
        path,
        path,
        op_types_to_quantize=_OPERATIONS,
        nodes_to_quantize=[node.name for node in model.graph.node if _is_in(node, PARTS)],
        per_channel=True,
        reduce_range=True,
        weight_type=quantization.QuantType.QInt8,
    )
    model = onnx.load(path)
    fix(model, ranges(model, samples))
    onnx.save(model, path)


def ranges(model: Any, samples: Iterable[Mapping[str, Ints]]) -> dict[str, Range]:
    """The ranges of all values whose range a graph finds anew for every batch, by the name of their eight bits."""
    onnx: Any = import_module("onnx")
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    names = [tuple(node.output) for node in model.graph.node if node.op_type == "DynamicQuantizeLinear"]
    for _, scale, zero in names:
        probe.graph.output.append(onnx.helper.make_tensor_value_info(scale, onnx.TensorProto.FLOAT, []))
        probe.graph.output.append(onnx.helper.make_tensor_value_info(zero, onnx.TensorProto.UINT8, []))
    session = installed("onnxruntime").InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = [name for _, *both in names for name in both]
    found = {value: Range(0.0, 0.0) for value, *_ in names}
    for sample in samples:
        numbers = [float(number) for number in session.run(wanted, dict(sample))] if wanted else []
        for (value, *_), scale, zero in zip(names, numbers[::2], numbers[1::2], strict=True):
            found[value] |= Range.of_scale(scale, zero)
    return found


def fix(model: Any, found: Mapping[str, Range]) -> None:
    """Fix the ranges of values, and make every product one operation from eight bits to float32."""
    onnx: Any = import_module("onnx")
    makers = {name: node for node in model.graph.node for name in node.output}
    nodes, replaced = [], set()
    for node in model.graph.node:
        steps = _steps(node, makers)
        if node.op_type == "DynamicQuantizeLinear":
            value, scale, zero = node.output
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(found[value].scale), scale))
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.uint8(found[value].zero), zero))
            nodes.append(onnx.helper.make_node("QuantizeLinear", [node.input[0], scale, zero], [value], node.name))
        elif steps is not None:
            left, right, *zeros = steps.product.input
            given = [left, right, *steps.scales.input, *zeros]
            nodes.append(
                onnx.helper.make_node(
                    "MatMulIntegerToFloat", given, list(node.output), node.name, domain="com.microsoft"
                )
            )
            replaced |= {name for step in steps for name in step.output}
        else:
            nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(node for node in nodes if not replaced & set(node.output))
    if not any(one.domain == "com.microsoft" for one in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))


class Steps(NamedTuple):
    """The operations before the last one of a product of eight bits, as the quantizer writes it."""

    product: Any  # whole numbers
    cast: Any  # the same as float32
    scales: Any  # what they are to be multiplied with


def _steps(node: Any, makers: Mapping[str, Any]) -> Steps | None:
    """The steps before a node, if it is the last one of a product of eight bits."""
    before = [makers.get(name) for name in node.input]
    if node.op_type != "Mul" or None in before or before[0].op_type != "Cast":  # type: ignore[union-attr]
        return None
    cast, scales = before
    product = makers.get(cast.input[0])  # type: ignore[union-attr]
    return Steps(product, cast, scales) if product is not None and product.op_type == "MatMulInteger" else None


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
