"""Overfit two sentences, save, load, and predict the same; long, odd and empty input."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.model.engine import Chunk, Item, chunks
from nestag.model.predictor import item_of
from nestag.model.recognizer import NestedNER
from nestag.training.run import train
from strategies import ENCODINGS
from two_sentences import CORPUS, GOLD, MANY, quick


@pytest.fixture(scope="module")
def trained_in(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Trains a recognizer in an encoding until it knows the two sentences by heart."""

    def train_in(encoding: str) -> Path:
        folder = tmp_path_factory.mktemp("models") / encoding
        more = {"shape_size": 4, "conv_size": 8, "ema_decay": 0.5} if encoding == "rel" else {}
        run = train(MANY, CORPUS, folder, quick(tiny_encoder("bert"), encoding=encoding, **more), use_cpu=True)
        assert run.dev.f1 == 1.0, encoding
        assert run.recognizer.predict(CORPUS) == GOLD
        return folder

    return train_in


@pytest.fixture(scope="module")
def trained(trained_in: Callable[[str], Path]) -> Path:
    return trained_in("rel")


PREDICT = """
import json, sys
from nestag.model.recognizer import NestedNER
words, *folders = map(json.loads, sys.argv[1:])
predicted = {}
for folder in folders:
    for decoding in ("constrained", "greedy"):
        predicted[folder + decoding] = NestedNER.from_pretrained(folder, "cpu", decoding=decoding).predict(words)
print(json.dumps(predicted))
"""


@pytest.mark.slow
def test_reloaded_models_predict_the_same_in_another_process(trained_in: Callable[[str], Path]) -> None:
    models = {encoding: trained_in(encoding) for encoding in ENCODINGS}
    words = [sentence.tokens for sentence in CORPUS]
    arguments = [json.dumps(value) for value in (words, *map(str, models.values()))]
    fresh = subprocess.run([sys.executable, "-c", PREDICT, *arguments], capture_output=True, text=True, check=True)
    assert "model of type" not in fresh.stderr  # transformers' notice of a problem that there is not
    predicted = json.loads(fresh.stdout)
    for folder in models.values():
        for decoding in ("constrained", "greedy"):
            here = NestedNER.from_pretrained(folder, "cpu", decoding=decoding).predict(words)
            assert predicted[f"{folder}{decoding}"] == json.loads(json.dumps(here)), (folder, decoding)
        assert predicted[f"{folder}constrained"] == json.loads(json.dumps(GOLD))
        files = {path.name for path in folder.rglob("*")}
        assert "model.safetensors" in files
        assert not any(name.endswith((".bin", ".pt", ".pth", ".pkl")) for name in files)


def test_predictions_do_not_depend_on_batches_and_order(trained: Path) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    many = [CORPUS[i % 2].tokens[: 1 + i % 6] for i in range(60)] + [["usa"] * 90]
    together = recognizer.predict(many)
    small = NestedNER.from_pretrained(trained, "cpu", batch_subwords=1)
    assert small.predict(many) == together
    assert recognizer.predict(reversed(many)) == together[::-1]
    assert [recognizer.predict([sentence])[0] for sentence in many] == together


def test_chunks_and_batches_do_not_change_entities(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    """With context too: neighbours are seen or not by the document, never by where a chunk ends."""
    recipe = quick(tiny_encoder("bert"), steps=8, context=40)
    recognizer = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True).recognizer
    many = [
        Sentence(CORPUS[i % 2].tokens[: i % 7], id=f"{'ab'[i > 15]}-{i}") if i % 9 else Sentence(["the", "usa"])
        for i in range(30)
    ]
    items = [item_of(sentence) for sentence in many]

    def scores(chunk_size: int) -> list[np.ndarray]:
        engine = recognizer.engine(chunk_size)
        parts = [engine.score(engine.lay_out(chunk)) for chunk in chunks(items, chunk_size, 40)]
        return [np.concatenate([part[head] for part in parts]) for head in range(3)]

    def check(chunk_size: int) -> None:
        for one, other in zip(whole, scores(chunk_size), strict=True):
            assert np.allclose(one, other, atol=1e-4), chunk_size
        streamed = [tuple(entity.entity for entity in entities) for entities in recognizer.pipe(many, chunk_size)]
        assert streamed == predicted, chunk_size

    whole, predicted = scores(30), recognizer.predict(many)
    for chunk_size in (1, 2, 3, 4, 5, 7, 8, 13, 15, 16, 29):
        check(chunk_size)
    for batch_subwords in (1, 50, 200):
        recognizer.settings = replace(recognizer.settings, batch_subwords=batch_subwords)
        check(30)
        check(7)
    without = recognizer.scores([sentence.tokens for sentence in many])[:3]
    assert not any(np.allclose(one, other, atol=1e-4) for one, other in zip(whole, without, strict=True))  # it matters


