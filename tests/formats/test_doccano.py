"""doccano's JSON Lines: both of its forms, counted as browsers count, and what is wrong with a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nestag.data.document import sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.errors import InputError
from nestag.formats.registry import format_named, format_of
from raw_texts import LINES, read_all, read_documents, saved, spans_of


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


def test_doccano_counts_as_browsers_do(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", '{"id": 1, "text": "😀 Bob 👍 Al", "label": [[3, 6, "P"], [10, 12, "P"]]}')
    (document,), report = read_documents(format_named("doccano"), path)
    assert [document.text[start:end] for start, end, _ in document.spans] == ["Bob", "Al"]
    assert report.counts == {"text whose offsets were read as UTF-16 units": 1}
    format_named("doccano").write(sentences_of(document, LINES, Report()), tmp_path / "y.jsonl")
    assert json.loads((tmp_path / "y.jsonl").read_text())["label"] == [[3, 6, "P"], [10, 12, "P"]]


def test_doccano_as_older_versions_and_lists_have_it(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "data": "the USA", "label": [[4, 7, "GPE"]]}',
        '{"id": 2, "data": "Bob", "labels": [[0, 3, "PER"]], "user": 1}',
    ]
    for content in ("\n".join(lines), f"[{','.join(lines)}]"):
        path = saved(tmp_path, "x.json", content)
        assert format_of(path).name == "doccano"
        found, _ = read_documents(format_named("doccano"), path)
        assert [(d.text, spans_of(d)) for d in found] == [("the USA", [(4, 7, "GPE")]), ("Bob", [(0, 3, "PER")])]


def test_doccano_is_known_by_a_first_record_of_any_length(tmp_path: Path) -> None:
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
def test_doccano_says_what_is_wrong(line: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.jsonl", f'{{"text": "fine"}}\n{line}\n')
    with pytest.raises(InputError, match=message) as error:
        read_all(format_named("doccano"), path)
    assert str(error.value).startswith(f"{path}:2: ")
