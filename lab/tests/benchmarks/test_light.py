"""The benchmark of the light encoder, rehearsed with twelve sentences and a step."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nestag.formats import jsonl, sample
from nestag.training.recipe import load_recipe

SCRIPT = Path(__file__).parents[2] / "benchmarks/light.py"


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = spec_from_file_location("light", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "light", module)
    monkeypatch.syspath_prepend(SCRIPT.parent)
    spec.loader.exec_module(module)
    return module


def test_a_run_is_scored_with_its_settings(
    light: ModuleType, tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gum").mkdir()
    for split in ("train", "dev", "test"):
        jsonl.write(sample.sentences()[:20], tmp_path / "gum" / f"{split}.jsonl.gz")
    monkeypatch.setenv("NESTAG_CORPORA", str(tmp_path))
    monkeypatch.setattr(light, "VARIANTS", {"one step": {"steps": 1, "conv_size": 8}})
    found = light.do(light.Job("gum", 12, "one step", 1), f"light:{tiny_encoder('bert')}")
    assert (found["steps"], found["settings"]) == (1, {"steps": 1, "conv_size": 8})
    assert 0 <= found["dev"] <= 100


def test_every_variant_is_made_of_settings(light: ModuleType) -> None:
    recipe = load_recipe("light")
    for name, settings in light.VARIANTS.items():
        assert name == "light" or recipe.changed(settings) != recipe


def test_means_stand_beside_spacy_and_minilm(light: ModuleType) -> None:
    made = import_module("light_page")
    run: dict[str, Any] = {"corpus": "gum", "sentences": 400, "variant": "light", "settings": {}}
    peer = {"corpus": "gum", "sentences": 400, "dev": {"f1": 40.0}, "test": {"f1": 41.0}}
    records = [{**run, "dev": 50.0, "test": 48.0}, {**run, "dev": 52.0, "test": 49.0}]
    row = next(line for line in made.f1(records, [peer]) if line.startswith("| gum | 400"))
    assert row == "| gum | 400 | 40.00 | 51.00 ± 1.41 | – | – | 41.00 | 48.50 ± 0.71 | – | – | 2 |"
    other = {**run, "variant": "deep", "settings": {"conv_layers": 6}, "dev": 53.0, "test": 50.0}
    assert list(made.variants([*records, other]))[-1].startswith("| deep | `conv_layers=6` | – | – ")
    models = [
        {"model": "minilm", "way": "torch", "words_per_s": {"1": 1000}, "megabytes": 90.0},
        {"model": "light", "way": "torch", "words_per_s": {"1": 12500}, "megabytes": 27.1, "test": 60.0},
    ]
    timed = {"models": models, "words": 100, "corpus": "genia", "rounds": 3, "machine": "a processor"}
    assert "| light | torch | 12,500 | 12.5 | 27.1 | 60.00 |" in made.speed(timed)
    text = "a\n<!-- f1 -->\nold\n<!-- end -->\n<!-- other -->\nkept\n<!-- end -->\n"
    assert made.page(text, {"f1": lambda: iter(["new"])}) == text.replace("old", "new")


def test_kinds_are_what_was_trained(light: ModuleType, tmp_path: Path) -> None:
    for name in ("minilm", "minilm-int8", "light", "light-int8", "deep"):
        (tmp_path / name).mkdir()
    found = [tuple(kind) for kind in import_module("light_speed").kinds(tmp_path)]
    assert found == [("minilm", "torch"), ("minilm", "int8"), ("light", "torch"), ("light", "int8")]


@pytest.mark.slow
def test_speed_size_and_f1_of_all_models_are_measured(
    light: ModuleType, tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speed = import_module("light_speed")
    (tmp_path / "gum").mkdir()
    for split in ("train", "dev", "test"):
        jsonl.write(sample.sentences()[:20], tmp_path / "gum" / f"{split}.jsonl.gz")
    monkeypatch.setenv("NESTAG_CORPORA", str(tmp_path))
    monkeypatch.setattr(speed, "VARIANTS", {"light": {"steps": 31, "conv_size": 8}})
    for model in ("minilm", "light"):
        speed.make(tmp_path / "work", model, "gum", 12, tiny_encoder("bert"), few=model == "minilm")
    found = speed.measured(tmp_path / "work", "gum", [1], rounds=1, most=10)
    assert [(one["model"], one["way"], "test" in one) for one in found["models"]] == [
        ("minilm", "torch", False),
        ("minilm", "int8", False),
        ("light", "torch", True),
        ("light", "int8", True),
    ]
    assert all(one["words_per_s"]["1"] > 0 for one in found["models"])
    assert all(one["megabytes"] > 0 for one in found["models"])
