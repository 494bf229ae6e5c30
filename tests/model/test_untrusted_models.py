"""A model folder with any content loads or is refused in one line, and no file outside it is opened."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_mutations import Watch, fresh_copy, mutate
from nestag.errors import NestagError
from nestag.model.model_folder import load
from nestag.model.onnx_export import export
from nestag.training.run import train
from two_sentences import CORPUS, MANY, quick

WORDS = [["lincoln", "was", "president"], ["a"] * 90, ["☃"]]
WATCH = Watch()


@pytest.fixture(scope="module")
def models(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("untrusted")
    recipe = quick(tiny_encoder("bert"), steps=3, decoding="spans", span_loss=0.5, conv_size=8, shape_size=4)
    run = train(MANY, CORPUS, folder / "torch", recipe, use_cpu=True)
    export(run.recognizer, folder / "onnx", CORPUS)
    for kind in ("torch", "onnx"):
        load(folder / kind, "cpu").predict(WORDS)  # whatever is imported on first use
    return {kind: folder / kind for kind in ("torch", "onnx")}


@pytest.mark.parametrize("kind", ["torch", "onnx"])
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_model_folder_loads_or_is_refused(
    models: dict[str, Path], kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = fresh_copy(models[kind], tmp_path_factory.getbasetemp() / "mutated")
    mutate(folder, data)
    with WATCH(folder, folder.parent / "outside"), warnings.catch_warnings(), suppress(NestagError, MemoryError):
        warnings.simplefilter("ignore")
        load(folder, "cpu")(WORDS)
