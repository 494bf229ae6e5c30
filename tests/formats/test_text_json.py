"""JSON of texts: variants and errors of doccano, Prodigy and spaCy 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nestag.data.document import sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.registry import format_named, format_of
from raw_texts import LINES, read_all, read_documents, saved, spans_of

pytest.importorskip("spacy")


def test_doccano_reads_both_forms(tmp_path: Path) -> None:
    lines = [
        '{"id": 7, "text": "the USA", "label": [[0, 7, "GPE"], [4, 7, "GPE"]], "Comments": []}',
        '{"id": 8, "text": "a b", "entities": [{"id": 3, "label": "X Y", "start_offset": 2, "end_offset": 3}],'
        ' "relations": [{"id": 1, "from_id": 3, "to_id": 3, "type": "r"}]}',
        "",
        '{"text": "c", "labels": [[0, 1, "Z"]]}',
        '{"id": "k", "text": "d"}',
    ]
    found, report = read_documents(format_named("doccano"), saved(tmp_path, "admin.jsonl", "\n".join(lines)))
    assert [document.id for document in found] == ["7", "8", "admin:4", "k"]
    assert spans_of(found[0]) == [(0, 7, "GPE"), (4, 7, "GPE")]
    assert [document.spans for document in found[1:]] == [((2, 3, "X Y"),), ((0, 1, "Z"),), ()]
    assert report.counts == {"relation dropped": 1}


def test_doccano_offsets_are_utf16_units(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", '{"id": 1, "text": "😀 Bob 👍 Al", "label": [[3, 6, "P"], [10, 12, "P"]]}')
    (document,), report = read_documents(format_named("doccano"), path)
    assert [document.text[start:end] for start, end, _ in document.spans] == ["Bob", "Al"]
    assert report.counts == {"text whose offsets were read as UTF-16 units": 1}
    format_named("doccano").write(sentences_of(document, LINES, Report()), tmp_path / "y.jsonl")
    assert json.loads((tmp_path / "y.jsonl").read_text())["label"] == [[3, 6, "P"], [10, 12, "P"]]


def test_doccano_reads_older_versions_and_lists(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "data": "the USA", "label": [[4, 7, "GPE"]]}',
        '{"id": 2, "data": "Bob", "labels": [[0, 3, "PER"]], "user": 1}',
    ]
    for content in ("\n".join(lines), f"[{','.join(lines)}]"):
        path = saved(tmp_path, "x.json", content)
        assert format_of(path).name == "doccano"
        found, _ = read_documents(format_named("doccano"), path)
        assert [(d.text, spans_of(d)) for d in found] == [("the USA", [(4, 7, "GPE")]), ("Bob", [(0, 3, "PER")])]


def test_doccano_is_detected_by_a_long_first_record(tmp_path: Path) -> None:
    long = json.dumps({"id": 1, "text": "word " * 50_000, "label": [[0, 4, "W"]]})
    assert format_of(saved(tmp_path, "x.jsonl", f"{long}\n{long}\n")).name == "doccano"
    longer = json.dumps({"id": 1, "text": "word " * 500_000, "label": [[0, 4, "W"]]})
    assert format_of(saved(tmp_path, "y.jsonl", longer)).name == "doccano"


def test_doccano_skips_bad_lines(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", '{"text": "a"\n7\n{"text": "b", "label": [[0, 9, "X"]]}\n{"text": "c"}\n')
    found, report = read_documents(format_named("doccano"), path, Options("whitespace", skip_bad=True))
    assert [document.text for document in found] == ["c"]
    assert [finding.place for finding in report.findings] == [f"{path}:1", f"{path}:2", f"{path}:3"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "1 is not an object"),
        ("9" * 5000, "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"text": 1}', "'text' is 1; make it a string"),
        ('{"label": []}', "'text' is missing"),
        ('{"text": "\\ud83d"}', "half of a character"),
        ('{"text": "a", "id": "\\ud83d"}', "half of a character"),
        ('{"text": "a", "id": 1.5}', "'id' is 1.5"),
        ('{"text": "a", "label": ["positive"]}', "is not \\["),
        ('{"text": "a", "label": "positive"}', "'label' is 'positive'"),
        ('{"text": "a", "label": [[0, 1, 7]]}', "'label' is 7; make it a string"),
        ('{"text": "a", "label": [[0, 1, ""]]}', "'label' is empty"),
        ('{"text": "a", "label": [[0, 1.0, "X"]]}', "'end_offset' is 1.0; make it an integer"),
        ('{"text": "a", "label": [[true, 1, "X"]]}', "'start_offset' is True"),
        ('{"text": "a", "label": [[0, 9, "X"]]}', "not inside the text of 1 characters"),
        ('{"text": "😀", "label": [[0, 1, "X"]]}', "inside a character"),
        ('{"text": "a", "relations": 1}', "'relations' is 1; make it a list of objects"),
    ],
)
def test_doccano_errors_name_the_line(line: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", f'{{"text": "fine"}}\n{line}\n')
    with pytest.raises(InputError, match=message) as error:
        read_all(format_named("doccano"), path)
    assert str(error.value).startswith(f"{path}:2: ")


def example(**fields: Any) -> str:
    return json.dumps({"text": "Go to NYC.\n", "spans": [{"start": 6, "end": 9, "label": "GPE"}]} | fields) + "\n"


def test_prodigy_uses_given_tokens(tmp_path: Path) -> None:
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


def test_prodigy_skips_rejected_examples(tmp_path: Path) -> None:
    answers = "".join(example(answer=answer) for answer in ("reject", "accept", "ignore"))
    path = saved(tmp_path, "x.jsonl", answers + example(relations=[{"head": 1}]))
    sentences, report = read_all(format_named("prodigy"), path, Options())
    assert len(sentences) == 2
    assert report.counts == {"rejected or ignored example dropped": 2, "relation dropped": 1}


def test_prodigy_is_detected_without_spans_in_the_first_records(tmp_path: Path) -> None:
    marks = {"_input_hash": 1, "_task_hash": 2, "_view_id": "ner_manual"}
    plain = json.dumps({"text": "Nothing.", "answer": "accept"} | marks) + "\n"
    null = json.dumps({"text": "Nothing.", "spans": None, "answer": "accept"}) + "\n"
    path = saved(tmp_path, "x.jsonl", plain * 3 + null + example(answer="accept", **marks) + example(answer="reject"))
    assert format_of(path).name == "prodigy"
    sentences, report = read_all(format_named("prodigy"), path)
    assert [len(sentence.entities) for sentence in sentences] == [0, 0, 0, 0, 1]
    assert report.counts["rejected or ignored example dropped"] == 1


def test_prodigy_output_has_the_expected_fields(tmp_path: Path) -> None:
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


def test_prodigy_fills_text_between_tokens(tmp_path: Path) -> None:
    tokens = [{"start": 0, "end": 2}, {"start": 1, "end": 5}, {"start": 6, "end": 9}, {"start": 6, "end": 6}]
    (sentence,), report = read_all(format_named("prodigy"), saved(tmp_path, "x.jsonl", example(tokens=tokens)))
    assert sentence.tokens == ("Go", "to", "NYC", ".")
    assert report.counts == {
        "text without a token made a token": 2,
        "token dropped because it is empty, overlaps another or is outside": 2,
    }


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
def test_spacy_training_pairs_are_read(content: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", content)
    assert format_of(path).name == "spacy2"
    found, report = read_documents(format_named("spacy2"), path)
    assert [(document.id, spans_of(document)) for document in found] == [
        ("x:1", [(0, 7, "GPE"), (4, 7, "NAME")]),
        ("x:2", []),
    ]
    assert not report.counts


def test_documents_with_paragraphs_and_tokens_are_read(tmp_path: Path) -> None:
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
    ("value", "message"),
    [
        (["a", 1], "is not an example"),
        ([1, {"entities": []}], "'text' is 1"),
        (["a", {"entities": 1}], "'entities' is 1"),
        (["a", {"entities": [[0, 1]]}], "is not \\["),
        (["a", {"entities": [[0, 9, "X"]]}], "not inside the text"),
        ({"paragraphs": [{"sentences": [{"tokens": [{"orth": "a", "ner": "PER"}]}]}]}, "'ner' is 'PER'"),
    ],
)
def test_bad_examples_are_named_or_skipped(value: Any, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", f"[{json.dumps(PAIRS[1])},\n{json.dumps(value)}]")
    with pytest.raises(InputError, match=rf"x\.json:2: .*{message}"):
        read_all(format_named("spacy2"), path)
    found, report = read_all(format_named("spacy2"), path, Options("whitespace", skip_bad=True))
    assert (len(found), report.counts["bad record skipped"]) == (1, 1)


def test_lost_document_names_are_counted(tmp_path: Path) -> None:
    report = Report()
    format_named("spacy2").write([Sentence(["a"], [Entity(0, 1, "X")], "d-1")], tmp_path / "x.json", report=report)
    assert json.loads((tmp_path / "x.json").read_text()) == [["a\n", {"entities": [[0, 1, "X"]]}]]
    assert report.counts == {"name of a document dropped": 1}
