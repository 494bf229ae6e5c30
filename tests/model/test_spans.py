"""A span grid in a model: trained, saved, exported, switched off."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Sentence
from nestag.errors import InputError, SettingError
from nestag.evaluation import score
from nestag.formats import jsonl
from nestag.model.engine import Item
from nestag.model.model_folder import change_settings, copy_model
from nestag.model.onnx_export import export
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.recognizer import NestedNER
from nestag.training.calibration import THRESHOLDS, calibrate, smooth
from nestag.training.run import train
from two_sentences import CORPUS, GOLD, MANY, quick


@pytest.fixture(scope="module")
def model(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verified") / "model"
    recipe = quick(tiny_encoder("bert"), span_loss=3.0, decoding="spans", span_width=4, shape_size=4, conv_size=8)
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


def test_span_grid_is_saved_and_used(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    assert ner.settings.decoding == "spans"
    assert ner.predict(CORPUS) == GOLD
    assert "spans.types.weight" in ner.model.state_dict()
    assert 0 < json.loads((model / "nestag.json").read_text())["span_threshold"] < 1


def test_without_the_grid_labels_are_used(model: Path, tmp_path: Path) -> None:
    off = NestedNER.from_pretrained(model, decoding="constrained")
    copy_model(model, tmp_path / "copy")
    change_settings(tmp_path / "copy", {"decoding": "constrained"})
    assert off(OTHERS) == NestedNER.from_pretrained(tmp_path / "copy")(OTHERS)
    assert off.scores(OTHERS).spans is None
    assert NestedNER.from_pretrained(model).predict(OTHERS) != off.predict(OTHERS)


def test_pure_tagger_is_saved_without_the_grid(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"), span_loss=1.0, steps=3)
    run = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert not any("spans" in name for name in run.recognizer.model.state_dict())
    with pytest.raises(InputError, match="no span grid"):
        NestedNER.from_pretrained(tmp_path / "model", decoding="spans")


def test_grid_scores_do_not_depend_on_batches_and_chunks(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    whole = ner(OTHERS)
    for batch_subwords, chunk_size in ((64, 3), (200, 1), (4_096, 7)):
        ner.settings = replace(ner.settings, batch_subwords=batch_subwords)
        chunks = ner.engine(chunk_size).run(map(Item, OTHERS))
        predicted = [entities for chunk in chunks for entities in chunk.table.to_lists()]
        assert predicted == [tuple(entity.entity for entity in entities) for entities in whole]
        alone = [entities for sentence in OTHERS for entities in ner([sentence])]
        pairs = [
            (a.confidence, b.confidence) for x, y in zip(alone, whole, strict=True) for a, b in zip(x, y, strict=True)
        ]
        assert all(a == pytest.approx(b, abs=1e-5) for a, b in pairs)


def test_spans_of_long_sentences_use_several_windows(model: Path) -> None:
    ner = NestedNER.from_pretrained(model, max_length=32)
    long = [[*CORPUS[0].tokens, *CORPUS[1].tokens] * 4]
    assert any(ner.predict(long))


@pytest.mark.slow
def test_graph_finds_the_same_spans(model: Path, graph: Path) -> None:
    ner, plain = NestedNER.from_pretrained(model), OnnxNER.from_pretrained(graph)
    ours, theirs = ner(OTHERS), plain(OTHERS)
    assert [[e.entity for e in entities] for entities in ours] == [[e.entity for e in entities] for entities in theirs]
    for a, b in zip(chain(*ours), chain(*theirs), strict=True):
        assert a.confidence == pytest.approx(b.confidence, abs=1e-4)
    off = OnnxNER.from_pretrained(graph, decoding="constrained")
    assert off.predict(OTHERS) == NestedNER.from_pretrained(model, decoding="constrained").predict(OTHERS)


def test_decoding_spans_needs_a_span_loss() -> None:
    with pytest.raises(SettingError, match="span_loss is 0"):
        quick("minilm", decoding="spans")


def test_candidates_are_all_spans_above_the_threshold(model: Path) -> None:
    sure = NestedNER.from_pretrained(model, return_candidates=True, threshold=0.6)(OTHERS)
    some = NestedNER.from_pretrained(model, return_candidates=True, threshold=0.05)(OTHERS)
    assert all(entity.confidence >= 0.6 for entities in sure for entity in entities)
    assert sum(map(len, some)) > sum(map(len, sure))
    assert [[entity for entity in entities if entity.confidence >= 0.6] for entities in some] == list(map(list, sure))


def test_predict_has_an_option_for_decoding(model: Path, tmp_path: Path) -> None:
    jsonl.write([Sentence(tokens) for tokens in OTHERS], tmp_path / "in.jsonl")
    for decoding in ("spans", "constrained"):
        out = tmp_path / f"{decoding}.jsonl"
        arguments = ["predict", str(model), str(tmp_path / "in.jsonl"), "-o", str(out), "--decoding", decoding]
        assert CliRunner().invoke(app, arguments).exit_code == 0
        expected = NestedNER.from_pretrained(model, decoding=decoding).predict(OTHERS)
        assert [sentence.entities for sentence in jsonl.read(out)] == expected


def test_dropout_is_off_in_prediction(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    expected = ner(OTHERS)
    ner.model.train(True)
    assert ner(OTHERS) == expected
    assert ner.model.spans is not None
    assert ner.model.spans.training


def test_span_threshold_has_the_best_smoothed_f1(model: Path) -> None:
    ner = NestedNER.from_pretrained(model)
    rng = np.random.default_rng(3)
    predicted = ner.predict(OTHERS)
    dev = [
        Sentence(tokens, [entity for entity in entities if rng.random() < 0.5])
        for tokens, entities in zip(OTHERS, predicted, strict=True)
    ]
    settings = calibrate(ner, dev)
    gold = [sentence.entities for sentence in dev]

    def f1(threshold: float) -> float:
        ner.settings = replace(settings, span_threshold=threshold)
        return score(gold, ner.predict(dev)).f1

    values = [f1(threshold) for threshold in THRESHOLDS]
    assert len(set(values)) > 1
    means = smooth(values)
    assert means[THRESHOLDS.index(settings.span_threshold)] == pytest.approx(means.max())
