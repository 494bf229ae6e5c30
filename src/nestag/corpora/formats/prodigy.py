"""Prodigy's JSON Lines: one example a line, with its text, its tokens and its spans of characters.

    {"text": "the USA", "meta": {"id": "7"}, "answer": "accept",
     "tokens": [{"text": "the", "start": 0, "end": 3, "id": 0, "ws": true}, ...],
     "spans": [{"start": 0, "end": 7, "label": "GPE", "token_start": 0, "token_end": 1}]}

Tokens, where there are some, are taken as they are; `token_end` is the last token of the span, not the one after it.
White space that Prodigy makes a token is no word, unless the token says so with `"word": true`, as ours do.
Examples that were rejected or ignored are counted and set aside, relations counted and left. Sentences are found in
the text, for the format does not hold them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nestag.corpora.document import Document, TextSpan, documents_of
from nestag.corpora.fields import label_field, list_field, name_of, number_field, text_field
from nestag.corpora.format import DEFAULT, Format, Options
from nestag.corpora.records import Record, any_object, document_reader
from nestag.corpora.report import Report
from nestag.corpora.segment import Offsets, given_words, grouped, laid_out
from nestag.data import Sentence
from nestag.files import writing

_MARKS = {"spans", "_input_hash", "_task_hash", "_session_id"}


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One accepted example for each document."""
    with writing(path) as stream:
        for document in documents_of(sentences, report, keeps_words=True):
            stream.write(to_line(document))


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file is a text with spans, or with the marks of Prodigy."""
    return any_object(head, lambda fields: "text" in fields and not fields.keys().isdisjoint(_MARKS))


def document_from(record: Record, path: str | Path, options: Options, report: Report) -> Document | None:
    """A parsed line as a document; None if it was not accepted."""
    line, fields, own = record
    place = f"{path}:{line}"
    answer = fields.get("answer", "accept")
    if answer != "accept":
        report.add("example not accepted set aside", place, f"answer {answer!r}")
        return None
    text = text_field(fields, "text")
    meta = fields.get("meta")
    named = meta if "id" not in fields and isinstance(meta, dict) and isinstance(meta.get("id"), str | int) else fields
    spans = tuple(_span(span) for span in list_field(fields, "spans"))
    for relation in list_field(fields, "relations"):
        report.add("relation left out", place, str(relation.get("label")))
    tokens = list_field(fields, "tokens")
    words = given_words(text, _offsets(tokens, text), place, report) if tokens else None
    return Document(
        name_of(named, path, own), text, spans, None if words is None else tuple(grouped(words, text, options))
    )


def to_line(document: Document) -> str:
    """The inverse of `document_from`."""
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
    example: dict[str, Any] = {"text": document.text, "tokens": tokens, "spans": spans, "answer": "accept"}
    return json.dumps(example | {"meta": {"id": document.id}}, ensure_ascii=False) + "\n"


def _offsets(tokens: Iterable[dict[str, Any]], text: str) -> Iterator[Offsets]:
    """Where the tokens stand that are words."""
    for token in tokens:
        start, end = number_field(token, "start"), number_field(token, "end")
        if token.get("word") is True or not text[max(0, start) : max(0, end)].isspace():
            yield start, end


def _span(fields: dict[str, Any]) -> TextSpan:
    return TextSpan(number_field(fields, "start"), number_field(fields, "end"), label_field(fields, "label"))


FORMAT = Format(
    "prodigy",
    "Prodigy's JSON Lines",
    (".prodigy.jsonl",),
    document_reader(document_from),
    write,
    looks_like,
    raw_text=True,
)
