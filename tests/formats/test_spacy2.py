"""spaCy 2's training data, in each way in which it is handed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.registry import format_named, format_of
from raw_texts import read_all, read_documents, saved, spans_of

PAIRS: list[Any] = [["the USA won", {"entities": [[0, 7, "GPE"], [4, 7, "NAME"]]}], ["it rained", {"entities": []}]]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(PAIRS),
        json.dumps(PAIRS, indent=2),
        "\n".join(map(json.dumps, PAIRS)),
        json.dumps({"classes": ["GPE", "NAME"], "annotations": [PAIRS[0], None, PAIRS[1]]}),
    ],
)
def test_pairs_of_text_and_entities(content: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", content)
    assert format_of(path).name == "spacy2"
    found, report = read_documents(format_named("spacy2"), path)
    assert [(document.id, spans_of(document)) for document in found] == [
        ("x:1", [(0, 7, "GPE"), (4, 7, "NAME")]),
        ("x:2", []),
    ]
    assert not report.counts


def test_documents_of_paragraphs_and_tokens(tmp_path: Path) -> None:
    tokens = [
        {"id": 0, "orth": "New", "tag": "NNP", "ner": "B-GPE"},
        {"id": 1, "orth": "York", "tag": "NNP", "ner": "L-GPE"},
        {"id": 2, "orth": "won", "tag": "VBD", "ner": "-"},
    ]
    document = {"id": 4, "paragraphs": [{"raw": "New York won", "sentences": [{"tokens": tokens, "brackets": []}]}]}
    path = saved(tmp_path, "x.json", json.dumps([document]))
    assert format_of(path).name == "spacy2"
    found, report = read_all(format_named("spacy2"), path)
    assert found == [Sentence(["New", "York", "won"], [Entity(0, 2, "GPE")], "4-1")]
    assert report.counts == {"token without a tag read as O": 1}


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (["a", 1], "is not an example"),
        ([1, {"entities": []}], "'text' is 1"),
        (["a", {"entities": 1}], "'entities' is 1"),
        (["a", {"entities": [[0, 1]]}], "is not \\["),
        (["a", {"entities": [[0, 9, "X"]]}], "not inside the text"),
        ({"paragraphs": [{"sentences": [{"tokens": [{"orth": "a", "ner": "PER"}]}]}]}, "'ner' is 'PER'"),
    ],
)
def test_what_is_wrong_is_said_and_can_be_skipped(example: Any, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", f"[{json.dumps(PAIRS[1])},\n{json.dumps(example)}]")
    with pytest.raises(InputError, match=rf"x\.json:2: .*{message}"):
        read_all(format_named("spacy2"), path)
    found, report = read_all(format_named("spacy2"), path, Options("whitespace", skip_bad=True))
    assert (len(found), report.counts["bad record skipped"]) == (1, 1)


def test_names_of_documents_that_are_lost_are_counted(tmp_path: Path) -> None:
    report = Report()
    format_named("spacy2").write([Sentence(["a"], [Entity(0, 1, "X")], "d-1")], tmp_path / "x.json", report=report)
    assert json.loads((tmp_path / "x.json").read_text()) == [["a\n", {"entities": [[0, 1, "X"]]}]]
    assert report.counts == {"name of a document dropped": 1}
