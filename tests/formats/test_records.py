"""Lists of JSON objects are read as a stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.registry import available
from nestag.formats.shared import records
from raw_texts import saved


def ids(path: Path, options: Options, report: Report) -> list[str | None]:
    """Read each object as a sentence with its id."""
    read = records.record_reader(lambda record, *_: [Sentence(["w"], id=record.fields.id())])
    return [sentence.id for sentence in read(path, options, report)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1}', r"'' after a value; put a comma"),
        ('[{"id": 1} {', r"'{' after a value"),
        ('[{"id": 1},', "not JSON"),
        ('[{"id": 1, "da', "not JSON"),
        ("[1]", "x.json:1: 1 is not an object"),
        ("[] x", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"id": 1}\n{"id"\n', "x.json:2: not JSON"),
        ('{"id": 1}\n\n"a"\n', "x.json:3: 'a' is not an object"),
    ],
)
def test_truncated_lists_are_errors(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        ids(saved(tmp_path, "x.json", content), Options(), Report())


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=20), max_size=3), max_size=5), st.integers(1, 9))
def test_lists_are_read_across_blocks(values: list[dict[str, str]], size: int) -> None:
    content = "\ufeff" + json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "read_blocks", lambda path: iter(blocks))
        assert [record.fields for record in records.read_records("x", Options(), Report())] == values


def test_concatenated_objects_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", '\n{"id": 1}\n{\n "id": 2\n}{"id": 3}\n\n')
    assert list(records.read_records(path, Options(), Report())) == [
        (2, {"id": 1}, f"{path}:2", "x:2"),
        (3, {"id": 2}, f"{path}:3", "x:3"),
        (5, {"id": 3}, f"{path}:5", "x:5"),
    ]
    one_line = saved(tmp_path, "y.json", '[{"id": 1}, {"id": 2}]')
    assert [record.name for record in records.read_records(one_line, Options(), Report())] == ["y:1", "y:1.2"]


def test_invalid_json_line_is_skipped(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", '{"id": 1}\n{"id": \nnull\n{"id": 4}\nrubbish')
    report = Report()
    assert ids(path, Options(skip_bad=True), report) == ["1", "4"]
    assert report.counts == {"bad record skipped": 3}


def test_overlong_record_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LONGEST_LINE", 1_000)
    for entry in (available()["bioc-json"], available()["oneie"]):
        corpus = [Sentence(["w"] * 50, [Entity(0, end, "X") for end in range(1, 51)])]
        with pytest.raises(InputError, match="longer than 1000 characters"):
            entry.write(corpus, tmp_path / "x.json")
