"""Eight bits: which parts get them, that nothing else changes, and that no answer depends on its batch."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.graph import write_graph
from nestag.quantization import Range, fold, quantize
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


@pytest.fixture(scope="module")
def small(plain: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph in eight bits."""
    path = tmp_path_factory.mktemp("small") / "model.onnx"
    path.write_bytes(plain)
    quantize(path, [FEED])
    return path


def test_large_parts_get_eight_bits(plain: bytes, small: Path, tmp_path: Path) -> None:
    graph = onnx.load(small).graph
    found = Counter(node.op_type for node in graph.node)
    assert found["MatMulIntegerToFloat"] == 3  # narrowing, two convolutions
    assert found["MatMul"] == 3  # the heads
    assert not found["DynamicQuantizeLinear"] + found["MatMulInteger"]
    table = next(weight for weight in graph.initializer if weight.name == "tagger.encoder.embeddings.weight_quantized")
    assert table.data_type == onnx.TensorProto.UINT8
    (tmp_path / "plain.onnx").write_bytes(plain)
    for one, other in zip(scores(tmp_path / "plain.onnx"), scores(small), strict=True):
        assert 0 < np.abs(one - other).max() < 0.2


def test_in_eight_bits_too_an_answer_does_not_depend_on_the_rest_of_its_batch(small: Path) -> None:
    session = onnxruntime.InferenceSession(small, providers=["CPUExecutionProvider"])
    alone = session.run(None, FEED)
    for other in range(3, 30):
        beside = np.full((1, 5), other)
        both = {name: np.concatenate([values, values]) for name, values in FEED.items()}
        both["input_ids"] = np.concatenate([FEED["input_ids"], beside])
        for one, two in zip(alone, session.run(None, both), strict=True):
            np.testing.assert_array_equal(one[0], two[0])


@given(st.floats(-1e3, 0, width=32), st.floats(0, 1e3, width=32), st.floats(0, 1))
def test_a_range_holds_its_values_to_half_a_step(low: float, high: float, share: float) -> None:
    wide = Range(low, high)
    value = low + share * (high - low)
    stored = min(255, max(0, round(value / wide.scale) + wide.zero))
    assert abs((stored - wide.zero) * wide.scale - value) <= 1.001 * wide.scale  # half for the value, half for its zero
    assert stored == wide.zero if value == 0 else True


@given(st.floats(1e-3, 10), st.integers(0, 255), st.floats(1e-3, 10), st.integers(0, 255))
def test_ranges_span_what_was_seen(scale: float, zero: int, other: float, other_zero: int) -> None:
    one, two = Range.of_scale(scale, zero), Range.of_scale(other, other_zero)
    assert (one | two).low == min(one.low, two.low) <= 0 <= max(one.high, two.high) == (one | two).high
    assert one.zero == zero
    assert one.scale == pytest.approx(scale)
