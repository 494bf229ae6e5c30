"""JSON of texts and spans of characters: doccano, Prodigy, and spaCy 2's training data.

    doccano   {"id": 7, "text": "the USA", "label": [[0, 7, "GPE"]]}
              {"id": 7, "text": "the USA", "entities": [{"id": 1, "label": "GPE", "start_offset": 0, "end_offset": 7}]}
    prodigy   {"text": "the USA", "meta": {"id": "7"}, "answer": "accept",
               "tokens": [{"text": "the", "start": 0, "end": 3, "id": 0, "ws": true}, ...],
               "spans": [{"start": 0, "end": 7, "label": "GPE", "token_start": 0, "token_end": 1}]}
    spacy2    [["the USA", {"entities": [[0, 7, "GPE"], [4, 7, "ACRONYM"]]}]]

All are read as a list or one object per line. doccano counts offsets in UTF-16 units, where an emoji is two. Prodigy's
`token_end` is the last token of the span; tokens of white space are not words, unless they have `"word": true`. spacy2
is also read inside `{"classes": [...], "annotations": [...]}` and as documents of paragraphs of tagged tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nestag.data.document import Document, TextSpan, Utf16, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Offsets, Options, check_words, group_words, pieces_of
from nestag.data.sentence import Sentence
from nestag.errors import DataError
from nestag.formats.folders import stem_of
from nestag.formats.registry import JSON, Format, skipping
from nestag.formats.shared import records
from nestag.formats.shared.records import Fields, Record, document_reader, document_writer
from nestag.formats.shared.tags import OUTSIDE, Tag, entities_of, parse_tags

_TEXT = ("text", "data")
_LABELS = ("label", "labels", "entities", "annotations")
_NOT_DOCCANO = {"tokens", "spans", "annotator", "annotation_id", "lead_time", "sentences"}
_PRODIGY = {"spans", "_input_hash", "_task_hash", "_session_id"}


def _span(member: Any, start: str = "start", end: str = "end", kind: str = "label") -> TextSpan:
    """Return the span of an object with start, end and type under these keys, or of a list of the three."""
    fields = Fields.of(member, start, end, kind)
    return TextSpan(fields.number(start), fields.number(end), fields.label(kind))


def _list(value: object, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f'{key!r} is {records.short(value)}; write a list of [start, end, "TYPE"]')
    return value


def _count_relations(record: Record, key: str, report: Report) -> None:
    for relation in record.fields.objects("relations"):
        report.add("relation dropped", record.place, str(relation.get(key)))


def _read_doccano(record: Record, options: Options, report: Report) -> Document:
    fields = record.fields
    text = fields.text(next((key for key in _TEXT if key in fields), "text"))
    units = Utf16(text)
    key = next((key for key in _LABELS if fields.get(key) is not None), "label")
    spans = [_span(m, "start_offset", "end_offset", "label") for m in _list(fields.get(key, []), key)]
    spans = [TextSpan(units.from_units(start), units.from_units(end), kind) for start, end, kind in spans]
    if spans and units.differs:
        report.add("text whose offsets were read as UTF-16 units", record.place, repr(text[:40]))
    _count_relations(record, "type", report)
    return Document(fields.name(record.name), text, tuple(spans))


def _to_doccano(document: Document) -> dict[str, Any]:
    units = Utf16(document.text)
    spans = [[units.to_units(start), units.to_units(end), kind] for start, end, kind in document.spans]
    return {"id": records.as_id(document.id), "text": document.text, "label": spans}


def _is_doccano(fields: dict[str, Any]) -> bool:
    has_text = any(isinstance(fields.get(key, 0), str | None) for key in _TEXT)
    lists = [fields[key] for key in _LABELS if key in fields]
    are_spans = (value is None or (isinstance(value, list) and all(map(_is_doccano_span, value))) for value in lists)
    return has_text and fields.keys().isdisjoint(_NOT_DOCCANO) and any(are_spans)


def _is_doccano_span(member: Any) -> bool:
    return "start_offset" in member if isinstance(member, dict) else isinstance(member, list) and len(member) == 3


def _read_prodigy(record: Record, options: Options, report: Report) -> Document | None:
    """Return the document of an example, or None if it was not accepted."""
    fields = record.fields
    answer = fields.get("answer", "accept")
    if answer != "accept":
        report.add("rejected or ignored example dropped", record.place, f"answer {answer!r}")
        return None
    text = fields.text("text")
    meta = fields.get("meta")
    in_meta = "id" not in fields and isinstance(meta, dict) and isinstance(meta.get("id"), str | int)
    names = Fields(meta or {}) if in_meta else fields
    spans = tuple(map(_span, fields.objects("spans")))
    _count_relations(record, "label", report)
    words = None
    if tokens := fields.objects("tokens"):
        offsets = check_words(text, _prodigy_words(tokens, text), record.place, report)
        words = tuple(group_words(offsets, text, options))
    return Document(names.name(record.name), text, spans, words)


def _prodigy_words(tokens: Iterable[Fields], text: str) -> Iterator[Offsets]:
    """Yield the offsets of the tokens that are words."""
    for token in tokens:
        start, end = token.number("start"), token.number("end")
        if token.get("word") is True or not text[max(0, start) : max(0, end)].isspace():
            yield start, end


def _to_prodigy(document: Document) -> dict[str, Any]:
    words = [word for segment in document.words or () for word in segment]
    blank = {start for start, end in words if document.text[start:end].isspace()}
    pieces = pieces_of(document.text, words)
    starts = {piece.start: number for number, piece in enumerate(pieces)}
    ends = {piece.end: number for number, piece in enumerate(pieces)}
    tokens = [
        {"text": document.text[a:b], "start": a, "end": b, "id": number, "ws": space}
        | ({"word": True} if a in blank else {})
        for number, (a, b, space) in enumerate(pieces)
    ]
    spans = [
        {"start": start, "end": end, "label": kind, "token_start": starts[start], "token_end": ends[end]}
        for start, end, kind in document.spans
    ]
    return {
        "text": document.text, "tokens": tokens, "spans": spans, "answer": "accept", "meta": {"id": document.id}
    }  # fmt: skip


def _read_spacy2(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    for number, (line, value, place, _) in enumerate(_examples(records.read_records(path, options, report)), 1):
        name = f"{stem_of(path)}:{number}"
        with skipping(options, report, path, line):
            if isinstance(value, dict) and "paragraphs" in value:
                yield from list(_tagged_sentences(Fields(value), name, place, report))
            else:
                yield from list(sentences_of(_spacy2_document(value, name), options, report))


def _examples(values: Iterable[Record]) -> Iterator[Record]:
    """Yield the examples of a file in any of its variants."""
    text: str | None = None
    for entry in values:
        value = entry.value
        if isinstance(value, str) and text is None:
            text = value  # a file that is one pair
        elif text is not None:
            yield entry._replace(value=[text, value])
            text = None
        elif isinstance(value, dict) and isinstance(value.get("annotations"), list):
            yield from (entry._replace(value=member) for member in value["annotations"] if member is not None)
        else:
            yield entry


def _spacy2_document(value: Any, name: str) -> Document:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], dict):
        raise DataError(f'{records.short(value)} is not an example; write ["text", {{"entities": [[0, 4, "TYPE"]]}}]')
    members = _list(value[1].get("entities") or [], "entities")
    return Document(name, Fields({"text": value[0]}).text("text"), tuple(map(_span, members)))


def _tagged_sentences(fields: Fields, name: str, place: str, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a document of paragraphs; a missing tag counts as O."""
    name = fields.id() or name
    paragraphs = fields.objects("paragraphs")
    sentences = (sentence for paragraph in paragraphs for sentence in paragraph.objects("sentences"))
    for number, sentence in enumerate(sentences, 1):
        tokens = sentence.objects("tokens")
        entities = list(entities_of([[_tag(token, place, report)] for token in tokens], lambda _: place, report))
        yield Sentence([token.text("orth") for token in tokens], entities, f"{name}-{number}")


