"""The built-in English model: available by name everywhere, small, and documented."""

import sys
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

import nestag
from nestag.cli import app
from nestag.errors import MissingExtraError
from nestag.model.model_folder import PACKAGED, local_folder
from nestag.model.onnx_runtime import OnnxNER

TEXT = "The mayor of Utrecht met the president of the Bank of Norway in Oslo."


@pytest.fixture(scope="module")
def ner() -> OnnxNER:
    loaded = nestag.load("english")
    assert isinstance(loaded, OnnxNER)
    return loaded


def test_english_model_finds_nested_entities(ner: OnnxNER) -> None:
    entities = {(entity.text, entity.type) for entity in ner(TEXT)}
    assert {("The mayor of Utrecht", "person"), ("Utrecht", "place"), ("Oslo", "place")} <= entities


def test_english_model_is_small_and_names_its_sources() -> None:
    folder = PACKAGED["english"]
    assert sum(file.stat().st_size for file in folder.iterdir()) < 10e6
    card = ModelCard.load(folder / "README.md")
    assert (card.data.license, card.data.language) == ("cc-by-4.0", "en")
    for source in ("dbamman/litbank", "amir-zeldes/gum", "amalgum", "all-MiniLM-L6-v2"):
        assert source in card.text


def test_english_is_the_packaged_model_unless_it_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "english").mkdir()
    monkeypatch.chdir(tmp_path)
    assert local_folder("english") == PACKAGED["english"]
    assert local_folder("./english").resolve() == tmp_path / "english"


def test_predict_and_spacy_accept_the_name_english(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    result = CliRunner().invoke(app, ["predict", "english", str(tmp_path / "a.txt")])
    assert result.exit_code == 0, result.stderr
    assert '"text": "Utrecht"' in result.stdout
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    component = nlp.add_pipe("nestag", config={"model": "english"})
    assert component.labels == ("organization", "person", "place")
    doc = nlp(TEXT)
    assert "Utrecht" in {span.text for span in doc.spans["nestag"]}


def test_error_without_onnxruntime_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"nestag\[onnx\]"):
        nestag.load("english")
