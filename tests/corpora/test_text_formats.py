"""Formats of raw text: what is written comes back, real exports are read, and nothing is lost in silence."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nestag.corpora import characters, records, registry, xmi
from nestag.corpora.characters import read_text
from nestag.corpora.document import Document, TextSpan, documents_of, sentences_of
from nestag.corpora.folders import document_name, file_name
from nestag.corpora.format import Format, Options
from nestag.corpora.formats import brat, cas, docbin, doccano, labelstudio, prodigy, text
from nestag.corpora.report import Report
from nestag.corpora.utf16 import Utf16
from nestag.data import Entity, Sentence
from nestag.errors import DataError, InputError, UnknownNameError

pytest.importorskip("spacy")
pytest.importorskip("cassis")

LINES = Options("whitespace")
EXACT = Options("whitespace", boundaries="split")
PATHS = {
    "doccano": "x.doccano.jsonl",
    "prodigy": "x.prodigy.jsonl.gz",
    "labelstudio": "x.json",
    "brat": "pairs",
    "spacy": "x.spacy",
    "cas": "x.zip",
    "text": "x.txt",
}
ODD = "a bB.!?,-'\"\\\t\n\r\x0b\x1c\x7f\x85\u00a0\u00e9e\u0301\u200b\u200d\u2028\u2029\ufeff😀👨北京。<&>%;"
patient = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def raw_text_formats() -> list[Format]:
    return [entry for entry in registry.available().values() if entry.raw_text]


def read_all(entry: Format, path: Path, options: Options = LINES) -> tuple[list[Sentence], Report]:
    report = Report()
    return list(entry.read(path, options, report)), report


def read_documents(entry: Format, path: Path, options: Options = EXACT) -> tuple[list[Document], Report]:
    sentences, report = read_all(entry, path, options)
    return list(documents_of(sentences)), report


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def spans_of(document: Document) -> list[tuple[int, int, str]]:
    return sorted(tuple(span) for span in document.spans)  # type: ignore[misc]


# ------------------------------------------------------------------------------------------------ every format


@st.composite
def documents(draw: st.DrawFn, types: st.SearchStrategy[str], characters: st.SearchStrategy[str]) -> Document:
    content = draw(st.text(characters, max_size=50))
    places = st.integers(0, len(content))
    ends = draw(st.lists(st.tuples(places, places), max_size=6))
    spans = tuple(TextSpan(min(a, b), max(a, b), draw(types)) for a, b in ends if a != b)
    return Document(draw(st.text(st.sampled_from("ab/.:% 1é"), min_size=1, max_size=6)), content, spans)


def kept_by(entry: Format, data: st.DataObject) -> list[Document]:
    """Some documents that a format can hold."""
    plain = st.sampled_from(["PER", "+'-", "北", "a:b;c|d"])
    types = plain if entry.name == "brat" else st.one_of(plain, st.sampled_from(["a b", "x\ty\n", "\u2028"]))
    controls = "" if entry.name == "cas" else "\x00\x01\ufffe"
    legal = st.one_of(
        st.sampled_from(ODD.replace("\x0b", "").replace("\x1c", "") if entry.name == "cas" else ODD + controls),
        st.characters(exclude_categories=("Cs", "Cc", "Cn")),
    )
    return data.draw(st.lists(documents(types, legal), min_size=1, max_size=1 if entry.name == "text" else 3))


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
@patient
@given(data=st.data())
def test_what_is_written_is_read(entry: Format, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    given = kept_by(entry, data)
    sentences = [sentence for document in given for sentence in sentences_of(document, EXACT, Report())]
    expected = list(documents_of(sentences))
    path = tmp_path_factory.mktemp("x") / PATHS[entry.name]
    report = Report()
    assert entry.write
    entry.write(sentences, path, report=report)
    found, reading = read_documents(entry, path)
    if entry.name == "text":
        assert [document.text for document in found] == [document.text for document in expected]
        assert report.counts["entity not kept in plain text"] == sum(len(document.spans) for document in expected)
        return
    order = sorted if entry.name in ("brat", "cas") else list  # those read files by name
    assert order((d.text, spans_of(d)) for d in found) == order((d.text, spans_of(d)) for d in expected)  # type: ignore[operator]
    renamed = report.counts["document renamed because another has its name"]
    assert len({d.id for d in found} & {d.id for d in expected}) >= len({d.id for d in expected}) - renamed
    assert set(reading.counts) <= {
        "text whose offsets were taken as units of UTF-16",
        "token cut at a span's border",
        "sentences joined because a span covers both",
    }


@pytest.mark.parametrize("name", ["prodigy", "spacy", "cas"])
@pytest.mark.parametrize("tokenizer", ["spacy", "whitespace"])
def test_formats_with_tokens_keep_them(name: str, tokenizer: Any, tmp_path: Path) -> None:
    given = [
        Sentence(["New York", ",", "don't"], [Entity(0, 1, "GPE"), Entity(0, 3, "X")], "d-1"),
        Sentence(["it", "'s"], [Entity(1, 2, "X")], "d-2"),
        Sentence(["😀👍", "end"], [Entity(0, 2, "Y")], "e-1"),
    ]
    entry = registry.format_named(name)
    path = tmp_path / PATHS[name]
    assert entry.write
    entry.write(given, path)
    found, report = read_all(entry, path, Options(tokenizer))
    assert not report.counts
    if name == "prodigy" and tokenizer == "spacy":  # it has no sentences, and no full stop says where one ends
        assert [sentence.tokens for sentence in found] == [given[0].tokens + given[1].tokens, given[2].tokens]
    else:
        assert found == given


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_empty_and_blank_texts(entry: Format, tmp_path: Path) -> None:
    assert entry.write
    for number, content in enumerate(["", " \n\t ", "\ufeff", "\u200b"]):
        path = tmp_path / str(number) / PATHS[entry.name]
        path.parent.mkdir()
        entry.write(sentences_of(Document("d", content), LINES, Report()), path)
        assert [document.text for document in read_documents(entry, path)[0]] == [content]
    entry.write([], tmp_path / PATHS[entry.name])


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_writing_fails_as_a_whole(entry: Format, tmp_path: Path) -> None:
    def broken() -> Iterator[Sentence]:
        yield Sentence(["a"], [], "d-1")
        yield Sentence(["b"], [], "e-1")
        raise DataError("no more")

    assert entry.write
    with pytest.raises(DataError, match="no more"):
        entry.write(broken(), tmp_path / PATHS[entry.name])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_missing_files_are_named(entry: Format, tmp_path: Path) -> None:
    path = tmp_path / PATHS[entry.name].replace("pairs", "a.ann")
    with pytest.raises(InputError, match="there is no such file"):
        read_all(entry, path)


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"{", b"[", b"[{}]", b"PK\x03\x04", b"<a/>", b'{"text": 1}'])
def test_rubbish_is_refused_by_name(entry: Format, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / PATHS[entry.name].replace("pairs", "x.ann").removesuffix(".gz")
    path.write_bytes(content)
    path.with_suffix(".txt").write_bytes(content)
    if entry.name == "text" and content[0] < 128:
        return
    with pytest.raises(InputError, match=r"x\."):
        read_all(entry, path)


SAMPLES = {
    "doccano": '{"id": 1, "text": "the USA", "label": [[4, 7, "GPE"]]}',
    "doccano ": '{"text": "a \\"tokens\\": []", "entities": [{"label": "X", "start_offset": 0, "end_offset": 1}]}',
    "prodigy": '{"text": "the USA", "spans": [], "tokens": [], "answer": "accept"}',
    "labelstudio": '[{"id": 1, "data": {"text": "a"}, "annotations": []}]',
    "labelstudio ": '[\n  {"text": "a", "id": 1, "label": [], "annotator": 1, "annotation_id": 2}]',
    "brat": "T1\tPER 0 3\tBob\n",
    "cas": '<?xml version="1.0"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0">',
    "cas ": '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">',
    "jsonl": '{"tokens": ["a"], "entities": []}',
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_content_tells_the_format(sample: str) -> None:
    seen = [
        entry.name for entry in registry.available().values() if entry.looks_like and entry.looks_like(SAMPLES[sample])
    ]
    assert seen == [sample.strip()]


@given(st.text())
def test_looking_never_fails(head: str) -> None:
    assert all(isinstance(entry.looks_like(head), bool) for entry in raw_text_formats() if entry.looks_like)


def test_formats_are_found_by_suffix_and_content(tmp_path: Path) -> None:
    saved(tmp_path, "a.ann", "T1\tPER 0 3\tBob\n")
    saved(tmp_path, "a.txt", "Bob")
    assert registry.format_of(tmp_path).name == "brat"
    assert registry.format_of(saved(tmp_path, "x.json", SAMPLES["labelstudio"])).name == "labelstudio"
    for name in ("doccano", "prodigy", "spacy", "cas", "text"):
        assert registry.format_for(tmp_path / PATHS[name]).name == name


# ------------------------------------------------------------------------------------------------ doccano


def test_doccano_reads_both_forms(tmp_path: Path) -> None:
    lines = [
        '{"id": 7, "text": "the USA", "label": [[0, 7, "GPE"], [4, 7, "GPE"]], "Comments": []}',
        '{"id": 8, "text": "a b", "entities": [{"id": 3, "label": "X Y", "start_offset": 2, "end_offset": 3}],'
        ' "relations": [{"id": 1, "from_id": 3, "to_id": 3, "type": "r"}]}',
        "",
        '{"text": "c", "labels": [[0, 1, "Z"]]}',
        '{"id": "k", "text": "d"}',
    ]
    found, report = read_documents(doccano.FORMAT, saved(tmp_path, "admin.jsonl", "\n".join(lines)))
    assert [document.id for document in found] == ["7", "8", "admin:4", "k"]
    assert spans_of(found[0]) == [(0, 7, "GPE"), (4, 7, "GPE")]
    assert [document.spans for document in found[1:]] == [((2, 3, "X Y"),), ((0, 1, "Z"),), ()]
    assert report.counts == {"relation left out": 1}


def test_doccano_counts_as_browsers_do(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", '{"id": 1, "text": "😀 Bob 👍 Al", "label": [[3, 6, "P"], [10, 12, "P"]]}')
    (document,), report = read_documents(doccano.FORMAT, path)
    assert [document.text[start:end] for start, end, _ in document.spans] == ["Bob", "Al"]
    assert report.counts == {"text whose offsets were taken as units of UTF-16": 1}
    doccano.write(sentences_of(document, LINES, Report()), tmp_path / "y.jsonl")
    assert json.loads((tmp_path / "y.jsonl").read_text())["label"] == [[3, 6, "P"], [10, 12, "P"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "list where an object should be"),
        ("9" * 5000, "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"text": 1}', "'text' is 1; make it a string"),
        ('{"label": []}', "'text' is missing"),
        ('{"text": "\\ud83d"}', "half of a character"),
        ('{"text": "a", "id": "\\ud83d"}', "half of a character"),
        ('{"text": "a", "id": 1.5}', "'id' is 1.5"),
        ('{"text": "a", "label": ["positive"]}', "export the labels of sequences"),
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
def test_doccano_says_what_is_wrong(line: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", f'{{"text": "fine"}}\n{line}\n')
    with pytest.raises(InputError, match=message) as error:
        read_all(doccano.FORMAT, path)
    assert str(error.value).startswith(f"{path}:2: ")


# ------------------------------------------------------------------------------------------------ Prodigy


def example(**fields: Any) -> str:
    return json.dumps({"text": "Go to NYC.\n", "spans": [{"start": 6, "end": 9, "label": "GPE"}]} | fields) + "\n"


def test_prodigy_takes_the_tokens_that_are_there(tmp_path: Path) -> None:
    places = [(0, 2), (3, 5), (6, 7), (7, 9), (9, 10), (10, 11)]
    tokens = [{"text": "?", "start": a, "end": b, "id": n, "ws": False} for n, (a, b) in enumerate(places)]
    path = saved(tmp_path, "x.jsonl", example(tokens=tokens, answer="accept", meta={"id": 5}) + example())
    (own, found), report = read_all(prodigy.FORMAT, path, Options())
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
    sentences, report = read_all(prodigy.FORMAT, path, Options())
    assert len(sentences) == 2
    assert report.counts == {"example not accepted set aside": 2, "relation left out": 1}


def test_prodigy_writes_what_it_is_known_for(tmp_path: Path) -> None:
    prodigy.write([Sentence(["the", "US A", "."], [Entity(0, 2, "GPE")], "d-1")], tmp_path / "x.jsonl")
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
    (sentence,), report = read_all(prodigy.FORMAT, saved(tmp_path, "x.jsonl", example(tokens=tokens)))
    assert sentence.tokens == ("Go", "to", "NYC", ".")
    assert report.counts == {
        "text without a token made a token": 2,
        "token left out because it is empty, overlaps another or is outside": 2,
    }


# ------------------------------------------------------------------------------------------------ Label Studio


def region(start: Any, end: Any, covered: str | None, *labels: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": list(labels)} | ({} if covered is None else {"text": covered})
    return {"id": "r", "type": "labels", "from_name": "label", "to_name": "text", "value": value}


def task(content: str, *results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    annotations = [{"id": 1, "was_cancelled": False, "result": list(results)}]
    return {"id": 1, "data": {"text": content}, "annotations": annotations, "predictions": []} | fields


def studio(folder: Path, *tasks: dict[str, Any], options: Options = EXACT) -> tuple[list[Document], Report]:
    return read_documents(labelstudio.FORMAT, saved(folder, "x.json", json.dumps(tasks, indent=1)), options)


def test_labelstudio_regions(tmp_path: Path) -> None:
    results = [
        region(0, 7, "the USA", "GPE", "ORG"),
        region("4", "7", "USA", "GPE"),
        region(2, 5, None, "X"),
        region(0, 3, "the"),
        {"type": "choices", "value": {"choices": ["good"]}},
        {"type": "relation", "from_id": "a", "to_id": "b"},
        {"type": "labels", "value": {"start": "/p[1]/text()[1]", "end": "/p[1]", "startOffset": 1, "labels": ["X"]}},
    ]
    (document,), report = studio(tmp_path, task("the USA", *results, predictions=[{"result": []}]))
    assert spans_of(document) == [(0, 7, "GPE"), (0, 7, "ORG"), (2, 5, "X"), (4, 7, "GPE")]
    assert report.counts == {
        "region without a label left out": 1,
        "result that marks no text left out": 2,
        "region of HTML left out": 1,
        "prediction left out": 1,
        "token cut at a span's border": 2,
    }


def test_labelstudio_offsets_are_checked_against_the_text(tmp_path: Path) -> None:
    content = "😀 Bob\nand 👍 Al"
    right = task(content, region(2, 9, "Bob\\nand", "A"), region(12, 14, "Al", "B"))
    units = task(content, region(3, 6, "Bob", "A"), region(14, 16, "Al", "B"))
    wrong = task(content, region(2, 5, "Eve", "A"), region(1, 5, "😀 Bo", "A"))
    found, report = studio(tmp_path, right, units, wrong)
    assert [[document.text[a:b] for a, b, _ in spans_of(document)] for document in found[:2]] == [
        ["Bob\nand", "Al"],
        ["Bob", "Al"],
    ]
    assert report.counts["region whose offsets are units of UTF-16"] == 2
    assert report.counts["region that says another text than it covers"] == 2


def test_labelstudio_takes_the_first_annotation_that_was_not_skipped(tmp_path: Path) -> None:
    skipped = {"was_cancelled": True, "result": [region(0, 1, "a", "NO")["value"]]}
    first, second = ({"was_cancelled": False, "result": [region(0, 1, "a", label)]} for label in ("X", "Y"))
    found, report = studio(
        tmp_path,
        task("a", annotations=[skipped, first, second]),
        task("a", annotations=[skipped]),
        task("a", annotations=[]),
        {"id": 9, "data": {"text": "a"}, "completions": [second]},
    )
    assert [[kind for _, _, kind in document.spans] for document in found] == [["X"], [], ["Y"]]
    assert report.counts == {"further annotation of a task left out": 1, "skipped task set aside": 1}


def test_labelstudio_minimal(tmp_path: Path) -> None:
    minimal = {
        "id": 4, "body": "the USA", "label": [region(4, 7, "USA", "GPE")["value"]], "sentiment": ["good"],
        "annotator": 1, "annotation_id": 2, "created_at": "2024", "updated_at": "2024", "lead_time": 1.5,
    }  # fmt: skip
    (document,), report = studio(tmp_path, minimal)
    assert (document.id, document.text, spans_of(document)) == ("4", "the USA", [(4, 7, "GPE")])
    assert not report.counts
    with pytest.raises(InputError, match=r"x.json:2: no field 'text'; say which holds the text .*'body', 'note'"):
        studio(tmp_path, minimal | {"note": "x"})
    (document,), _ = studio(tmp_path, minimal | {"note": "x"}, options=Options("whitespace", field="body"))
    assert document.text == "the USA"


def test_labelstudio_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    monkeypatch.setattr(characters, "BLOCK", 10_000)
    long = "word " * 2_000
    path.write_text("[" + ",\n".join(json.dumps(task(long, id=number)) for number in range(200)) + "]")
    tracemalloc.start()
    number = 0
    for record in records.read_json_list(path):
        number += 1
        assert record.line == number
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert number == 200
    assert peak < 10**6 < path.stat().st_size


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "begins with ''"),
        ('{"id": 1}', "begins with '{'"),
        ('[{"id": 1}', r"'' after an object; put a comma"),
        ('[{"id": 1} {', r"'{' after an object"),
        ('[{"id": 1},', "not JSON"),
        ('[{"id": 1, "da', "not JSON"),
        ("[1]", "int where an object should be"),
        ("[] x", "'x' after the end of the list"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_lists_that_are_not_whole(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        list(records.read_json_list(saved(tmp_path, "x.json", content)))


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=20), max_size=3), max_size=5), st.integers(1, 9))
def test_lists_are_read_whatever_the_blocks(values: list[dict[str, str]], size: int) -> None:
    content = "\ufeff" + json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    window = records._Window(content[at : at + size] for at in range(0, len(content), size))
    found = []
    sign = window.sign()
    while sign != "]" and window.sign_after() != "]":
        found.append(window.value())
        sign = window.sign()
    assert found == values


# ------------------------------------------------------------------------------------------------ brat


def pair(folder: Path, content: str, annotations: str, name: str = "a") -> Path:
    (folder / f"{name}.txt").write_bytes(content.encode())
    return saved(folder, f"{name}.ann", annotations)


def test_brat_reads_entities_and_counts_the_rest(tmp_path: Path) -> None:
    lines = [
        "T1\tPER 0 3\tBob",
        "T2\tPER 8 12\tAl 😀",
        "T3\tX 0 3;8 10\tBob Al",
        "T4\tX 4 7;8 10\tsaw Al",
        "T5\tX 4 7\tsee",
        "E1\tX:T1",
        "R1\tr Arg1:T1 Arg2:T2",
        "*\tEquiv T1 T2",
        "A1\tNegation E1",
        "M1\tNegation E1",
        "N1\tReference T1 W:1\tBob",
        "#1\tAnnotatorNotes T1\tsure",
        "",
    ]
    path = pair(tmp_path, "Bob saw Al 😀.\n", "\r\n".join(lines))
    (document,), report = read_documents(brat.FORMAT, path)
    assert document.id == "a"
    assert spans_of(document) == [(0, 3, "PER"), (4, 7, "X"), (4, 10, "X"), (8, 12, "PER")]
    assert report.counts == {
        "discontinuous entity set aside": 1, "text that differs from what the offsets cover": 1, "event left out": 1,
        "relation left out": 2, "attribute left out": 2, "link left out": 1, "note left out": 1,
        "token cut at a span's border": 1,
    }  # fmt: skip


def test_brat_counts_every_character(tmp_path: Path) -> None:
    content = "\ufeffone\r\ntwo 😀\r\n\r\nthree"
    path = pair(tmp_path, content, "T1\tX 6 9\ttwo\nT2\tX 15 20\tthree\n")
    (document,), report = read_documents(brat.FORMAT, path)
    assert document.text == content
    assert [document.text[a:b] for a, b, _ in spans_of(document)] == ["two", "three"]
    assert not report.counts


def test_brat_writes_spans_over_lines_in_parts(tmp_path: Path) -> None:
    document = Document("d", "Bank of \n\nNew\r\nYork.", (TextSpan(0, 19, "ORG"), TextSpan(10, 19, "GPE")))
    brat.write(sentences_of(document, EXACT, Report()), tmp_path / "a.ann")
    assert (tmp_path / "a.ann").read_bytes().decode() == (
        "T1\tORG 0 7;10 13;15 19\tBank of New York\nT2\tGPE 10 13;15 19\tNew York\n"
    )
    (found,), report = read_documents(brat.FORMAT, tmp_path / "a.ann")
    assert (found.text, spans_of(found)) == (document.text, spans_of(document))
    assert report.counts == {"sentences joined because a span covers both": 2, "token cut at a span's border": 1}


def test_brat_folders(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    pair(tmp_path, "Bob", "T1\tP 0 3\tBob\n", "b")
    pair(tmp_path / "sub", "Al", "", "a%2Fb")
    saved(tmp_path, "alone.txt", "text")
    found, report = read_documents(brat.FORMAT, tmp_path)
    assert [(document.id, document.text) for document in found] == [("b", "Bob"), ("sub/a/b", "Al")]
    assert report.counts == {"text without an .ann file left out": 1}
    target = tmp_path / "out"
    brat.write([Sentence(["x"], [], "../a-1"), Sentence(["y"], [], "A-1"), Sentence(["z"], [], "a-1")], target)
    assert sorted(path.name for path in target.iterdir()) == [
        "%2E.%2Fa.ann", "%2E.%2Fa.txt", "A.ann", "A.txt", "a~2.ann", "a~2.txt",
    ]  # fmt: skip
    with pytest.raises(InputError, match="out: is there already; remove it"):
        brat.write([], target)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ("T1 PER 0 3 Bob", "a.ann:1: 'T1 PER 0 3 Bob' is no annotation"),
        ("T1\tPER 0 3\tBob\nT2\tPER 0 x\tBob", "a.ann:2: .* is no annotation"),
        ("T1\tPER 0 4\tBob", "a.ann:1: 0 4 is not inside the text of 3 characters"),
        ("T1\tPER 2 2\t", "a.ann:1: 2 2 is not inside"),
        ("Bob", "is no annotation"),
    ],
)
def test_brat_says_what_is_wrong(annotations: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_all(brat.FORMAT, pair(tmp_path, "Bob", annotations))


def test_brat_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="brat cannot hold the type 'a b', which has white space"):
        brat.write([Sentence(["x"], [Entity(0, 1, "a b")], "d-1")], tmp_path / "out")
    with pytest.raises(InputError, match=r"one .ann file holds one document, and there are several"):
        brat.write([Sentence(["x"], [], "d-1"), Sentence(["x"], [], "e-1")], tmp_path / "a.ann")
    report = Report()
    brat.write([Sentence(["x", "\n"], [Entity(1, 2, "X")], "d-1")], tmp_path / "b.ann", report=report)
    assert report.counts == {"entity of white space left out": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.ann", "b.txt"]
    with pytest.raises(InputError, match=r"there is no c.txt beside it"):
        read_all(brat.FORMAT, saved(tmp_path, "c.ann", ""))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder has no \.ann file"):
        read_all(brat.FORMAT, tmp_path / "empty")


@pytest.mark.parametrize(("entry", "path"), [(brat.FORMAT, "x.ann.gz"), (cas.FORMAT, "x.zip.gz"), (brat.FORMAT, "-")])
def test_folders_are_not_packed_or_piped(entry: Format, path: str, tmp_path: Path) -> None:
    assert entry.write
    with pytest.raises(InputError, match=r"drop the \.gz|cannot go through a pipe"):
        entry.write([], path if path == "-" else tmp_path / path)


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_file_names_come_back(name: str) -> None:
    safe = file_name(name)
    assert document_name(safe) == name
    assert "/" not in safe
    assert safe not in (".", "..")


# ------------------------------------------------------------------------------------------------ DocBin


def docs(folder: Path, build: Callable[[Any], None], name: str = "x.spacy", **options: Any) -> Path:
    """A DocBin of one document, 'Bob saw New York', that `build` annotates."""
    import spacy
    from spacy.tokens import Doc, DocBin

    doc = Doc(spacy.blank("en").vocab, words=["Bob", "saw", "New", "York", ".", "\n", "He"], spaces=[True] * 7)
    build(doc)
    DocBin(docs=[doc], **options).to_disk(folder / name)
    return folder / name


def group(name: str, *spans: tuple[int, int, str]) -> Callable[[Any], None]:
    def build(doc: Any) -> None:
        from spacy.tokens import Span

        doc.spans[name] = [Span(doc, start, end, label=label) for start, end, label in spans]

    return build


def test_spacy_groups(tmp_path: Path) -> None:
    def two(doc: Any) -> None:
        group("a", (0, 1, "X"))(doc)
        group("b", (2, 4, "Y"))(doc)

    nested = docs(tmp_path, group("sc", (2, 4, "GPE"), (2, 3, "X y"), (3, 5, "Z"), (1, 1, "E")))
    (first, second), report = read_all(docbin.FORMAT, nested, Options())
    assert first.tokens == ("Bob", "saw", "New", "York", ".")
    assert first.entities == (Entity(2, 4, "GPE"), Entity(2, 3, "X y"), Entity(3, 5, "Z"))
    assert second.tokens == ("He",)
    assert report.counts == {"empty span left out": 1}
    assert read_all(docbin.FORMAT, docs(tmp_path, group("own", (0, 1, "X"))))[0][0].entities == (Entity(0, 1, "X"),)
    both = docs(tmp_path, two)
    with pytest.raises(InputError, match="x:1 has no group of spans 'sc'; say the field, one of a, b"):
        read_all(docbin.FORMAT, both)
    assert read_all(docbin.FORMAT, both, Options(field="b"))[0][0].entities == (Entity(2, 4, "Y"),)
    with pytest.raises(InputError, match="no group of spans 'c'"):
        read_all(docbin.FORMAT, both, Options(field="c"))


def test_spacy_entities_only_when_asked(tmp_path: Path) -> None:
    def ents(doc: Any) -> None:
        from spacy.tokens import Span

        doc.ents = [Span(doc, 2, 4, label="GPE")]

    path = docs(tmp_path, ents)
    with pytest.raises(InputError, match="one of ents"):
        read_all(docbin.FORMAT, path)
    assert read_all(docbin.FORMAT, path, Options(field="ents"))[0][0].entities == (Entity(2, 4, "GPE"),)
    assert not read_all(docbin.FORMAT, docs(tmp_path, lambda doc: None))[0][0].entities


def test_spacy_sentences_are_taken(tmp_path: Path) -> None:
    def starts(doc: Any) -> None:
        for token in doc:
            token.is_sent_start = token.i in (0, 2)

    sentences, _ = read_all(docbin.FORMAT, docs(tmp_path, starts), Options())
    assert [sentence.tokens for sentence in sentences] == [("Bob", "saw"), ("New", "York", ".", "He")]


def test_spacy_user_data_is_never_unpacked(tmp_path: Path) -> None:
    def surprise(doc: Any) -> None:
        doc.user_data["x"] = "y"

    path = docs(tmp_path, surprise, store_user_data=True)
    import srsly

    content = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    assert isinstance(content, dict)
    content["user_data"] = [b"\xc1 this is no msgpack"]
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    assert read_all(docbin.FORMAT, path)[0][0].tokens[0] == "Bob"


def test_spacy_refuses_what_is_too_large_or_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gc

    bomb = saved(tmp_path, "b.spacy", zlib.compress(bytes(10**7)))
    monkeypatch.setattr(docbin, "LARGEST", 10**6)
    with pytest.raises(InputError, match=r"b.spacy: more than 1000000 bytes when unpacked"):
        read_all(docbin.FORMAT, bomb)
    for content in (b"", b"x", zlib.compress(b""), zlib.compress(b"\xc1"), zlib.compress(b"\x93\x01")):
        with pytest.raises(InputError, match=r"c.spacy: not a whole DocBin"):
            read_all(docbin.FORMAT, saved(tmp_path, "c.spacy", content))
    assert gc.isenabled()


@patient
@given(data=st.data())
def test_spacy_survives_broken_bytes(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "x.spacy"
    docbin.write([Sentence(["a", "b"], [Entity(0, 2, "X"), Entity(1, 2, "Y")], "d-1")], path)
    content = bytearray(zlib.decompress(path.read_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(zlib.compress(bytes(content)))
    with suppress(InputError):
        read_all(docbin.FORMAT, path)


# ------------------------------------------------------------------------------------------------ CAS


def xmi_files(folder: Path, annotations: str, content: str = "😀 Bob saw Al.", layers: str = "") -> Path:
    """An .xmi file and its type system, with one layer `custom.Span` of the given features."""
    features = "".join(
        f"<featureDescription><name>{name}</name><rangeTypeName>uima.cas.String</rangeTypeName></featureDescription>"
        for name in layers.split()
    )
    kinds = [cas.NAMED_ENTITY, cas.TOKEN, cas.SENTENCE, "custom.Span"]
    saved(
        folder,
        "TypeSystem.xml",
        '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>'
        + "".join(
            f"<typeDescription><name>{kind}</name><supertypeName>uima.tcas.Annotation</supertypeName><features>"
            + (features if kind == "custom.Span" else "")
            + "<featureDescription><name>value</name><rangeTypeName>uima.cas.String</rangeTypeName>"
            "</featureDescription>" * (kind == cas.NAMED_ENTITY) + "</features></typeDescription>"
            for kind in kinds
        )
        + "</types></typeSystemDescription>",
    )
    count = annotations.count("xmi:id")
    return saved(
        folder,
        "a.xmi",
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"'
        ' xmlns:ner="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore"'
        ' xmlns:seg="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore"'
        ' xmlns:custom="http:///custom.ecore" xmi:version="2.0">'
        f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{content}"/>'
        f'{annotations}<cas:View sofa="1" members="{" ".join(str(n + 2) for n in range(count))}"/></xmi:XMI>',
    )


def annotation(number: int, kind: str, begin: int, end: int, **features: str) -> str:
    more = "".join(f' {name}="{value}"' for name, value in features.items())
    return f'<{kind} xmi:id="{number}" sofa="1" begin="{begin}" end="{end}"{more}/>'


def test_cas_offsets_are_units_of_utf16(tmp_path: Path) -> None:
    marks = [
        annotation(2, "ner:NamedEntity", 3, 6, value="PER"),
        annotation(3, "ner:NamedEntity", 0, 14, value="S &#10;x"),
        annotation(4, "ner:NamedEntity", 11, 13),
        annotation(5, "ner:NamedEntity", 11, 11, value="Z"),
        annotation(6, "custom:Span", 11, 13),
    ]
    (document,), report = read_documents(cas.FORMAT, xmi_files(tmp_path, "".join(marks)))
    assert [(document.text[a:b], kind) for a, b, kind in spans_of(document)] == [
        ("😀 Bob saw Al.", "S \nx"),
        ("Bob", "PER"),
    ]
    assert report.counts == {
        "annotation without a value left out": 1,
        "empty span left out": 1,
        "annotation of another layer left out": 1,
    }


def test_cas_tokens_and_sentences_are_taken(tmp_path: Path) -> None:
    tokens = [(0, 2), (3, 6), (7, 8), (8, 10), (11, 13), (13, 14)]
    marks = [annotation(n, "seg:Token", a, b) for n, (a, b) in enumerate(tokens, 2)]
    path = xmi_files(
        tmp_path, "".join(marks) + annotation(8, "seg:Sentence", 0, 6) + annotation(9, "seg:Sentence", 7, 14)
    )
    sentences, report = read_all(cas.FORMAT, path, Options())
    assert [sentence.tokens for sentence in sentences] == [("😀", "Bob"), ("s", "aw", "Al", ".")]
    assert not report.counts
    path = xmi_files(tmp_path, annotation(2, "seg:Sentence", 0, 6) + annotation(3, "seg:Sentence", 7, 14))
    sentences, report = read_all(cas.FORMAT, path, Options())
    assert [sentence.tokens for sentence in sentences] == [("😀", "Bob"), ("saw", "Al", ".")]


def test_cas_layers(tmp_path: Path) -> None:
    def kinds(layers: str, field: str | None = "custom.Span", **features: str) -> list[str]:
        path = xmi_files(tmp_path, annotation(2, "custom:Span", 3, 6, **features), layers=layers)
        return [kind for _, _, kind in read_documents(cas.FORMAT, path, Options("whitespace", field=field))[0][0].spans]

    assert kinds("") == ["Span"]
    assert kinds("label", label="PER") == ["PER"]
    assert kinds("value label", value="A", label="B") == ["A"]
    assert kinds("a b", "custom.Span:b", a="A", b="B") == ["B"]
    with pytest.raises(InputError, match=r"which feature .* one of custom.Span:a, custom.Span:b"):
        kinds("a b", a="A")
    with pytest.raises(InputError, match=r"there is no layer no.Such; say the field, one of custom.Span"):
        kinds("", "no.Such")


@pytest.mark.parametrize("begin", ["1", "99", "x", ""])
def test_cas_refuses_places_that_are_none(begin: str, tmp_path: Path) -> None:
    path = xmi_files(tmp_path, annotation(2, "ner:NamedEntity", 77, 14, value="X").replace("77", begin))
    with pytest.raises(InputError, match=r"a.xmi: not a CAS that can be read"):
        read_all(cas.FORMAT, path)


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("file", ["a.xmi", "TypeSystem.xml"])
def test_cas_refuses_document_type_definitions(encoding: str, file: str, tmp_path: Path) -> None:
    path = xmi_files(tmp_path, "")
    content = (tmp_path / file).read_text("utf-8")
    saved(tmp_path, file, f'<?xml version="1.0" encoding="{encoding}"?>{ENTITIES}{content}'.encode(encoding))
    with pytest.raises(InputError, match="document type definition; remove <!DOCTYPE"):
        read_all(cas.FORMAT, path)


def test_cas_zips_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Sentence(["a"], [Entity(0, 1, "X")], "d-1"), Sentence(["b"], [], "e/f-1")]
    cas.write(given, tmp_path / "x.zip")
    cas.write(given, tmp_path / "folder")
    assert read_all(cas.FORMAT, tmp_path / "x.zip")[0] == given
    assert read_all(cas.FORMAT, tmp_path / "folder")[0] == given
    assert registry.format_of(tmp_path / "folder").name == "cas"
    (tmp_path / "folder" / "deep").mkdir()
    (tmp_path / "x.zip").rename(tmp_path / "folder" / "deep" / "x.zip")
    found, _ = read_all(cas.FORMAT, tmp_path / "folder")
    assert [sentence.id for sentence in found] == ["d-1", "deep/x/d-1", "deep/x/e/f-1", "e/f-1"]
    monkeypatch.setattr(xmi, "LARGEST", 100)
    with pytest.raises(InputError, match="more than 100 bytes; split the document"):
        read_all(cas.FORMAT, tmp_path / "folder")


def test_cas_zips_that_cannot_be_read(tmp_path: Path) -> None:
    def packed(**files: str) -> Path:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in files.items():
                archive.writestr(name.replace("_", "."), content)
        return saved(tmp_path, "y.zip", buffer.getvalue())

    with pytest.raises(InputError, match=r"y.zip: the zip has no \.xmi file"):
        read_all(cas.FORMAT, packed(a_txt="a"))
    with pytest.raises(InputError, match=r"y.zip/a.xmi: there is no TypeSystem.xml beside it"):
        read_all(cas.FORMAT, packed(a_xmi="<a/>"))
    with pytest.raises(InputError, match=r"y.zip: not a zip"):
        read_all(cas.FORMAT, saved(tmp_path, "y.zip", packed(a_xmi="<a/>", TypeSystem_xml="<a/>").read_bytes()[:-9]))


def test_cas_writes_one_file(tmp_path: Path) -> None:
    given = [Sentence(["a😀", "b"], [Entity(1, 2, "X")], "d-1"), Sentence(["c"], [], "d-2")]
    options = Options("whitespace", field="custom.Span:label")
    cas.write(given, tmp_path / "d.xmi", options)
    assert read_all(cas.FORMAT, tmp_path / "d.xmi", options)[0] == given
    cas.write(given, tmp_path / "e.xmi.gz", options)
    assert [sentence.tokens for sentence in read_all(cas.FORMAT, tmp_path / "e.xmi.gz", options)[0]] == [
        sentence.tokens for sentence in given
    ]
    with pytest.raises(InputError, match=r"another TypeSystem.xml is beside it"):
        cas.write(given, tmp_path / "f.xmi")
    with pytest.raises(InputError, match=r"one .xmi file holds one document"):
        cas.write([*given, Sentence(["x"], [], "e-1")], tmp_path / "f.xmi", options)
    with pytest.raises(InputError, match=r"XML cannot hold the character U\+0000 of document 'd'"):
        cas.write([Sentence(["\x00"], [], "d-1")], tmp_path / "f.xmi", options)
    (tmp_path / "TypeSystem.xml").unlink()
    with pytest.raises(InputError, match=r"there is no TypeSystem.xml beside it"):
        read_all(cas.FORMAT, tmp_path / "d.xmi")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.xmi", "e.xmi.gz"]


@pytest.mark.parametrize(("module", "extra"), [("cassis", "cas"), ("spacy.vocab", "text")])
def test_what_is_not_installed_is_named(
    module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    entry, path = (cas.FORMAT, "x.zip") if extra == "cas" else (docbin.FORMAT, "x.spacy")
    assert entry.write
    with pytest.raises(UnknownNameError, match=rf"pip install 'nestag\[{extra}\]'"):
        entry.write([], tmp_path / path)
    with pytest.raises(UnknownNameError, match=rf"pip install 'nestag\[{extra}\]'"):
        read_all(entry, saved(tmp_path, path, b""))


# ------------------------------------------------------------------------------------------------ plain text


@given(st.text(st.sampled_from("a \n\r\t."), max_size=60), st.integers(1, 7), st.integers(3, 20))
def test_paragraphs_are_the_text(content: str, size: int, longest: int) -> None:
    before, text.LONGEST_PARAGRAPH = text.LONGEST_PARAGRAPH, longest
    try:
        parts = list(text.paragraphs(content[at : at + size] for at in range(0, len(content), size)))
    finally:
        text.LONGEST_PARAGRAPH = before
    assert "".join(parts) == content
    assert all(len(part) <= longest for part in parts)
    assert all(parts) or parts == [""]


def test_text_is_one_document(tmp_path: Path) -> None:
    content = "\n A title\n\nBob came.\r\nHe sat. \r\n\r\n\r\nThe 😀 end"
    path = saved(tmp_path, "my.notes.txt.gz", gzip.compress(content.encode()))
    sentences, report = read_all(text.FORMAT, path, Options())
    assert [" ".join(sentence.tokens) for sentence in sentences] == ["A title", "Bob came .", "He sat .", "The 😀 end"]
    assert [sentence.id for sentence in sentences] == ["my-1", "my-2", "my-3", "my-4"]
    (document,) = documents_of(sentences)
    assert document.text == content
    assert not report.counts


def test_text_of_several_documents(tmp_path: Path) -> None:
    report = Report()
    given = [Sentence(["a", "b"], [Entity(0, 1, "X")], "d-1"), Sentence(["c"], [], "d-2"), Sentence(["d"], [], "e-1")]
    text.write(given, tmp_path / "x.txt", report=report)
    assert (tmp_path / "x.txt").read_text() == "a b\nc\n\nd\n"
    assert report.counts == {"entity not kept in plain text": 1, "document joined to the one before it": 1}


def test_text_of_any_length_needs_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "BLOCK", 1_000)
    monkeypatch.setattr(text, "LONGEST_PARAGRAPH", 1_000)
    path = tmp_path / "x.txt"
    line = "It rained all day on the roofs of the old town. " * 6
    path.write_text("".join(line + "\n" * (number % 3) for number in range(1_000)) + line * 100)
    tracemalloc.start()
    size = sum(len(sentence.origin.text) for sentence in text.read(path, LINES) if sentence.origin)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == path.stat().st_size > 3 * 10**5
    assert peak < 2 * 10**5


def test_long_lines_are_cut_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST_PARAGRAPH", 10)
    sentences, report = read_all(text.FORMAT, saved(tmp_path, "x.txt", "one two three 北京北京北京北京北京北京"))
    assert [sentence.tokens for sentence in sentences] == [
        ("one", "two"),
        ("three",),
        ("北京北京北京北京北京",),
        ("北京",),
    ]
    assert report.counts == {"line cut because it is very long": 3}


@pytest.mark.parametrize("at", [0, 5, 2**20 - 1, 2**20, 2**20 + 1])
def test_bytes_that_are_no_text_are_named(at: int, tmp_path: Path) -> None:
    content = b"\xc3\xa9" * (2**19 + 5)
    content = content[: at - at % 2] + b"\xff" + content[at - at % 2 :]
    with pytest.raises(InputError, match=rf"byte {at - at % 2} \(0xff\) is not UTF-8"):
        read_text(saved(tmp_path, "x.txt", content))
    with pytest.raises(InputError, match=r"byte 2 \(0xc3\) is not UTF-8"):
        read_text(saved(tmp_path, "x.txt", b"ab\xc3"))


@given(st.text(st.sampled_from("a😀é👍"), max_size=12))
def test_units_and_characters_are_inverse(content: str) -> None:
    units = Utf16(content)
    for place in range(len(content) + 1):
        assert units.to_units(place) == len(content[:place].encode("utf-16-le")) // 2
        assert units.from_units(units.to_units(place)) == place
    assert units.differs == any(sign > "\uffff" for sign in content)


# ------------------------------------------------------------------------------------------------ real files


@pytest.mark.skipif("NESTAG_CORPORA" not in os.environ, reason="NESTAG_CORPORA does not say where corpora are")
def test_litbank_is_read_as_its_conversion() -> None:
    corpora = Path(os.environ["NESTAG_CORPORA"])
    converted: dict[str, list[tuple[Any, Any]]] = {}
    for file in sorted((corpora / "litbank").glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                entities = sorted((e["start"], e["end"], e["type"]) for e in record["entities"])
                converted.setdefault(record["id"].rpartition("-")[0], []).append((tuple(record["tokens"]), entities))
    sentences, report = read_all(brat.FORMAT, corpora.parent / "raw" / "litbank")
    ours: dict[str, list[tuple[Any, Any]]] = {}
    for sentence in sentences:
        assert sentence.origin
        name = sentence.origin.document.removesuffix("_brat")
        ours.setdefault(name, []).append((sentence.tokens, sorted(map(tuple, sentence.entities))))
    assert len(ours) == 3
    assert ours == {name: converted[name] for name in ours}
    assert set(report.counts) <= {"span widened to token borders", "duplicate entity merged"}
