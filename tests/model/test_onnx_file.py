"""ONNX files with anything but a plain graph are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nestag.errors import InputError
from nestag.model.model_folder import GRAPH
from nestag.model.onnx_runtime import check_graph
from shape_model import graph_of

onnx = pytest.importorskip("onnx")
LENGTH = 2  # the wire type of messages


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / GRAPH


def refused(file: Path, content: bytes, reason: str = "") -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"it is not a graph that nestag wrote: {reason}"):
        check_graph(file)


def external(model: Any) -> None:
    entry = model.graph.initializer[0].external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def located(model: Any) -> None:
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL


def in_attribute(model: Any) -> None:
    tensor = onnx.helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [0.0])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    model.graph.node.append(onnx.helper.make_node("Constant", [], ["x"], value=tensor))


def sparse(model: Any) -> None:
    model.graph.sparse_initializer.add().values.name = "x"


def subgraph(model: Any) -> None:
    model.graph.node.append(onnx.helper.make_node("If", ["n"], ["x"], then_branch=model.graph))


def function(model: Any) -> None:
    model.functions.add().name = "f"


def other_operator(model: Any) -> None:
    model.graph.node.append(onnx.helper.make_node("EPContext", [], ["x"], domain="com.microsoft"))


def other_domain(model: Any) -> None:
    model.graph.node.append(onnx.helper.make_node("Add", ["n", "n"], ["x"], domain="evil"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (external, "a tensor has field 13"),
        (located, "its weights are in other files"),
        (in_attribute, "its weights are in other files"),
        (sparse, "a graph has field 15"),
        (subgraph, "a attribute has field 6"),
        (function, "a model has field 25"),
        (other_operator, "it has an operator of b'com.microsoft'"),
        (other_domain, "it has an operator of b'evil'"),
    ],
)
def test_unsafe_onnx_features_are_refused(file: Path, change: Callable[[Any], None], reason: str) -> None:
    model = graph_of((3, 4, 5))
    file.write_bytes(model.SerializeToString())
    check_graph(file)
    change(model)
    refused(file, model.SerializeToString(), reason)


def test_external_data_with_value_before_key_is_refused(file: Path) -> None:
    """Both orders mean the same to protobuf."""
    entry = field(2, b"/etc/passwd") + field(1, b"location")
    tensor = field(13, entry)
    refused(file, field(7, field(5, tensor)), "a tensor has field 13")


@pytest.mark.parametrize("number", [b"\xea\x00", b"\xea\x80\x80\x00", b"\xff" * 9 + b"\x02", b"\x80" * 20, b"\xea"])
def test_overlong_varints_are_refused(file: Path, number: bytes) -> None:
    """The first two are the key of field 13, with more bytes than it needs; the others are no numbers."""
    tensor = number + b"\x00"
    refused(file, field(7, field(5, tensor)))


@pytest.mark.parametrize("content", [b"\x3b", b"\x38\x01", b"\x3a\x7f", b"nothing"])
def test_arbitrary_bytes_are_refused(file: Path, content: bytes) -> None:
    refused(file, content)


def field(number: int, content: bytes) -> bytes:
    """A field of a message."""
    assert number < 16
    assert len(content) < 128
    return bytes([number << 3 | LENGTH, len(content)]) + content