def test_word_in_two_windows_gets_the_same_scores(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    """Above the encoder, only the words that are wanted are computed, and those that convolutions look at."""
    recipe = quick(tiny_encoder("bert"), steps=2, conv_size=12, conv_layers=1)
    recognizer = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True).recognizer
    engine, chunk = recognizer.engine(), Chunk([Item(list(CORPUS[0].tokens) * 40)], 0, 1)
    narrow = engine.lay_out(chunk)
    assert engine.scorer.reach == 1
    scores = engine.score(narrow)
    engine.scorer.reach = None
    whole = engine.lay_out(chunk)
    windows = narrow.layout.windows, whole.layout.windows
    assert len(windows[0]) > 3
    assert sum(windows[0].last - windows[0].first) < sum(windows[1].last - windows[1].first)
    for one, other in zip(scores[:3], engine.score(whole)[:3], strict=True):
        assert np.allclose(one, other, atol=1e-5)
    engine.scorer.reach = 0  # too little is seen
    changed = engine.score(engine.lay_out(chunk))
    assert not np.allclose(scores[0], changed[0], atol=1e-5)


def test_sentence_of_five_thousand_words_is_tagged(trained: Path) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    words = list(CORPUS[0].tokens) * 720
    n, c, u = recognizer.scores([words])[:3]
    assert len(n) == len(c) == len(u) == 5_040
    assert all((head < 0).any(axis=-1).all() for head in (n, c, u))  # log-probabilities of every word
    (entities,) = recognizer.predict([words])
    assert len({entity.start // 7 for entity in entities}) == 720  # something in every repetition


def test_unusual_words_are_scored(trained: Path) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    odd = ["\u200b", "漢", "\x00", "🙂", "e\u0301", " ", "a" * 1_000]
    scores = recognizer.scores([odd])[:3]
    assert [len(part) for part in scores] == [7, 7, 7]
    assert all((part.sum(-1) != 0).all() for part in scores)
    assert len(recognizer.predict([odd, [], ["x"]])) == 3
    assert recognizer.predict([]) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\n\n",
        "\x00",
        "🙂 lincoln\r\nwas e\u0301 president of\tthe usa .\u200b",
        "lincoln\u00a0was. " * 50,
        "of" * 9_000,
    ],
)
def test_text_offsets_are_exact(trained: Path, text: str) -> None:
    for entity in NestedNER.from_pretrained(trained, "cpu")(text):
        assert text[entity.start : entity.end] == entity.text
        assert entity.text.strip() == entity.text != ""
        assert 0 <= entity.confidence <= 1


def test_text_and_tokens_give_the_same_entities(trained: Path) -> None:
    entities = NestedNER.from_pretrained(trained, "cpu")("  lincoln was president of the usa.\n")
    assert [(entity.text, entity.type) for entity in entities] == [
        ("lincoln", "PER"),
        ("president of the usa", "PER"),
        ("the usa", "GPE"),
    ]


def test_thresholds_drop_entities(trained: Path) -> None:
    sure = NestedNER.from_pretrained(trained, "cpu")(CORPUS)
    assert [tuple(entity.entity for entity in entities) for entities in sure] == GOLD
    assert all(entity.confidence > 0.3 for entities in sure for entity in entities)
    without = NestedNER.from_pretrained(trained, "cpu", thresholds={"GPE": 1.0})
    assert without.predict(CORPUS) == [tuple(e for e in gold if e.type != "GPE") for gold in GOLD]
    assert NestedNER.from_pretrained(trained, "cpu", threshold=1.0).predict(CORPUS) == [(), ()]


def test_context_is_used_and_not_labelled(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"), context=60, early_stopping_patience=8, epochs=30, batch_subwords=256)
    run = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert run.dev.f1 == 1.0
    alone = [run.recognizer.predict([sentence])[0] for sentence in CORPUS]
    assert len(alone) == 2


def test_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no manifest\.json"):
        NestedNER.from_pretrained(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        NestedNER.from_pretrained(tmp_path / "missing")


def test_call_returns_the_same_for_text_and_tokens(trained: Path) -> None:
    ner = NestedNER.from_pretrained(trained, "cpu")
    text = "lincoln was president of the usa."

    def plain(entities: list[Any]) -> list[tuple[Any, ...]]:
        """Without confidences, whose last digits depend on what is computed together."""
        return [(*entity[:4], *entity[5:]) for entity in entities]

    expected = plain(ner(text))
    assert expected[0] == (0, 7, "PER", "lincoln", 0, 1)
    assert [plain(entities) for entities in ner([text, "", text])] == [expected, [], expected]
    assert [plain(entities) for entities in ner.pipe(iter([text] * 5), batch_size=2)] == [expected] * 5
    tokens = plain(ner(CORPUS[0]))
    assert [entity.entity for entity in ner(CORPUS[0])] == list(GOLD[0])
    assert [entity[:4] for entity in tokens] == [entity[:4] for entity in expected]
    assert tokens == plain(ner([CORPUS[0]])[0]) == plain(ner([list(CORPUS[0].tokens)])[0])
    assert ner([]) == []


def test_missing_device_is_refused(trained: Path) -> None:
    with pytest.raises(LookupError, match="the device 'cuda:7' cannot be used"):
        NestedNER.from_pretrained(trained, "cuda:7")
