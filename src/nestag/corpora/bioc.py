"""BioC's documents as JSON has them <-> documents: passages, sentences, annotations and their places.

    {"id": "1", "passages": [{"offset": 0, "text": "the USA", "annotations": [
        {"id": "T1", "infons": {"type": "GPE"}, "locations": [{"offset": 0, "length": 7}], "text": "the USA"}]}]}

Passages say where they begin in the document; what stands between them is not in the file, and is a line end and
spaces here. No sentence of ours goes over the border of a passage, or of one of its sentences. `field` names the infon
that is the type of an entity, if that is not "type". An annotation with several places is discontinuous, and set aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestag.corpora.document import Document, TextSpan
from nestag.corpora.fields import id_or_none, list_field, number_field, short, text_field
from nestag.corpora.format import Options
from nestag.corpora.report import Report
from nestag.corpora.segment import Segment, segments
from nestag.errors import DataError

TYPE = "type"


def document_from(fields: dict[str, Any], name: str, place: str, options: Options, report: Report) -> Document:
    """The document of an object; a DataError says what is wrong with it."""
    if not isinstance(fields.get("passages"), list):
        raise DataError(f"'passages' is {short(fields.get('passages'))}; a document of BioC has a list of them")
    text = ""
    words: list[Segment] = []
    passages = list(_passages(fields))
    for passage in passages:
        offset = number_field(passage, "offset")
        if offset < len(text):
            raise DataError(f"a passage begins at {offset}, inside the one before it, which ends at {len(text)}")
        gap = offset - len(text)
        text += (f"\n{' ' * (gap - 1)}" if text else " " * gap) if gap else ""
        piece = text_field(passage, "text") if passage.get("text") is not None else ""
        words += [[(a + offset, b + offset) for a, b in segment] for segment in segments(piece, options)]
        text += piece
    for relation in (relation for part in (fields, *passages) for relation in list_field(part, "relations")):
        report.add("relation left out", place, str(relation.get("id")))
    spans = tuple(_spans(fields, passages, text, place, options, report))
    return Document(id_or_none(fields, "id") or name, text, spans, tuple(words))


def to_record(document: Document) -> dict[str, Any]:
    """The inverse of `document_from`: one passage with all of the text."""
    annotations = [
        {
            "id": f"T{number}",
            "infons": {TYPE: kind},
            "text": document.text[start:end],
            "locations": [{"offset": start, "length": end - start}],
        }
        for number, (start, end, kind) in enumerate(document.spans, 1)
    ]
    passage = {"offset": 0, "infons": {}, "text": document.text, "sentences": [], "annotations": annotations}
    return {"id": document.id, "infons": {}, "passages": [passage | {"relations": []}], "relations": []}


def _passages(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The passages that have a text, or their sentences if these have it."""
    for passage in list_field(fields, "passages"):
        sentences = list_field(passage, "sentences")
        if passage.get("text") is None and sentences:
            yield from sentences
            yield from ({**passage, "sentences": [], "text": "", "offset": _end(sentences)},) * _is_annotated(passage)
        else:
            inner = [entry for sentence in sentences for entry in list_field(sentence, "annotations")]
            yield {**passage, "annotations": [*list_field(passage, "annotations"), *inner]}


def _is_annotated(passage: dict[str, Any]) -> bool:
    return bool(passage.get("annotations") or passage.get("relations"))


def _end(sentences: list[dict[str, Any]]) -> int:
    return number_field(sentences[-1], "offset") + len(text_field(sentences[-1], "text"))


def _spans(
    fields: dict[str, Any], passages: list[dict[str, Any]], text: str, place: str, options: Options, report: Report
) -> Iterator[TextSpan]:
    infon = options.field or TYPE
    for annotation in (entry for part in (fields, *passages) for entry in list_field(part, "annotations")):
        infons = annotation.get("infons")
        kind = infons.get(infon) if isinstance(infons, dict) else None
        places = [(number_field(one, "offset"), number_field(one, "length")) for one in _locations(annotation)]
        told = f"{annotation.get('id')} {kind} {str(annotation.get('text'))[:40]!r}"
        if not kind or not isinstance(kind, str):
            report.lose(f"annotation without the infon {infon!r} left out", place, told)
        elif len(places) != 1:
            report.lose(f"{'discontinuous' if places else 'placeless'} entity set aside", place, told)
        else:
            start, length = places[0]
            covered = annotation.get("text")
            if isinstance(covered, str) and covered.split() != text[start : start + length].split():
                report.add("text that differs from what the offsets cover", place, told)
            yield TextSpan(start, start + length, kind)


def _locations(annotation: dict[str, Any]) -> list[dict[str, Any]]:
    """The places of an annotation; those that touch or repeat are one."""
    joined: list[dict[str, Any]] = []
    for location in list_field(annotation, "locations"):
        if location not in joined:
            joined.append(location)
    return joined
