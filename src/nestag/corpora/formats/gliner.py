"""GLiNER's training data: a list of objects with tokens and entities, whose ends are inclusive.

    [{"tokenized_text": ["the", "USA"], "ner": [[0, 1, "country"]]}]

Objects one a line are read as well, and written if the file is called .jsonl. `id` is kept if there is one; relations
are counted and left, further fields left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestag.corpora.fields import id_or_none, short, words_field
from nestag.corpora.format import Format
from nestag.corpora.records import any_object
from nestag.corpora.report import Report
from nestag.corpora.tokenrecords import count_left, inclusive, is_tokens, reader, writer
from nestag.data import Sentence
from nestag.errors import DataError


def sentences_from(fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
    """The sentence of an object."""
    spans = fields.get("ner") or []
    if not isinstance(spans, list):
        raise DataError(f"'ner' is {short(spans)}; make it a list of [first, last, \"TYPE\"]")
    found = [inclusive(span) for span in spans]
    sentence = Sentence(words_field(fields, "tokenized_text"), found, id_or_none(fields, "id"))
    report.duplicates(found, sentence, place)
    count_left(fields, "relations", "relation", place, report)
    yield sentence


def to_record(sentences: list[Sentence]) -> dict[str, Any]:
    """The inverse of `sentences_from`."""
    (sentence,) = sentences
    spans = [[start, end - 1, kind] for start, end, kind in sentence.entities]
    name = {} if sentence.id is None else {"id": sentence.id}
    return {"tokenized_text": sentence.tokens, "ner": spans, **name}


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file has GLiNER's fields."""
    return any_object(head, lambda fields: is_tokens(fields.get("tokenized_text", 0)) and "ner" in fields)


FORMAT = Format(
    "gliner",
    "GLiNER's JSON of tokens and inclusive spans",
    (".gliner.json", ".gliner.jsonl"),
    reader(sentences_from),
    writer(to_record),
    looks_like,
)
