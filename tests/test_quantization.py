"""Weights of eight bits: which parts get them, and that nothing else changes."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from nestag.graph import write_graph
from nestag.quantization import ENCODER, WITH_CONVOLUTIONS, fold, quantize
from nestag.tagger import Tagger

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
    found: list[Any] = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, FEED)
    return found


def test_weights_in_another_shape_become_weights(plain: bytes, tmp_path: Path) -> None:
    model = onnx.load_from_string(plain)
    products = [node for node in model.graph.node if node.op_type == "MatMul"]
    before = {weight.name for weight in model.graph.initializer}
    assert not all(node.input[1] in before for node in products)  # torch folds small ones by itself
    fold(model.graph)
    after = {weight.name: tuple(weight.dims) for weight in model.graph.initializer}
    assert [after[node.input[1]] for node in products][1:3] == [
        (192, 128),
        (192, 128),
    ]  # three words of 64, and 64 gates
    assert not {weight for weight in after if weight.startswith("transpose")}  # what nothing uses is gone
    (tmp_path / "plain.onnx").write_bytes(plain)
    onnx.save(model, tmp_path / "folded.onnx")
    for one, other in zip(scores(tmp_path / "plain.onnx"), scores(tmp_path / "folded.onnx"), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(("parts", "products"), [(ENCODER, 0), (WITH_CONVOLUTIONS, 3)])
def test_the_parts_that_are_named_get_eight_bits(
    plain: bytes, tmp_path: Path, parts: tuple[str, ...], products: int
) -> None:
    (tmp_path / "plain.onnx").write_bytes(plain)
    (tmp_path / "small.onnx").write_bytes(plain)
    quantize(tmp_path / "small.onnx", parts)
    graph = onnx.load(tmp_path / "small.onnx").graph
    assert Counter(node.op_type for node in graph.node)["MatMulInteger"] == products  # narrowing, two convolutions
    table = next(weight for weight in graph.initializer if weight.name == "tagger.encoder.embeddings.weight_quantized")
    assert table.data_type == onnx.TensorProto.UINT8
    for one, other in zip(scores(tmp_path / "plain.onnx"), scores(tmp_path / "small.onnx"), strict=True):
        assert 0 < np.abs(one - other).max() < 0.2
