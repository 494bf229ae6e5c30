"""Results in a notebook with a real kernel."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from drawn_sentences import Reader

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

CELLS = (
    "import nestag\nner = nestag.NestedNER.from_pretrained('model', 'cpu')",
    "ner('lincoln was president of the usa.')",
    "nestag.render('a <b>', [(2, 5, 'TAG')])",
    "sentence = nestag.Sentence(['the', 'USA'], [nestag.Entity(1, 2, 'GPE')])\nnestag.render(sentence)",
    "sentence",
    "nestag.write_corpus([sentence] * 9, 'nine.jsonl')\nnestag.read_corpus('nine.jsonl')",
    "nestag.evaluate([sentence], [sentence])",
)
TRAINING = (
    "corpus = [nestag.Sentence(['the', 'USA'], [nestag.Entity(1, 2, 'GPE')])] * 4\n"
    "run = nestag.train(corpus, corpus, FOLDER, encoder=ENCODER, steps=4, batch_subwords=64, use_cpu=True)"
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries that run notebooks
def test_notebook_shows_nested_entities(trained_model: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(
        notebook, timeout=None, resources={"metadata": {"path": str(trained_model.parent)}}
    ).execute()
    shown = [output["data"] for cell in notebook.cells for output in cell["outputs"] if "data" in output]
    *drawings, scores = shown
    assert "<caption>Scores of 1 sentence</caption>" in scores["text/html"]
    assert scores["text/plain"].startswith("Scores of 1 sentence\naverage")
    result, drawn, rendered, sentence, corpus = (
        Reader(data["text/html"].partition("</style>")[2].removesuffix("</div>")) for data in drawings
    )
    assert result.boxes == ["lincoln", "the usa", "president of the usa"]
    assert result.labels == ["PER", "GPE", "PER"]
    assert (drawn.words, drawn.labels) == ("a <b>", ["TAG"])
    assert rendered.boxes == sentence.boxes == ["USA"]
    assert corpus.boxes == ["USA"] * 5
    assert "sentences      9" in drawings[-1]["text/plain"]
    assert all(data["text/html"].startswith('<div class="nestag"><style>') for data in drawings)
    assert "confidence" in shown[0]["text/html"]
    assert "TextEntity(start=0" in shown[0]["text/plain"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_training_shows_progress_in_a_notebook(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    code = TRAINING.replace("FOLDER", repr(str(folder))).replace("ENCODER", repr(tiny_encoder("bert")))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"import nestag\n{code}")])
    nbclient.NotebookClient(notebook, timeout=None).execute()
    (cell,) = notebook.cells
    bars = [output["data"]["text/html"] for output in cell["outputs"] if "data" in output]
    assert re.search(r'<progress value="[34]" max="4">', bars[-1])
    lines = "".join(output.get("text", "") for output in cell["outputs"] if output.get("name") == "stdout")
    assert "4 sentences of" in lines
    assert "seed 1 dev   precision" in lines
    assert f'nestag.load("{folder}")' in lines
