"""Label Studio's JSON and JSON-MIN: a list of tasks, each with a text and the regions marked in it.

    [{"id": 7, "data": {"text": "the USA"}, "annotations": [{"was_cancelled": false, "result": [
       {"type": "labels", "from_name": "label", "to_name": "text",
        "value": {"start": 0, "end": 7, "text": "the USA", "labels": ["GPE"]}}]}]}]

    [{"id": 7, "text": "the USA", "label": [{"start": 0, "end": 7, "text": "the USA", "labels": ["GPE"]}]}]

Both are read, task by task, and the first is written. `field` names the part of the data that holds the text, if that
is not "text" or the only string. Of several annotations the first that was not skipped is taken; a region with several
labels is one entity each. Predictions, relations, choices, and regions of HTML, pictures or sound are counted and left.

Offsets count characters, as Label Studio does since the end of 2021; before, and for a while in 2024, it counted units
of UTF-16. A region says its text, so where that is found by units alone, units it is, and the report counts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from nestag.data.document import Document, TextSpan, documents_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import DataError, named
from nestag.formats.format import JSON, Format, Remedy, write_json
from nestag.formats.shared.records import (
    Record,
    any_object,
    as_id,
    document_reader,
    label_field,
    list_field,
    name_of,
    number_field,
    text_field,
)
from nestag.formats.shared.utf16 import Utf16

_MINIMAL = {"annotation_id", "annotator", "lead_time"}
"""What JSON-MIN writes in every task."""
_RESULTS = {"annotations", "completions", "predictions"}
_LINK = re.compile(r"(https?|s3|gs|azure-blob|data):\S+|/\S+\.\w{2,4}")
_DATES = {"created_at", "updated_at"}


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """One task for each document."""
    write_json(map(_task, documents_of(sentences, report)), path)


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file is a task."""
    return any_object(head, _is_task)


def document_from(record: Record, path: str | Path, options: Options, report: Report) -> Document | None:
    """A parsed task as a document; None if it was skipped."""
    line, fields, own = record
    place = f"{path}:{line}"
    whole = "data" in fields
    regions = _regions(fields, place, report) if whole else _minimal_regions(fields, place, report)
    if regions is None:
        report.add("skipped task set aside", place, f"task {fields.get('id')}")
        return None
    data = fields.get("data", fields)
    if not isinstance(data, dict):
        raise DataError(f"'data' is {data!r:.60}; make it an object with the text")
    key = _text_key(data, options.field)
    if key is None:
        report.add("task without a text set aside", place, f"data {', '.join(data)}")
        return None
    text = text_field(data, key)
    units = Utf16(text)
    spans = [_spans(region, text, units, place, report) for region in regions]
    return Document(name_of(fields, path, own), text, tuple(chain.from_iterable(spans)))


def _is_task(fields: dict[str, Any]) -> bool:
    whole = isinstance(fields.get("data", 0), dict | None) and not fields.keys().isdisjoint(_RESULTS)
    return whole or not fields.keys().isdisjoint(_MINIMAL)


def _task(document: Document) -> dict[str, Any]:
    result = [
        {
            "id": f"r{number}",
            "type": "labels",
            "from_name": "label",
            "to_name": "text",
            "value": {"start": start, "end": end, "text": document.text[start:end], "labels": [kind]},
        }
        for number, (start, end, kind) in enumerate(document.spans, 1)
    ]
    annotations = [{"was_cancelled": False, "result": result}]
    return {"id": as_id(document.id), "data": {"text": document.text}, "annotations": annotations, "predictions": []}


