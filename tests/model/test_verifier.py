"""A verifier as part of the model: trained, saved, exported, switched off, and used from everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Sentence
from nestag.errors import InputError, SettingError
from nestag.formats import jsonl
from nestag.model.engine import Item
from nestag.model.model_folder import SPAN_GRAPH, change_settings, copy_model
from nestag.model.onnx_export import export
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.recognizer import NestedNER
from nestag.training.run import train
from two_sentences import CORPUS, GOLD, MANY, quick


@pytest.fixture(scope="module")
def model(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verified") / "model"
    recipe = quick(tiny_encoder("bert"), span_loss=1.0, verifier=True, shape_size=4, conv_size=8)
    train(MANY, CORPUS, folder, recipe, use_cpu=True)
    return folder


@pytest.fixture(scope="module")
def graph(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "graph"
    export(NestedNER.from_pretrained(model), folder, CORPUS)
    return folder


WORDS = sorted({word for sentence in CORPUS for word in sentence.tokens})
OTHERS = [
    list(np.random.default_rng(seed).choice(WORDS, size)) for seed, size in enumerate([1, 2, 3, 5, 8, 13, 21, 34] * 4)
]
"""Sentences of known words in which nothing is sure."""


def test_what_was_learned_is_saved_and_used(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    assert ner.settings.verifier
    assert ner.predict(CORPUS) == GOLD
    assert "spans.types.weight" in ner.model.state_dict()
    assert json.loads((model / "nestag.json").read_text())["verification"]["logit"] > 0


def test_switched_off_it_tags_as_if_it_were_not_there(model: Path, tmp_path: Path) -> None:
    off = NestedNER.from_pretrained(model, verifier=False)
    copy_model(model, tmp_path / "never")
    change_settings(tmp_path / "never", {"verifier": False, "verification": None})
    never = NestedNER.from_pretrained(tmp_path / "never")
    assert off(OTHERS) == never(OTHERS)
    assert off.scores(OTHERS).judge is None
    greedy = NestedNER.from_pretrained(model, decoding="greedy")
    assert greedy.predict(OTHERS) == NestedNER.from_pretrained(model, decoding="greedy", verifier=False).predict(OTHERS)


def test_it_changes_what_is_found(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    assert ner.predict(OTHERS) != NestedNER.from_pretrained(model, verifier=False).predict(OTHERS)


def test_batches_and_chunks_change_nothing(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    whole = ner(OTHERS)
    for batch_subwords, chunk_size in ((64, 3), (200, 1), (4_096, 7)):
        ner.settings = replace(ner.settings, batch_subwords=batch_subwords)
        found = [one for chunk in ner.engine(chunk_size).run(map(Item, OTHERS)) for one in chunk.table.to_lists()]
        assert found == [tuple(scored.entity for scored in one) for one in whole]
        alone = [one for sentence in OTHERS for one in ner([sentence])]
        pairs = [
            (a.confidence, b.confidence) for x, y in zip(alone, whole, strict=True) for a, b in zip(x, y, strict=True)
        ]
        assert all(a == pytest.approx(b, abs=1e-5) for a, b in pairs)


def test_long_sentences_are_judged_across_windows(model: Path) -> None:
    ner = NestedNER.from_pretrained(model, max_length=32)
    long = [[*CORPUS[0].tokens, *CORPUS[1].tokens] * 4]
    assert any(ner.predict(long))


@pytest.mark.slow
def test_a_graph_finds_the_same(model: Path, graph: Path) -> None:
    ner, plain = NestedNER.from_pretrained(model), OnnxNER.from_pretrained(graph)
    assert (graph / SPAN_GRAPH).is_file()
    ours, theirs = ner(OTHERS), plain(OTHERS)
    assert [[one.entity for one in found] for found in ours] == [[one.entity for one in found] for found in theirs]
    for a, b in zip(chain(*ours), chain(*theirs), strict=True):
        assert a.confidence == pytest.approx(b.confidence, abs=1e-4)
    off = OnnxNER.from_pretrained(graph, verifier=False)
    assert off.predict(OTHERS) == NestedNER.from_pretrained(model, verifier=False).predict(OTHERS)


@pytest.mark.slow
def test_a_graph_without_its_judge_is_refused(graph: Path, tmp_path: Path) -> None:
    copy_model(graph, tmp_path / "copy")
    (tmp_path / "copy" / SPAN_GRAPH).unlink()
    with pytest.raises(InputError, match=r"spans\.onnx is missing"):
        OnnxNER.from_pretrained(tmp_path / "copy")


def test_a_model_without_a_verifier_says_so(trained_model: Path) -> None:
    assert not NestedNER.from_pretrained(trained_model).settings.verifier
    with pytest.raises(SettingError, match="the model has no verifier; train one with verifier = true"):
        NestedNER.from_pretrained(trained_model, verifier=True)


def test_a_verification_without_a_head_is_refused(model: Path, trained_model: Path, tmp_path: Path) -> None:
    stored = json.loads((model / "nestag.json").read_text())
    copy_model(trained_model, tmp_path / "copy")
    change_settings(tmp_path / "copy", {"verifier": True, "verification": stored["verification"]})
    with pytest.raises(InputError, match="its span head scores 0 types and its vocabulary has 3; load it with"):
        NestedNER.from_pretrained(tmp_path / "copy")
    NestedNER.from_pretrained(tmp_path / "copy", verifier=False)


def test_a_recipe_needs_a_head_to_verify_with() -> None:
    with pytest.raises(SettingError, match="verifier is on and span_loss is 0"):
        quick("minilm", verifier=True)


def test_likely_entities_are_those_above_the_threshold(model: Path) -> None:
    sure = NestedNER.from_pretrained(model, return_candidates=True, threshold=0.6)(OTHERS)
    some = NestedNER.from_pretrained(model, return_candidates=True, threshold=0.05)(OTHERS)
    assert all(one.confidence >= 0.6 for found in sure for one in found)
    assert sum(map(len, some)) > sum(map(len, sure))
    assert [[one for one in found if one.confidence >= 0.6] for found in some] == [list(found) for found in sure]


def test_the_commands_can_switch_it_off(model: Path, tmp_path: Path) -> None:
    jsonl.write([Sentence(tokens) for tokens in OTHERS], tmp_path / "in.jsonl")
    found = {}
    for name, more in (("on", []), ("off", ["--no-verifier"])):
        done = CliRunner().invoke(
            app, ["predict", str(model), str(tmp_path / "in.jsonl"), "-o", str(tmp_path / f"{name}.jsonl"), *more]
        )
        assert done.exit_code == 0, done.stderr
        found[name] = [one.entities for one in jsonl.read(tmp_path / f"{name}.jsonl")]
    assert found["on"] == NestedNER.from_pretrained(model).predict(OTHERS)
    assert found["off"] == NestedNER.from_pretrained(model, verifier=False).predict(OTHERS)


def test_dropout_is_off_while_spans_are_judged(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    wanted = ner(OTHERS)
    ner.model.train(True)
    assert ner(OTHERS) == wanted
    assert ner.model.spans is not None
    assert ner.model.spans.training
    assert not torch.is_grad_enabled() or ner.model.spans.types.weight.requires_grad
