"""A model folder is one thing: whatever is missing, changed or would run is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nestag.errors import InputError
from nestag.model_folder import MANIFEST, EditedModelWarning, write_manifest
from nestag.recognizer import NestedNER
from nestag.training.run import train
from two_sentences import CORPUS, MANY, quick


@pytest.fixture(scope="module")
def saved(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    train(MANY, CORPUS, folder, quick(tiny_encoder("bert"), steps=3), use_cpu=True)
    return folder


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "model"))


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


FILES = ("model.safetensors", "vocabulary.json", "tokenizer.json", "config.json", "nestag.json", "history.json")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused(model: Path, name: str) -> None:
    (model / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize("name", [name for name in FILES if name != "nestag.json"])
def test_a_changed_file_is_refused(model: Path, name: str) -> None:
    data = (model / name).read_bytes()
    (model / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(InputError, match=f"{name} is not the file that was saved"):
        NestedNER.from_pretrained(model, "cpu")


def test_edited_settings_are_used_and_mentioned(model: Path) -> None:
    edit(model / "nestag.json", lambda settings: settings | {"threshold": 0.25})
    with pytest.warns(EditedModelWarning, match=r"nestag\.json was edited"):
        assert NestedNER.from_pretrained(model, "cpu").settings.threshold == 0.25
    edit(model / "nestag.json", lambda settings: settings | {"threshold": "high"})
    with pytest.warns(EditedModelWarning), pytest.raises(ValueError, match="threshold is 'high'"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda manifest: manifest | {"format": 99}, "format 99"),
        (lambda manifest: {"files": manifest["files"]}, "format None"),
        (lambda manifest: [], "format None"),
        (lambda manifest: manifest | {"files": {"nestag.json": "0"}}, "does not list"),
        (lambda manifest: manifest | {"files": manifest["files"] | {"../secret.json": "0"}}, "which is no file"),
    ],
)
def test_a_manifest_that_is_none_is_refused(model: Path, change: Callable[[Any], Any], told: str) -> None:
    edit(model / MANIFEST, change)
    with pytest.raises(InputError, match=told):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize("place", ["top", "encoder", "tokenizer"])
def test_code_is_never_loaded_with_a_model(model: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Even where the manifest agrees: whoever planted the code could have written that too."""
    code = {"auto_map": {"AutoModel": "planted.Planted"}}
    (model / "planted.py").write_text("raise SystemExit('it ran')")
    name = "tokenizer_config.json" if place == "tokenizer" else "config.json"
    edit(model / name, lambda c: c | ({"encoder": c["encoder"] | code} if place == "encoder" else code))
    write_manifest(model)
    with pytest.raises(InputError, match="'auto_map' names code"):
        NestedNER.from_pretrained(model, "cpu")
    assert "trust_remote_code" not in capsys.readouterr().out  # nobody is asked


def test_an_encoder_of_an_unknown_kind_is_refused(model: Path) -> None:
    edit(model / "config.json", lambda c: c | {"encoder": c["encoder"] | {"model_type": "no_such_kind"}})
    write_manifest(model)
    with pytest.raises(InputError, match="cannot be loaded"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize("what", ["missing", "unexpected", "mismatched"])
def test_weights_that_do_not_fit_are_refused(model: Path, what: str) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(model / "model.safetensors")
    if what == "missing":
        del weights["heads.1.weight"]
    elif what == "unexpected":
        weights["heads.9.weight"] = torch.zeros(1)
    else:
        weights["heads.1.weight"] = torch.zeros(1, 1)
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    write_manifest(model)
    with pytest.raises(InputError, match=r"do not fit|cannot be loaded"):
        NestedNER.from_pretrained(model, "cpu")


def test_a_vocabulary_of_another_size_is_refused(model: Path) -> None:
    edit(model / "vocabulary.json", lambda found: found | {"u": found["u"][:-1]})
    write_manifest(model)
    with pytest.raises(InputError, match="its heads have"):
        NestedNER.from_pretrained(model, "cpu")
