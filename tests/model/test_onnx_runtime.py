"""How onnxruntime is loaded and called."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestag
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError
from nestag.model.engine import Batch
from nestag.model.model_folder import GRAPH, write_manifest
from nestag.model.onnx_runtime import GraphScorer, OnnxNER
from nestag.model.settings import Settings
from nestag.model.windows import Arrays
from two_sentences import CORPUS

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(("given", "then"), [({}, "1"), ({"ORT_DISABLE_TELEMETRY": "0"}, "0")])
def test_onnxruntime_telemetry_is_off_by_default(given: dict[str, str], then: str) -> None:
    code = "import os\nfrom nestag.model.onnx_runtime import import_library\nimport_library('onnxruntime')\n"
    code += "print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | given
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == f"{then}\n", done.stderr


def test_onnxruntime_is_only_imported_without_telemetry() -> None:
    sources = Path(nestag.__file__).parent.rglob("*.py")
    pattern = re.compile(r"import_module\([\"']onnxruntime|^\s*(import|from) onnxruntime", re.MULTILINE)
    assert [path.name for path in sources if pattern.search(path.read_text(encoding="utf-8"))] == []


class Session:
    """A graph that answers with the ids it is given, as soon as so many threads have asked."""

    def __init__(self, together: int) -> None:
        self.barrier = threading.Barrier(together)

    def run(self, names: list[str], arrays: dict[str, Any]) -> list[Any]:
        if (arrays["input_ids"] < 0).any():
            raise RuntimeError("negative ids")
        self.barrier.wait(timeout=250)
        return [np.repeat(arrays["input_ids"][..., None], size, axis=2).astype(np.float32) for size in (1, 2, 3)]


def batches(ids: list[int]) -> list[Batch]:
    """A batch of one word for each number."""
    zero = np.zeros(1, dtype=np.int64)
    return [Batch(Arrays(*[np.array([[number]])] * 4), zero, zero, np.array([at])) for at, number in enumerate(ids)]


def test_batches_run_in_parallel() -> None:
    ids = [7, 5, 3, 8, 6, 4]
    n, c, u, spans = GraphScorer(Session(3), (1, 2, 3), Settings(), 3).start(batches(ids), len(ids))()
    assert n.tolist() == [[number] for number in ids]
    assert c.tolist() == [[number] * 2 for number in ids]
    assert u.tolist() == [[number] * 3 for number in ids]
    assert spans is None


def test_error_in_a_thread_stops_all_threads() -> None:
    before = threading.active_count()
    with pytest.raises(InputError, match=r"the graph cannot be computed .*negative ids"):
        GraphScorer(Session(1), (1, 2, 3), Settings(), 2).start(batches([1, 2, -1, *range(200)]), 203)
    assert threading.active_count() == before


def test_onnxruntime_prints_nothing_from_a_graph(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It would print names with their control characters; its errors are raised as well."""
    onnx = pytest.importorskip("onnx")
    from shape_model import graph_of, save_shape_model

    save_shape_model(tmp_path / "m")
    graph = graph_of(Vocabulary.learn(CORPUS, "rel").sizes)
    size = onnx.helper.make_tensor("size", onnx.TensorProto.INT64, [1], [10**12])
    graph.graph.initializer.append(size)
    graph.graph.node.append(onnx.helper.make_node("ConstantOfShape", ["size"], ["huge"], name="\x1b[31mred"))
    graph.graph.node.append(onnx.helper.make_node("ReduceSum", ["huge"], ["sum"]))
    graph.graph.output.append(onnx.helper.make_tensor_value_info("sum", onnx.TensorProto.FLOAT, [1]))
    onnx.save(graph, tmp_path / "m" / GRAPH)
    write_manifest(tmp_path / "m")
    with pytest.raises(InputError, match="the graph cannot be computed"):
        OnnxNER.from_pretrained(tmp_path / "m").predict([["Ann"]])
    assert capfd.readouterr() == ("", "")
