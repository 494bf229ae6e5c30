"""onnxruntime as this package loads it; what it computes is in test_graph."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nestag

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(("given", "then"), [({}, "1"), ({"ORT_DISABLE_TELEMETRY": "0"}, "0")])
def test_onnxruntime_does_not_report_to_its_makers_unless_asked_to(given: dict[str, str], then: str) -> None:
    code = "import os, nestag.runtime as r; r.installed('onnxruntime'); print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | given
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == f"{then}\n", done.stderr


def test_onnxruntime_is_imported_in_that_one_way() -> None:
    sources = Path(nestag.__file__).parent.rglob("*.py")
    pattern = re.compile(r"import_module\([\"']onnxruntime|^\s*(import|from) onnxruntime", re.MULTILINE)
    assert [path.name for path in sources if pattern.search(path.read_text(encoding="utf-8"))] == []
