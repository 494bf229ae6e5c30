"""doccano's JSON Lines: one text a line, entities as spans of characters.

    {"id": 7, "text": "the USA", "label": [[0, 7, "GPE"]]}
    {"id": 7, "text": "the USA", "entities": [{"id": 1, "label": "GPE", "start_offset": 0, "end_offset": 7}]}

Both are read (`labels` and `annotations` for `label` as well, `data` for `text`, and all of it as one JSON list), the
first is written. Relations are counted and left, further fields left alone. doccano counts as browsers do, in units of
UTF-16, where an emoji is two; so offsets in a text that has such characters are taken, and written, in units, and the
report says in how many texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nestag.corpora.document import Document, TextSpan, documents_of
from nestag.corpora.fields import as_id, label_field, list_field, name_of, number_field, text_field
from nestag.corpora.format import DEFAULT, Format, Options
from nestag.corpora.records import Record, any_object, document_reader
from nestag.corpora.report import Report
from nestag.corpora.utf16 import Utf16
from nestag.data import Sentence
from nestag.errors import DataError
from nestag.files import writing

_TEXT = ("text", "data")
_OTHERS = {"tokens", "spans", "annotator", "annotation_id", "lead_time", "sentences"}
"""Fields of other formats that have a text and labels as well."""
_SPANS = ("label", "labels", "entities", "annotations")


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One line for each document."""
    with writing(path) as stream:
        for document in documents_of(sentences, report):
            stream.write(to_line(document))


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file is a text with a list of labels."""
    return any_object(head, _is_labelled)


def document_from(record: Record, path: str | Path, options: Options, report: Report) -> Document:
    """A parsed line as a document."""
    line, fields, own = record
    name = name_of(fields, path, own)
    text = text_field(fields, next((key for key in _TEXT if key in fields), "text"))
    units = Utf16(text)
    key = next((key for key in _SPANS if fields.get(key) is not None), "label")
    members = fields.get(key, [])
    if not isinstance(members, list):
        raise DataError(f'{key!r} is {members!r:.60}; write a list of [start, end, "TYPE"]')
    spans = tuple(_span(member, units) for member in members)
    if spans and units.differs:
        report.add("text whose offsets were taken as units of UTF-16", f"{path}:{line}", repr(text[:40]))
    for relation in list_field(fields, "relations"):
        report.add("relation left out", f"{path}:{line}", str(relation.get("type")))
    return Document(name, text, spans)


def to_line(document: Document) -> str:
    """The inverse of `document_from`."""
    units = Utf16(document.text)
    spans = [[units.to_units(start), units.to_units(end), kind] for start, end, kind in document.spans]
    return json.dumps({"id": as_id(document.id), "text": document.text, "label": spans}, ensure_ascii=False) + "\n"


def _is_labelled(fields: dict[str, Any]) -> bool:
    if not fields.keys().isdisjoint(_OTHERS) or not any(isinstance(fields.get(key, 0), str | None) for key in _TEXT):
        return False
    lists = [fields[key] for key in _SPANS if key in fields]
    return any(value is None or (isinstance(value, list) and all(map(_is_span, value))) for value in lists)


def _is_span(member: Any) -> bool:
    return "start_offset" in member if isinstance(member, dict) else isinstance(member, list) and len(member) == 3


def _span(member: Any, units: Utf16) -> TextSpan:
    if isinstance(member, dict):
        fields = member
    elif isinstance(member, list) and len(member) == 3:
        fields = dict(zip(("start_offset", "end_offset", "label"), member, strict=True))
    else:
        raise DataError(f'{member!r:.60} is not [start, end, "TYPE"]; export the labels of sequences, not of texts')
    start, end = number_field(fields, "start_offset"), number_field(fields, "end_offset")
    return TextSpan(units.from_units(start), units.from_units(end), label_field(fields, "label"))


FORMAT = Format(
    "doccano",
    "doccano's JSON Lines",
    (".doccano.jsonl",),
    document_reader(document_from),
    write,
    looks_like,
    raw_text=True,
)
