"""The benchmark of the light encoder, rehearsed with twelve sentences and a step."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nestag import sample
from nestag.corpora.formats import jsonl
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


def test_means_stand_beside_spacy(light: ModuleType) -> None:
    run: dict[str, Any] = {"corpus": "gum", "sentences": 400, "variant": "light", "steps": 900, "batch_subwords": 600}
    peer = {"corpus": "gum", "sentences": 400, "steps": 2600, "dev": {"f1": 40.0}, "test": {"f1": 41.0}}
    records = [{**run, "dev": 50.0, "test": 48.0}, {**run, "dev": 52.0, "test": 49.0}]
    lines = list(light.shown(records, [peer]))
    assert lines[2:] == [
        "| gum | 400 | spaCy's spancat | 2,600 | 40.00 | 41.00 | 1 |",
        "| gum | 400 | light | 900 × 600 | 51.00 ± 1.41 | 48.50 ± 0.71 | 2 |",
    ]
