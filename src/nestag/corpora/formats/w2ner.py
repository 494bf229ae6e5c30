"""W2NER's data: a list of objects with tokens, and for each entity the positions of all its tokens.

    [{"sentence": ["the", "USA"], "ner": [{"index": [0, 1], "type": "GPE"}]}]

Positions may leave tokens out; such a discontinuous entity is counted and set aside. `id` is kept if there is one;
further fields, such as `word`, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestag.corpora.fields import id_or_none, label_field, list_field, short, words_field
from nestag.corpora.format import Format
from nestag.corpora.records import any_object
from nestag.corpora.report import Report
from nestag.corpora.tokenrecords import is_tokens, reader, writer
from nestag.data import Entity, Sentence
from nestag.errors import DataError


def sentences_from(fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
    """The sentence of an object."""
    found = [entity for member in list_field(fields, "ner") if (entity := _entity(member, place, report))]
    sentence = Sentence(words_field(fields, "sentence"), found, id_or_none(fields, "id"))
    report.duplicates(found, sentence, place)
    yield sentence


def to_record(sentences: list[Sentence]) -> dict[str, Any]:
    """The inverse of `sentences_from`."""
    (sentence,) = sentences
    entities = [{"index": list(range(start, end)), "type": kind} for start, end, kind in sentence.entities]
    name = {} if sentence.id is None else {"id": sentence.id}
    return {"sentence": sentence.tokens, "ner": entities, **name}


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file has W2NER's fields."""
    return any_object(head, lambda fields: is_tokens(fields.get("sentence", 0)) and "ner" in fields)


def _entity(member: dict[str, Any], place: str, report: Report) -> Entity | None:
    kind = label_field(member, "type")
    index = member.get("index")
    if not isinstance(index, list) or not index or not all(type(position) is int for position in index):
        raise DataError(f"'index' is {short(index)}; make it a list of the positions of an entity's tokens")
    index = sorted(set(index))
    if index[-1] - index[0] >= len(index):
        report.lose("discontinuous entity set aside", place, f"{index} {kind}"[:80])
        return None
    return Entity(index[0], index[-1] + 1, kind)


FORMAT = Format(
    "w2ner",
    "W2NER's JSON of tokens and their positions",
    (".w2ner.json",),
    reader(sentences_from),
    writer(to_record),
    looks_like,
)
