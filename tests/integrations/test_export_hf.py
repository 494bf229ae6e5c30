"""The folder for Hugging Face datasets, and predictions as JSON Lines."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.encodings import decode, encoding
from nestag.encodings.notation import write_chain
from nestag.formats import jsonl
from nestag.integrations.export import read_export

LINCOLN = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, 'P"E\\R'), Entity(2, 6, "Größe: \x7f\U0001f600"), Entity(4, 6, "a|b c")],
)
NEW = Sentence(["Ada", "slept"], [Entity(0, 1, "NEW")])


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    jsonl.write([LINCOLN], tmp_path / "train.jsonl")
    jsonl.write([LINCOLN, NEW], tmp_path / "dev.jsonl")
    made = run("hf", tmp_path / "out", "--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl")
    assert made.exit_code == 0, made.output
    return tmp_path / "out"


def back(out: Path, corpus: str, *rows: object) -> Result:
    lines = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    (out.parent / "predicted.jsonl").write_text(lines, "utf-8")
    file, result = out.parent / "predicted.jsonl", out.parent / "back.jsonl"
    return run("back", out, out.parent / corpus, file, "-o", result)


def test_datasets_opens_the_folder_with_class_names(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    corpus = datasets.load_dataset(str(out), cache_dir=str(out.parent / "cache"))
    assert {split: rows.num_rows for split, rows in corpus.items()} == {"train": 1, "validation": 2}
    features = corpus["train"].features
    row: dict[str, Any] = corpus["train"][0]
    assert row["tokens"] == list(LINCOLN.tokens)
    names = {head: features[head].feature.int2str(row[head]) for head in ("n", "c", "u", "ner_tags")}
    assert names["n"] == ["1", "0", "1", "0", "1", "-2"]
    assert names["u"][0] == write_chain((LINCOLN.entities[0].type,))
    assert names["ner_tags"][1] == "0|S|-"
    export = read_export(out)
    by = encoding("rel")
    assert tuple(features["n"].feature.names) == tuple(map(by.write_n, export.vocabulary.n))
    read = export.vocabulary.labels(
        type(export.vocabulary.ids([]))(*(corpus["validation"][0][head] for head in ("n", "c", "u")))
    )
    assert decode(read, "rel") == LINCOLN.entities
    assert corpus["validation"][1]["u"] == [-100, features["u"].feature.str2int("-")]


def test_predictions_as_ids_or_labels_are_read(out: Path) -> None:
    rows = [json.loads(line) for line in (out / "data" / "train.jsonl").read_text("utf-8").splitlines()]
    export = read_export(out)
    three = {head: rows[0][head] for head in ("n", "c", "u")}
    texts = {**three, "n": [encoding("rel").write_n(export.vocabulary.n[number]) for number in rows[0]["n"]]}
    one = {"tokens": LINCOLN.tokens, "ner_tags": rows[0]["ner_tags"]}
    named = {"ner_tags": [export.target.ner_tags[number] for number in rows[0]["ner_tags"]]}  # type: ignore[attr-defined]
    for predictions in (three, texts, one, named):
        told = back(out, "train.jsonl", predictions)
        assert told.exit_code == 0, told.output
        assert list(jsonl.read(out.parent / "back.jsonl")) == [LINCOLN]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "not a line of predictions"),
        ([1], "it holds list, not an object"),
        ({"n": [0] * 6, "c": [0] * 6}, "u is 'None'; make it a list"),
        ({"n": [0] * 6, "c": [0] * 6, "u": [0] * 5}, "n, c and u have 6, 6, 5 values"),
        ({"n": [0] * 6, "c": [0] * 6, "u": [0] * 6, "ner_tags": [0] * 6}, "either n, c and u or ner_tags"),
        ({"tokens": []}, "either n, c and u or ner_tags"),
        ({"ner_tags": [0, 0, 0, 0, 0, -100]}, "ner_tags is -100; it takes a label, or its number from 0 to 5"),
        ({"ner_tags": [0, 0, 0, 0, 0, 6]}, "ner_tags is 6;"),
        ({"ner_tags": [True] * 6}, "ner_tags is True;"),
        ({"ner_tags": [0.0] * 6}, "ner_tags is 0.0;"),
        ({"ner_tags": ["O"] * 6}, "'O' is not a joint label"),
        ({"ner_tags": ["1|S|NEW"] * 6}, "u is 'NEW', which no label of train has"),
    ],
)
def test_invalid_prediction_names_its_line(out: Path, row: object, reason: str) -> None:
    told = back(out, "train.jsonl", "", row)
    assert told.exit_code == 2
    assert f"{out.parent / 'predicted.jsonl'}:2: " in told.output
    assert reason in told.output
    assert not (out.parent / "back.jsonl").exists()
