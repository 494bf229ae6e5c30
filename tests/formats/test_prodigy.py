"""Prodigy's JSON Lines: its tokens, and what was not accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.formats.registry import format_named, format_of
from raw_texts import read_all, saved

pytest.importorskip("spacy")


def example(**fields: Any) -> str:
    return json.dumps({"text": "Go to NYC.\n", "spans": [{"start": 6, "end": 9, "label": "GPE"}]} | fields) + "\n"


def test_prodigy_takes_the_tokens_that_are_there(tmp_path: Path) -> None:
    places = [(0, 2), (3, 5), (6, 7), (7, 9), (9, 10), (10, 11)]
    tokens = [{"text": "?", "start": a, "end": b, "id": n, "ws": False} for n, (a, b) in enumerate(places)]
    path = saved(tmp_path, "x.jsonl", example(tokens=tokens, answer="accept", meta={"id": 5}) + example())
    (own, found), report = read_all(format_named("prodigy"), path, Options())
    assert own.tokens == ("Go", "to", "N", "YC", ".")
    assert own.entities == (Entity(2, 4, "GPE"),)
    assert own.origin
    assert own.origin.document == "5"
    assert found.tokens == ("Go", "to", "NYC", ".")
    assert found.id == "x:2-1"
    assert not report.counts


def test_prodigy_sets_aside_what_was_not_accepted(tmp_path: Path) -> None:
    answers = "".join(example(answer=answer) for answer in ("reject", "accept", "ignore"))
    path = saved(tmp_path, "x.jsonl", answers + example(relations=[{"head": 1}]))
    sentences, report = read_all(format_named("prodigy"), path, Options())
    assert len(sentences) == 2
    assert report.counts == {"rejected or ignored example dropped": 2, "relation dropped": 1}


def test_prodigy_whose_first_records_have_no_spans(tmp_path: Path) -> None:
    marks = {"_input_hash": 1, "_task_hash": 2, "_view_id": "ner_manual"}
    plain = json.dumps({"text": "Nothing.", "answer": "accept"} | marks) + "\n"
    null = json.dumps({"text": "Nothing.", "spans": None, "answer": "accept"}) + "\n"
    path = saved(tmp_path, "x.jsonl", plain * 3 + null + example(answer="accept", **marks) + example(answer="reject"))
    assert format_of(path).name == "prodigy"
    sentences, report = read_all(format_named("prodigy"), path)
    assert [len(sentence.entities) for sentence in sentences] == [0, 0, 0, 0, 1]
    assert report.counts["rejected or ignored example dropped"] == 1


def test_prodigy_writes_what_it_is_known_for(tmp_path: Path) -> None:
    format_named("prodigy").write([Sentence(["the", "US A", "."], [Entity(0, 2, "GPE")], "d-1")], tmp_path / "x.jsonl")
    record = json.loads((tmp_path / "x.jsonl").read_text())
    assert record["text"] == "the US A .\n"
    assert [(t["text"], t["start"], t["end"], t["id"], t["ws"]) for t in record["tokens"]] == [
        ("the", 0, 3, 0, True),
        ("US A", 4, 8, 1, True),
        (".", 9, 10, 2, False),
        ("\n", 10, 11, 3, False),
    ]
    assert record["spans"] == [{"start": 0, "end": 8, "label": "GPE", "token_start": 0, "token_end": 1}]
    assert record["answer"] == "accept"


def test_prodigy_tokens_that_leave_text_out_are_filled(tmp_path: Path) -> None:
    tokens = [{"start": 0, "end": 2}, {"start": 1, "end": 5}, {"start": 6, "end": 9}, {"start": 6, "end": 6}]
    (sentence,), report = read_all(format_named("prodigy"), saved(tmp_path, "x.jsonl", example(tokens=tokens)))
    assert sentence.tokens == ("Go", "to", "NYC", ".")
    assert report.counts == {
        "text without a token made a token": 2,
        "token left out because it is empty, overlaps another or is outside": 2,
    }