def _regions(task: dict[str, Any], place: str, report: Report) -> list[dict[str, Any]] | None:
    """The values of the marked regions; None if every annotator skipped the task."""
    annotations = list_field(task, "annotations") or list_field(task, "completions")
    for prediction in task.get("predictions") or ():
        told = prediction.get("model_version") if isinstance(prediction, dict) else f"id {prediction}"
        report.add("prediction left out", place, str(told))
    done = [entry for entry in annotations if not entry.get("was_cancelled")]
    for entry in done[1:]:
        report.add("further annotation of a task left out", place, f"annotation {entry.get('id')}")
    if not done:
        return None if annotations else []
    values = []
    for result in list_field(done[0], "result"):
        kind, value = str(result.get("type")), result.get("value")
        if isinstance(value, dict) and _marks_text(value):
            values.append(value)
        elif kind.endswith("labels"):
            report.lose("region that is no text left out", place, f"type {kind!r}")
        else:
            report.add("result that marks nothing left out", place, f"type {kind!r}")
    return values


def _minimal_regions(task: dict[str, Any], place: str, report: Report) -> list[dict[str, Any]]:
    lists = [value for value in task.values() if isinstance(value, list)]
    values = []
    for member in (member for value in lists for member in value if isinstance(member, dict)):
        if _marks_text(member):
            values.append(member)
        elif any(key.endswith("labels") for key in member):
            report.lose("region that is no text left out", place, ", ".join(member))
    return values


def _marks_text(value: dict[str, Any]) -> bool:
    """Whether a region has labels and lies in a text, not in a picture, a table or a stretch of time."""
    labelled = isinstance(value.get("labels") or value.get("hypertextlabels"), list) or value.get("labels") == []
    return labelled and "start" in value and not any(isinstance(value.get(key), float) for key in ("start", "end"))


def _text_key(data: dict[str, Any], field: str | None) -> str | None:
    """Where the text of a task is; None if it has but addresses of pictures or recordings."""
    if field is not None:
        return field
    known = [key for key, value in data.items() if isinstance(value, str) and key not in _DATES]
    strings = [key for key in known if not _LINK.fullmatch(data[key])]
    if "text" in known:
        return "text"
    if known and not strings:
        return None
    if len(strings) != 1:
        raise DataError(f"no field 'text'; say which holds the text with {named('field')}, one of {strings}")
    return strings[0]


def _spans(value: dict[str, Any], text: str, units: Utf16, place: str, report: Report) -> list[TextSpan]:
    """An entity for each label of a region."""
    labels: list[Any] = value.get("labels", value.get("hypertextlabels", []))
    if isinstance(value["start"], str) and not value["start"].isdecimal():
        report.lose("region of HTML left out", place, value["start"][:60])
        return []
    start, end = _number(value, "start"), _number(value, "end")
    covered = value.get("text")
    if isinstance(covered, str) and _plain(text[start:end]) != _plain(covered):
        start, end = _by_units(start, end, covered, text, units, place, report)
    if not labels:
        report.lose("region without a label left out", place, f"{start} to {end}")
    return [TextSpan(start, end, label_field({"labels": label}, "labels")) for label in labels]


def _number(value: dict[str, Any], key: str) -> int:
    """A place, which some versions write as a string."""
    place = value.get(key)
    return int(place) if isinstance(place, str) and place.isdecimal() and len(place) < 19 else number_field(value, key)


def _by_units(
    start: int, end: int, covered: str, text: str, units: Utf16, place: str, report: Report
) -> tuple[int, int]:
    """The offsets of a region that does not cover what it says, if they are right as units of UTF-16."""
    try:
        first, last = units.from_units(start), units.from_units(end)
    except DataError:
        first, last = start, end
    if _plain(text[first:last]) == _plain(covered):
        report.add("region whose offsets are units of UTF-16", place, f"{start} to {end} {covered[:60]!r}")
        return first, last
    report.add("region that says another text than it covers", place, f"{covered[:40]!r} at {text[start:end][:40]!r}")
    return start, end


def _plain(text: str) -> str:
    """Text without what Label Studio changes in its copy of it: white space, and how line ends are written."""
    return "".join(text.replace("\\n", " ").split())


FORMAT = Format(
    "labelstudio", "Label Studio's JSON", (".labelstudio.json",), document_reader(document_from), write, looks_like,
    raw_text=True, remedy=Remedy("field", "names the part of the data that is the text"), shared=JSON,
)  # fmt: skip
