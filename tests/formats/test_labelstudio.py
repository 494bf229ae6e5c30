"""Label Studio JSON: regions, offsets, annotations, and the minimal form."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from nestag.data.document import Document
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.errors import InputError
from nestag.formats import labelstudio
from nestag.formats.files import sources
from nestag.formats.shared import records
from raw_texts import EXACT, read_documents, saved, spans_of


def region(start: Any, end: Any, covered: str | None, *labels: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": list(labels)} | ({} if covered is None else {"text": covered})
    return {"id": "r", "type": "labels", "from_name": "label", "to_name": "text", "value": value}


def task(content: str, *results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    annotations = [{"id": 1, "was_cancelled": False, "result": list(results)}]
    return {"id": 1, "data": {"text": content}, "annotations": annotations, "predictions": []} | fields


def studio(folder: Path, *tasks: dict[str, Any], options: Options = EXACT) -> tuple[list[Document], Report]:
    return read_documents(labelstudio.FORMAT, saved(folder, "x.json", json.dumps(tasks, indent=1)), options)


def test_labelstudio_reads_regions(tmp_path: Path) -> None:
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
        "region without a label dropped": 1,
        "result without a region dropped": 2,
        "region of HTML dropped": 1,
        "prediction dropped": 1,
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
    assert report.counts["region whose offsets are UTF-16 units"] == 2
    assert report.counts["text that differs from what the offsets cover"] == 2


def test_labelstudio_reads_the_first_annotation_not_skipped(tmp_path: Path) -> None:
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
    assert report.counts == {"further annotation of a task dropped": 1, "skipped task dropped": 1}


def test_labelstudio_reads_a_real_export(tmp_path: Path) -> None:
    box = {"type": "rectanglelabels", "value": {"x": 1.5, "y": 2, "width": 3, "height": 4, "rectanglelabels": ["A"]}}
    sound = {"type": "labels", "value": {"start": 0.5, "end": 1.25, "channel": 0, "labels": ["Speech"]}}
    choice = {"type": "choices", "value": {"start": 0, "end": 3, "text": "the", "choices": ["good"]}}
    found, report = studio(
        tmp_path,
        task("the USA", region(4, 7, "USA", "GPE", "LOC"), choice, box, sound, predictions=[11, 12]),
        task("", id=2) | {"data": {"image": "/data/upload/1/a.png"}},
        task("", id=3) | {"data": {"image": "https://example.org/a.png", "body": "Bob"}},
    )
    assert [(document.id, document.text) for document in found] == [("1", "the USA"), ("3", "Bob")]
    assert spans_of(found[0]) == [(4, 7, "GPE"), (4, 7, "LOC")]
    assert report.counts == {
        "prediction dropped": 2,
        "region outside the text dropped": 2,
        "result without a region dropped": 1,
        "task without a text dropped": 1,
    }
    assert [finding.what for finding in report.findings][:2] == ["id 11", "id 12"]


def test_labelstudio_without_text_gives_a_warning(tmp_path: Path) -> None:
    box = {"type": "brushlabels", "value": {"format": "rle", "rle": [1], "brushlabels": ["A"]}}
    _, report = studio(tmp_path, task("Bob", box), task("Al", box))
    (note,) = [note for note in report.notes if note.startswith("warning")]
    assert "no entity in 2 sentences, read as labelstudio; field=..." in note


def test_labelstudio_reads_the_minimal_export(tmp_path: Path) -> None:
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


def test_labelstudio_is_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    monkeypatch.setattr(sources, "BYTES_AT_ONCE", 10_000)
    long = "word " * 2_000
    path.write_text("[" + ",\n".join(json.dumps(task(long, id=number)) for number in range(200)) + "]")
    tracemalloc.start()
    number = 0
    for record in records.read_records(path, EXACT, Report()):
        number += 1
        assert record.line == number
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert number == 200
    assert peak < 10**6 < path.stat().st_size
