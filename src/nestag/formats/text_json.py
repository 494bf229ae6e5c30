"""JSON of texts and spans of characters: doccano, Prodigy, and spaCy 2's training data.

    doccano   {"id": 7, "text": "the USA", "label": [[0, 7, "GPE"]]}
              {"id": 7, "text": "the USA", "entities": [{"id": 1, "label": "GPE", "start_offset": 0, "end_offset": 7}]}
    prodigy   {"text": "the USA", "meta": {"id": "7"}, "answer": "accept",
               "tokens": [{"text": "the", "start": 0, "end": 3, "id": 0, "ws": true}, ...],
               "spans": [{"start": 0, "end": 7, "label": "GPE", "token_start": 0, "token_end": 1}]}
    spacy2    [["the USA", {"entities": [[0, 7, "GPE"], [4, 7, "ACRONYM"]]}]]

doccano: both are read (`labels` and `annotations` for `label` as well, and `data` for `text`), the first is written.
It counts offsets in UTF-16 units, where an emoji is two; the report counts the texts in which that matters.

prodigy: tokens are kept; `token_end` is the last token of the span. White space that Prodigy makes a token is not a
word, unless the token has `"word": true`, as ours do. Rejected and ignored examples are counted and dropped.

spacy2: one pair per line is read as well, the same inside `{"classes": [...], "annotations": [...]}`, and spaCy's other
format, whose documents have paragraphs of sentences of tokens with tags in `ner`. Documents have no names there; they
are numbered.

All are read as a list or one object per line. Relations are counted and dropped, further fields ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nestag.data.document import Document, TextSpan, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Offsets, Options, given_words, grouped, laid_out
from nestag.data.sentence import Sentence
from nestag.errors import DataError
from nestag.formats.format import JSON, Format, skipping, write_json
from nestag.formats.shared.records import (
    Record,
    Value,
    any_object,
    as_id,
    document_reader,
    id_or_none,
    label_field,
    list_field,
    name_of,
    number_field,
    read_values,
    sampled,
    short,
    text_field,
)
from nestag.formats.shared.tags import OUTSIDE, Tag, entities_of, parsed
from nestag.formats.shared.utf16 import Utf16

_TEXT = ("text", "data")
_LABELS = ("label", "labels", "entities", "annotations")
_NOT_DOCCANO = {"tokens", "spans", "annotator", "annotation_id", "lead_time", "sentences"}
_PRODIGY = {"spans", "_input_hash", "_task_hash", "_session_id"}


def _span(fields: dict[str, Any], start: str = "start", end: str = "end", kind: str = "label") -> TextSpan:
    return TextSpan(number_field(fields, start), number_field(fields, end), label_field(fields, kind))


def _read_doccano(record: Record, path: str | Path, options: Options, report: Report) -> Document:
    line, fields, name = record
    text = text_field(fields, next((key for key in _TEXT if key in fields), "text"))
    units = Utf16(text)
    key = next((key for key in _LABELS if fields.get(key) is not None), "label")
    members = fields.get(key, [])
    if not isinstance(members, list):
        raise DataError(f'{key!r} is {members!r:.60}; write a list of [start, end, "TYPE"]')
    spans = tuple(_doccano_span(member, units) for member in members)
    if spans and units.differs:
        report.add("text whose offsets were taken as units of UTF-16", f"{path}:{line}", repr(text[:40]))
    for relation in list_field(fields, "relations"):
        report.add("relation left out", f"{path}:{line}", str(relation.get("type")))
    return Document(name_of(fields, path, name), text, spans)


def _doccano_span(member: Any, units: Utf16) -> TextSpan:
    keys = ("start_offset", "end_offset", "label")
    if isinstance(member, list) and len(member) == 3:
        member = dict(zip(keys, member, strict=True))
    if not isinstance(member, dict):
        raise DataError(f'{member!r:.60} is not [start, end, "TYPE"]; export the labels of sequences, not of texts')
    start, end, kind = _span(member, *keys)
    return TextSpan(units.from_units(start), units.from_units(end), kind)


def _write_doccano(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    def record(document: Document) -> dict[str, Any]:
        units = Utf16(document.text)
        spans = [[units.to_units(start), units.to_units(end), kind] for start, end, kind in document.spans]
        return {"id": as_id(document.id), "text": document.text, "label": spans}

    write_json(map(record, documents_of(sentences, report)), path, lines=True)


def _is_doccano(fields: dict[str, Any]) -> bool:
    if not fields.keys().isdisjoint(_NOT_DOCCANO) or not any(
        isinstance(fields.get(key, 0), str | None) for key in _TEXT
    ):
        return False
    lists = [fields[key] for key in _LABELS if key in fields]
    return any(value is None or (isinstance(value, list) and all(map(_is_doccano_span, value))) for value in lists)


def _is_doccano_span(member: Any) -> bool:
    return "start_offset" in member if isinstance(member, dict) else isinstance(member, list) and len(member) == 3


def _read_prodigy(record: Record, path: str | Path, options: Options, report: Report) -> Document | None:
    """The document of an example; None if it was not accepted."""
    line, fields, name = record
    place = f"{path}:{line}"
    answer = fields.get("answer", "accept")
    if answer != "accept":
        report.add("example not accepted set aside", place, f"answer {answer!r}")
        return None
    text = text_field(fields, "text")
    meta = fields.get("meta")
    named = meta if "id" not in fields and isinstance(meta, dict) and isinstance(meta.get("id"), str | int) else fields
    spans = tuple(map(_span, list_field(fields, "spans")))
    for relation in list_field(fields, "relations"):
        report.add("relation left out", place, str(relation.get("label")))
    tokens = list_field(fields, "tokens")
    words = grouped(given_words(text, _prodigy_words(tokens, text), place, report), text, options) if tokens else None
    return Document(name_of(named, path, name), text, spans, None if words is None else tuple(words))


def _prodigy_words(tokens: Iterable[dict[str, Any]], text: str) -> Iterator[Offsets]:
    """The offsets of the tokens that are words."""
    for token in tokens:
        start, end = number_field(token, "start"), number_field(token, "end")
        if token.get("word") is True or not text[max(0, start) : max(0, end)].isspace():
            yield start, end


def _write_prodigy(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    write_json(map(_to_prodigy, documents_of(sentences, report, keeps_words=True)), path, lines=True)


def _to_prodigy(document: Document) -> dict[str, Any]:
    words = [word for segment in document.words or () for word in segment]
    blank = {start for start, end in words if document.text[start:end].isspace()}
    pieces = laid_out(document.text, words)
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
    for number, (line, value) in enumerate(_examples(read_values(path, options, report)), 1):
        sentences: list[Sentence] = []
        with skipping(options, report, path, line):
            name = name_of({}, path, str(number))
            if isinstance(value, dict) and "paragraphs" in value:
                sentences = list(_tagged_sentences(value, name, f"{path}:{line}", report))
            else:
                sentences = list(sentences_of(_spacy2_document(value, name), options, report))
        yield from sentences


def _examples(values: Iterable[Value]) -> Iterator[Value]:
    """The examples of a file, whichever way they are put into it."""
    text: str | None = None
    for line, value in values:
        if isinstance(value, str) and text is None:
            text = value  # a file that is one pair
        elif text is not None:
            yield Value(line, [text, value])
            text = None
        elif isinstance(value, dict) and isinstance(value.get("annotations"), list):
            yield from (Value(line, member) for member in value["annotations"] if member is not None)
        else:
            yield Value(line, value)


def _spacy2_document(value: Any, name: str) -> Document:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], dict):
        raise DataError(f'{short(value)} is no example; write ["text", {{"entities": [[0, 4, "TYPE"]]}}]')
    text, members = text_field({"text": value[0]}, "text"), value[1].get("entities") or []
    if not isinstance(members, list):
        raise DataError(f"'entities' is {short(members)}; make it a list of [start, end, \"TYPE\"]")
    spans: list[TextSpan] = []
    for member in members:
        if not isinstance(member, list) or len(member) < 3:
            raise DataError(f'{member!r:.60} is no entity; write [start, end, "TYPE"]')
        spans.append(_span(dict(zip(("start", "end", "label"), member, strict=False))))
    return Document(name, text, tuple(spans))


def _tagged_sentences(fields: dict[str, Any], name: str, place: str, report: Report) -> Iterator[Sentence]:
    """The sentences of a document of paragraphs; a tag that is missing counts as O."""
    name = id_or_none(fields, "id") or name
    paragraphs = list_field(fields, "paragraphs")
    sentences = (sentence for paragraph in paragraphs for sentence in list_field(paragraph, "sentences"))
    for number, sentence in enumerate(sentences, 1):
        tokens = list_field(sentence, "tokens")
        entities = list(entities_of([_tag(token, place, report) for token in tokens], False, lambda _: place, report))
        yield Sentence([text_field(token, "orth") for token in tokens], entities, f"{name}-{number}")


def _tag(token: dict[str, Any], place: str, report: Report) -> Tag:
    text = token.get("ner") or "O"
    if text == "-":
        report.add("token without a tag read as O", place, str(token.get("orth")))
        return OUTSIDE
    tags = parsed(text) if isinstance(text, str) else None
    if not tags:
        raise DataError(f"'ner' is {short(text)}; make it O, or B-TYPE and so on")
    return tags[0]


def _write_spacy2(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    def record(document: Document) -> list[Any]:
        if document.id:
            report.add("name of a document left out", str(path), document.id)
        return [document.text, {"entities": [list(span) for span in document.spans]}]

    write_json(map(record, documents_of(sentences, report)), path)


def _looks_like_spacy2(head: str) -> bool:
    """Whether one of the first values of a file is an example, or holds some."""
    values = sampled(head)
    pair = len(values) > 1 and _is_example(list(values[:2]))
    return pair or any(_is_example(value) or _holds_examples(value) for value in values)


def _is_example(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    text, entities = value
    return isinstance(text, str) and isinstance(entities, dict) and "entities" in entities


def _holds_examples(value: object) -> bool:
    if not isinstance(value, dict) or "paragraphs" in value:
        return isinstance(value, dict)
    members = value.get("annotations", 0)
    known = isinstance(members, list) and any(map(_is_example, members))
    return known or ("classes" in value and isinstance(members, list | None))


FORMATS = (
    Format(
        "doccano", "doccano's JSON Lines", (".doccano.jsonl",), document_reader(_read_doccano), _write_doccano,
        lambda head: any_object(head, _is_doccano), raw_text=True, shared=JSON,
    ),
    Format(
        "prodigy", "Prodigy's JSON Lines", (".prodigy.jsonl",), document_reader(_read_prodigy), _write_prodigy,
        lambda head: any_object(head, lambda fields: "text" in fields and not fields.keys().isdisjoint(_PRODIGY)),
        raw_text=True, shared=JSON,
    ),
    Format(
        "spacy2", "spaCy 2's JSON of texts and entities", (".spacy2.json",), _read_spacy2, _write_spacy2,
        _looks_like_spacy2, raw_text=True, shared=JSON,
    ),
)  # fmt: skip
