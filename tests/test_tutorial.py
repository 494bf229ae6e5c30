"""All commands of docs/tutorial.md run, with a tiny encoder and a few steps."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Sentence
from nestag.formats import brat, sample
from nestag.training import plan

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
TEXT = "The mayor of Utrecht resigned."
WITHOUT_TORCH = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None  # an import of either is now an ImportError
from starlette.testclient import TestClient
from nestag.model.onnx_runtime import OnnxNER
from nestag.serve.app import app_of
from nestag.serve.limits import ServerLimits
from nestag.serve.service import Service
service = Service(OnnxNER.from_pretrained("exported"), "exported", ServerLimits())
with TestClient(app_of(service)) as client:
    status = client.post("/v1/entities", json={{"text": {TEXT!r}}}).status_code
    print(status, client.get("/v1/model").json()["runtime"])
"""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Servers answer one request instead of listening; the names of the models that did."""
    server = pytest.importorskip("nestag.serve.server")
    from starlette.testclient import TestClient

    names: list[str] = []

    def answer(application: Any, *_: Any) -> None:
        with TestClient(application, base_url="http://127.0.0.1") as client:
            assert client.post("/v1/entities", json={"text": TEXT}).status_code == 200
            names.append(client.get("/v1/model").json()["name"])

    monkeypatch.setattr(server, "serve", answer)
    monkeypatch.setattr(server, "log_to_stderr", lambda: None)
    return names


def run(words: list[str], encoder: str) -> None:
    more = {"train": ["--encoder", encoder], "serve": ["--port", "0"]}.get(words[0], [])
    done = CliRunner().invoke(app, [*words, *more])
    assert done.exit_code == 0, (words, done.output)


@pytest.mark.slow
def test_tutorial_runs(
    tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: list[str]
) -> None:
    pytest.importorskip("onnxscript")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "steps_for", lambda *_: 2)
    monkeypatch.setattr(plan, "evaluations_for", lambda *_: 1)
    taken = enumerate(sample.sentences("train")[:60])
    brat.FORMAT.write((Sentence(s.tokens, s.entities, f"d{i // 3}-{i % 3 + 1}") for i, s in taken), "annotated")
    Path("article.txt").write_text(TEXT, encoding="utf-8")
    for language, block in BLOCKS:
        if language == "python":
            exec(block, {})
            continue
        for command in re.findall(r"^nestag (.*)$", block, re.MULTILINE):
            run(command.split(), tiny_encoder("bert"))
    assert Path("entities.jsonl").exists()
    assert served == ["model", "exported"]
    without_torch = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert without_torch.stdout == "200 onnxruntime\n", without_torch.stderr
