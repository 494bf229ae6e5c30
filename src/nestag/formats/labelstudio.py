"""Label Studio's JSON and JSON-MIN: a list of tasks, each with a text and the regions marked in it.

    [{"id": 7, "data": {"text": "the USA"}, "annotations": [{"was_cancelled": false, "result": [
       {"type": "labels", "from_name": "label", "to_name": "text",
        "value": {"start": 0, "end": 7, "text": "the USA", "labels": ["GPE"]}}]}]}]

    [{"id": 7, "text": "the USA", "label": [{"start": 0, "end": 7, "text": "the USA", "labels": ["GPE"]}]}]

Both are read and the first is written. Of several annotations, the first that was not skipped is read. Offsets count
characters, as in Label Studio since the end of 2021. Before, and for a while in 2024, it counted UTF-16 units. If the
text of a region is found only at its offsets in units, these count, and the report says so.
"""

from __future__ import annotations

import re
from typing import Any

from nestag.data.document import Document, TextSpan, Utf16, same_text
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.errors import DataError, named
from nestag.formats.registry import JSON, Format, Remedy
from nestag.formats.shared.records import Fields, Record, any_object, as_id, document_reader, document_writer
from nestag.formats.shared.tags import refuse_deep

_MINIMAL = {"annotation_id", "annotator", "lead_time"}  # fields that every task of JSON-MIN has
_RESULTS = {"annotations", "completions", "predictions"}
_LINK = re.compile(r"(https?|s3|gs|azure-blob|data):\S+|/\S+\.\w{2,4}")
_DATES = {"created_at", "updated_at"}


def document_from(record: Record, options: Options, report: Report) -> Document | None:
    """Return the document of a parsed task, or None if it was skipped."""
    fields, place = record.fields, record.place
    regions = _regions(fields, place, report) if "data" in fields else _minimal_regions(fields, place, report)
    if regions is None:
        report.add("skipped task dropped", place, f"task {fields.get('id')}")
        return None
    data = fields.get("data", fields)
    if not isinstance(data, dict):
        raise DataError(f"'data' is {data!r:.60}; make it an object with the text")
    data = Fields(data)
    key = _text_key(data, options.field)
    if key is None:
        report.add("task without a text dropped", place, f"data {', '.join(data)}")
        return None
    text = data.text(key)
    units = Utf16(text)
    spans = [span for region in regions for span in _spans(region, text, units, place, report)]
    return Document(fields.name(record.name), text, tuple(spans))


def _is_task(fields: dict[str, Any]) -> bool:
    full = isinstance(fields.get("data", 0), dict | None) and not fields.keys().isdisjoint(_RESULTS)
    return full or not fields.keys().isdisjoint(_MINIMAL)


def _task(document: Document) -> dict[str, Any]:
    refuse_deep(document.spans, document.id)
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


def _regions(task: Fields, place: str, report: Report) -> list[Fields] | None:
    """Return the values of the marked regions, or None if every annotator skipped the task."""
    annotations = task.objects("annotations") or task.objects("completions")
    for prediction in task.get("predictions") or ():
        version = prediction.get("model_version") if isinstance(prediction, dict) else f"id {prediction}"
        report.add("prediction dropped", place, str(version))
    done = [annotation for annotation in annotations if not annotation.get("was_cancelled")]
    for annotation in done[1:]:
        report.add("further annotation of a task dropped", place, f"annotation {annotation.get('id')}")
    if not done:
        return None if annotations else []
    values = []
    for result in done[0].objects("result"):
        kind, value = str(result.get("type")), result.get("value")
        if isinstance(value, dict) and _marks_text(value):
            values.append(Fields(value))
        elif kind.endswith("labels"):
            report.lose("region outside the text dropped", place, f"type {kind!r}")
        else:
            report.add("result without a region dropped", place, f"type {kind!r}")
    return values


def _minimal_regions(task: Fields, place: str, report: Report) -> list[Fields]:
    values = []
    lists = [value for value in task.values() if isinstance(value, list)]
    for member in (member for value in lists for member in value if isinstance(member, dict)):
        if _marks_text(member):
            values.append(Fields(member))
        elif any(key.endswith("labels") for key in member):
            report.lose("region outside the text dropped", place, ", ".join(member))
    return values


def _marks_text(value: dict[str, Any]) -> bool:
    """Say whether a region has labels and lies in a text, not in a picture, a table or a recording."""
    labelled = isinstance(value.get("labels") or value.get("hypertextlabels"), list) or value.get("labels") == []
    return labelled and "start" in value and not any(isinstance(value.get(key), float) for key in ("start", "end"))


def _text_key(data: Fields, field: str | None) -> str | None:
    """Return the name of a task's text, or None if it has only addresses of pictures or recordings."""
    if field is not None:
        return field
    strings = [key for key, value in data.items() if isinstance(value, str) and key not in _DATES]
    texts = [key for key in strings if not _LINK.fullmatch(data[key])]
    if "text" in strings:
        return "text"
    if strings and not texts:
        return None
    if len(texts) != 1:
        raise DataError(f"no field 'text'; say which holds the text with {named('field')}, one of {texts}")
    return texts[0]


def _spans(value: Fields, text: str, units: Utf16, place: str, report: Report) -> list[TextSpan]:
    """Return an entity for each label of a region."""
    labels: list[Any] = value.get("labels", value.get("hypertextlabels", []))
    if isinstance(value["start"], str) and not value["start"].isdecimal():
        report.lose("region of HTML dropped", place, value["start"][:60])
        return []
    start, end = _number(value, "start"), _number(value, "end")
    covered = value.get("text")
    if isinstance(covered, str) and not _covers(text[start:end], covered):
        start, end = _by_units(start, end, covered, text, units, place, report)
    if not labels:
        report.lose("region without a label dropped", place, f"{start} to {end}")
    return [TextSpan(start, end, Fields({"labels": label}).label("labels")) for label in labels]


def _number(value: Fields, key: str) -> int:
    """Return an offset, which some versions write as a string."""
    place = value.get(key)
    return int(place) if isinstance(place, str) and place.isdecimal() and len(place) < 19 else value.number(key)


def _by_units(
    start: int, end: int, covered: str, text: str, units: Utf16, place: str, report: Report
) -> tuple[int, int]:
    """Return the offsets of a region that do not cover its text, converted from UTF-16 units if that helps."""
    try:
        first, last = units.from_units(start), units.from_units(end)
    except DataError:
        first, last = start, end
    if _covers(text[first:last], covered):
        report.add("region whose offsets are UTF-16 units", place, f"{start} to {end} {covered[:60]!r}")
        return first, last
    report.add("text that differs from what the offsets cover", place, f"{covered[:40]!r} at {text[start:end][:40]!r}")
    return start, end


def _covers(text: str, covered: str) -> bool:
    """Compare texts, ignoring white space and the notation of line ends, which Label Studio changes in its copy."""
    return same_text(text.replace("\\n", " "), covered.replace("\\n", " "))


FORMAT = Format(
    "labelstudio", "Label Studio's JSON", (".labelstudio.json",), document_reader(document_from),
    document_writer(_task), lambda head: any_object(head, _is_task), raw_text=True,
    remedy=Remedy("field", "names the part of the data that is the text"), shared=JSON,
)  # fmt: skip
