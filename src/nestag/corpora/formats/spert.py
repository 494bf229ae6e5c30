"""SpERT's data: a list of objects with tokens and entities, whose ends are exclusive.

    [{"tokens": ["the", "USA"], "entities": [{"type": "Loc", "start": 0, "end": 2}], "relations": [], "orig_id": 7}]

`orig_id` is the id of the sentence; relations are counted and left. Objects of that kind one a line are nestag's own
format (jsonl).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestag.corpora.fields import id_or_none, list_field, number_field, text_field, words_field
from nestag.corpora.format import Format
from nestag.corpora.records import any_object, is_list
from nestag.corpora.report import Report
from nestag.corpora.tokenrecords import count_left, is_tokens, reader, writer
from nestag.data import Entity, Sentence


def sentences_from(fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
    """The sentence of an object."""
    found = [
        Entity(number_field(entity, "start"), number_field(entity, "end"), text_field(entity, "type"))
        for entity in list_field(fields, "entities")
    ]
    name = id_or_none(fields, "orig_id" if "orig_id" in fields else "id")
    sentence = Sentence(words_field(fields, "tokens"), found, name)
    report.duplicates(found, sentence, place)
    count_left(fields, "relations", "relation", place, report)
    yield sentence


def to_record(sentences: list[Sentence]) -> dict[str, Any]:
    """The inverse of `sentences_from`."""
    (sentence,) = sentences
    entities = [{"type": kind, "start": start, "end": end} for start, end, kind in sentence.entities]
    name = {} if sentence.id is None else {"orig_id": sentence.id}
    return {"tokens": sentence.tokens, "entities": entities, "relations": [], **name}


def looks_like(head: str) -> bool:
    """Whether a file is a list, and one of the first objects has tokens and entities."""
    return is_list(head) and any_object(head, lambda f: is_tokens(f.get("tokens", 0)) and "entities" in f)


FORMAT = Format(
    "spert",
    "SpERT's JSON list of tokens and spans",
    (".spert.json",),
    reader(sentences_from),
    writer(to_record),
    looks_like,
)
