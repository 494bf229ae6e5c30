"""OneIE's data: a sentence a line, with tokens and mentions of entities, whose ends are exclusive.

    {"sent_id": "d-1", "tokens": ["the", "USA"], "entity_mentions": [{"start": 0, "end": 2, "entity_type": "GPE"}]}

Relations and events are counted and left; further fields, such as subwords, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestag.corpora.document import document_of
from nestag.corpora.fields import id_or_none, label_field, list_field, number_field, words_field
from nestag.corpora.format import Format
from nestag.corpora.records import any_object
from nestag.corpora.report import Report
from nestag.corpora.tokenrecords import count_left, is_tokens, reader, writer
from nestag.data import Entity, Sentence


def sentences_from(fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
    """The sentence of an object."""
    found = [
        Entity(number_field(entity, "start"), number_field(entity, "end"), label_field(entity, "entity_type"))
        for entity in list_field(fields, "entity_mentions")
    ]
    sentence = Sentence(words_field(fields, "tokens"), found, id_or_none(fields, "sent_id"))
    report.duplicates(found, sentence, place)
    count_left(fields, "relation_mentions", "relation", place, report)
    count_left(fields, "event_mentions", "event", place, report)
    yield sentence


def to_record(sentences: list[Sentence]) -> dict[str, Any]:
    """The inverse of `sentences_from`."""
    (sentence,) = sentences
    mentions = [
        {
            "id": f"{sentence.id}-E{number}",
            "text": " ".join(sentence.tokens[start:end]),
            "entity_type": kind,
            "start": start,
            "end": end,
        }
        for number, (start, end, kind) in enumerate(sentence.entities)
    ]
    names = {} if sentence.id is None else {"doc_id": document_of(sentence), "sent_id": sentence.id}
    record = {"tokens": sentence.tokens, "entity_mentions": mentions}
    return names | record | {"relation_mentions": [], "event_mentions": []}


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file has tokens and mentions."""
    return any_object(head, lambda fields: is_tokens(fields.get("tokens", 0)) and "entity_mentions" in fields)


FORMAT = Format(
    "oneie",
    "OneIE's JSON Lines of tokens and mentions",
    (".oneie.json", ".oneie.jsonl"),
    reader(sentences_from),
    writer(to_record, lines=True),
    looks_like,
)
