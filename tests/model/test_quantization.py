"""int8: the quantized operations, equal results otherwise, and independence of the batch."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from nestag.model.onnx_export import keep_residuals, quantize, write_graph
from nestag.model.tagger import Tagger

pytestmark = pytest.mark.slow  # an export takes many seconds

FEED = {
    "input_ids": np.array([[1, 7, 8, 9, 2]]),
    "attention_mask": np.ones((1, 5), np.int64),
    "word": np.array([[-1, 0, 0, 1, -1]]),
    "shape": np.array([[0, 1]]),
}


@pytest.fixture(scope="module")
def plain(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("graph") / "model.onnx"
    light = Tagger.around(f"light:{tiny_encoder('bert')}", sizes=(3, 4, 5), pooling="mean", shape_size=4, conv_size=64)
    write_graph(light, path)
    return path.read_bytes()


def scores(path: Path) -> list[Any]:
    heads: list[Any] = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, FEED)
    return heads


@pytest.fixture(scope="module")
def small(plain: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The int8 graph."""
    path = tmp_path_factory.mktemp("small") / "model.onnx"
    path.write_bytes(plain)
    quantize(path, [FEED])
    return path


def test_large_parts_are_quantized(plain: bytes, small: Path, tmp_path: Path) -> None:
    graph = onnx.load(small).graph
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")  # as onnxruntime will compute it
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(small, options, providers=["CPUExecutionProvider"])
    operations = Counter(node.op_type for node in onnx.load(tmp_path / "fused.onnx").graph.node)
    assert operations["MatMulIntegerToFloat"] == 3  # narrowing, two convolutions
    assert operations["MatMul"] == 3  # the heads
    assert not operations["DynamicQuantizeLinear"] + operations["MatMulInteger"]
    table = next(weight for weight in graph.initializer if weight.name == "tagger.encoder.embeddings.weight_quantized")
    assert table.data_type == onnx.TensorProto.UINT8
    (tmp_path / "plain.onnx").write_bytes(plain)
    for one, other in zip(scores(tmp_path / "plain.onnx"), scores(small), strict=True):
        assert 0 < np.abs(one - other).max() < 0.2


def test_quantized_scores_do_not_depend_on_the_batch(small: Path) -> None:
    session = onnxruntime.InferenceSession(small, providers=["CPUExecutionProvider"])
    alone = session.run(None, FEED)
    for other in range(3, 30):
        beside = np.full((1, 5), other)
        both = {name: np.concatenate([values, values]) for name, values in FEED.items()}
        both["input_ids"] = np.concatenate([FEED["input_ids"], beside])
        for one, two in zip(alone, session.run(None, both), strict=True):
            np.testing.assert_array_equal(one[0], two[0])


def test_residual_connections_are_not_quantized() -> None:
    """x -> quantized -> product, and x + product: the sum reads x itself."""
    make = onnx.helper.make_node
    graph = onnx.helper.make_graph(
        [
            make("QuantizeLinear", ["x", "scale", "zero"], ["x8"]),
            make("DequantizeLinear", ["x8", "scale", "zero"], ["near_x"]),
            make("DequantizeLinear", ["weight8", "scale", "zero"], ["weight"]),
            make("MatMul", ["near_x", "weight"], ["product"]),
            make("Add", ["near_x", "product"], ["sum"]),
        ],
        "residual", [], [],
    )  # fmt: skip
    keep_residuals(graph)
    assert [list(node.input) for node in graph.node][3:] == [["near_x", "weight"], ["x", "product"]]
