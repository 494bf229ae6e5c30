"""DyGIE's data, which PURE and SciERT's heirs share: a document a line, its sentences, and their entities.

    {"doc_key": "d", "sentences": [["It", "rains"], ["in", "Rome"]], "ner": [[], [[3, 3, "GPE"]]]}

Entities are counted in tokens of the whole document, not of the sentence, and their ends are inclusive. Sentences are
called d-1, d-2 and so on; other ids are kept in `_ids`, for readers leave fields alone that begin so. Relations, events
and clusters are counted and left, and so is an entity that is in no sentence whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestag.corpora.document import document_of
from nestag.corpora.fields import id_or_none, short, words_field
from nestag.corpora.format import Format
from nestag.corpora.records import any_object
from nestag.corpora.report import Report, describe
from nestag.corpora.tokenrecords import count_left, inclusive, is_tokens, reader, writer
from nestag.data import Entity, Sentence
from nestag.errors import DataError


def sentences_from(fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
    """The sentences of a document."""
    sentences, spans = fields.get("sentences"), fields.get("ner")
    if not isinstance(sentences, list):
        raise DataError(f"'sentences' is {short(sentences)}; make it a list of lists of words")
    spans = [[] for _ in sentences] if spans is None else spans
    if not isinstance(spans, list) or len(spans) != len(sentences):
        raise DataError(f"'ner' is {short(spans)}; make it a list with one list of entities for each sentence")
    names = _names(fields, len(sentences))
    first = 0
    for words, members, name in zip(sentences, spans, names, strict=True):
        tokens = words_field({"sentences": words}, "sentences")
        found = list(_entities(members, first, len(tokens), place, report))
        sentence = Sentence(tokens, found, name)
        report.duplicates(found, sentence, place)
        yield sentence
        first += len(tokens)
    for key in ("relations", "events", "clusters"):
        count_left(fields, key, key.removesuffix("s"), place, report)


def to_record(sentences: list[Sentence]) -> dict[str, Any]:
    """The inverse of `sentences_from`."""
    name = document_of(sentences[0]) or sentences[0].id or ""
    spans: list[list[Any]] = []
    first = 0
    for sentence in sentences:
        spans.append([[first + start, first + end - 1, kind] for start, end, kind in sentence.entities])
        first += len(sentence)
    record = {"doc_key": name, "sentences": [sentence.tokens for sentence in sentences], "ner": spans}
    names = [sentence.id for sentence in sentences]
    return record if names == [f"{name}-{number}" for number, _ in enumerate(names, 1)] else record | {"_ids": names}


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file has sentences of tokens, and a key or entities."""
    return any_object(head, _is_document)


def _is_document(fields: dict[str, Any]) -> bool:
    sentences = fields.get("sentences", 0)
    listed = sentences is None or (isinstance(sentences, list) and all(map(is_tokens, sentences)))
    return listed and not fields.keys().isdisjoint({"ner", "doc_key"})


def _names(fields: dict[str, Any], count: int) -> list[str | None]:
    names = fields.get("_ids")
    if isinstance(names, list) and len(names) == count:
        return [id_or_none({"_ids": name}, "_ids") for name in names]
    key = id_or_none(fields, "doc_key" if "doc_key" in fields else "doc_id")
    return [None if key is None else f"{key}-{number}" for number in range(1, count + 1)]


def _entities(members: object, first: int, length: int, place: str, report: Report) -> Iterator[Entity]:
    """The entities of a sentence that begins with the token `first` of its document."""
    if not isinstance(members, list):
        raise DataError(f"{members!r:.60} in 'ner' is no list of entities; write one for each sentence")
    for member in members:
        start, end, kind = inclusive(member)
        entity = Entity(start - first, end - first, kind)
        if entity.start < 0 or entity.end > length:
            report.lose("entity outside its sentence left out", place, describe(Entity(start, end, kind)))
        else:
            yield entity


def _together(before: Sentence, sentence: Sentence) -> bool:
    return document_of(before) == document_of(sentence) != ""


FORMAT = Format(
    "dygie",
    "DyGIE's and PURE's JSON of documents",
    (".dygie.jsonl", ".dygie.json"),
    reader(sentences_from),
    writer(to_record, lines=True, together=_together),
    looks_like,
)