def _tag(token: Fields, place: str, report: Report) -> Tag:
    text = token.get("ner") or "O"
    if text == "-":
        report.add("token without a tag read as O", place, str(token.get("orth")))
        return OUTSIDE
    tags = parse_tags(text) if isinstance(text, str) else None
    if not tags:
        raise DataError(f"'ner' is {records.short(text)}; make it O, or B-TYPE and so on")
    return tags[0]


def _write_spacy2(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    def example(document: Document) -> list[Any]:
        if document.id:
            report.add("name of a document dropped", str(path), document.id)
        return [document.text, {"entities": [list(span) for span in document.spans]}]

    records.write_json(map(example, documents_of(sentences, report)), path)


def _looks_like_spacy2(head: str) -> bool:
    """Say whether the first values of a file are an example, or one of them is or holds one."""
    values = records.sample(head)
    return any(map(_is_spacy2, [*values, list(values[:2])]))


def _is_spacy2(value: object) -> bool:
    match value:
        case [str(), {"entities": _}] | {"paragraphs": _} | {"classes": _, "annotations": list() | None}:
            return True
        case {"annotations": [*members]}:
            return any(map(_is_spacy2, members))
    return False


FORMATS = (
    Format(
        "doccano", "doccano's JSON Lines", (".doccano.jsonl",),
        document_reader(_read_doccano), document_writer(_to_doccano, lines=True),
        lambda head: records.any_object(head, _is_doccano), raw_text=True, shared=JSON,
    ),
    Format(
        "prodigy", "Prodigy's JSON Lines", (".prodigy.jsonl",),
        document_reader(_read_prodigy), document_writer(_to_prodigy, lines=True, keeps_words=True),
        lambda head: records.any_object(head, lambda fields: "text" in fields and not _PRODIGY.isdisjoint(fields)),
        raw_text=True, shared=JSON,
    ),
    Format(
        "spacy2", "spaCy 2's JSON of texts and entities", (".spacy2.json",), _read_spacy2, _write_spacy2,
        _looks_like_spacy2, raw_text=True, shared=JSON,
    ),
)  # fmt: skip
