"""JSON Lines of tokens: one sentence per line.

    {"tokens": ["the", "USA"], "entities": [{"start": 0, "end": 2, "type": "GPE"}], "id": "doc-1"}

`id` is optional. `origin` (document, start, text, offsets) is the sentence's place in a text, if it has one. Predicted
entities have `start_token` and `end_token`, which are read instead of `start` and `end`. Other fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.errors import DataError
from nestag.formats.files import read_lines, writing
from nestag.formats.registry import Format, skipping
from nestag.formats.shared.records import Fields, any_object, is_list, short

_FIELDS = itemgetter(*Entity._fields)
_TOKEN_FIELDS = itemgetter("start_token", "end_token", "type")


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a file; an InputError names an invalid line."""
    report = Report() if report is None else report
    for number, line in read_lines(path):
        if not line.strip():
            continue
        with skipping(options, report, path, number):
            try:
                record = Fields.of(json.loads(line))
            except (ValueError, RecursionError) as error:  # of JSON itself, or a number too long to read
                raise DataError(f"not JSON ({error}); write one object a line") from None
            sentence = sentence_from(record)
            if len(record["entities"]) > len(sentence.entities):
                report.duplicates(map(_entity, record["entities"]), sentence, f"{path}:{number}")
            yield sentence


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """Write one line for each sentence."""
    with writing(path) as stream:
        stream.writelines(map(to_line, sentences))


def looks_like(head: str) -> bool:
    """Say whether a file is not a list and one of its first objects has tokens and entities."""
    return not is_list(head) and any_object(
        head, lambda f: isinstance(f.get("tokens", 0), list | None) and "entities" in f
    )


def sentence_from(record: dict[str, Any]) -> Sentence:
    """Return the sentence of a parsed line."""
    for key in ("tokens", "entities"):
        if not isinstance(record.get(key), list):
            raise DataError(f'no list {key!r}; add "{key}": [...]')
    name, origin = record.get("id"), record.get("origin")
    if name is not None and type(name) not in (str, int):
        raise DataError(f"'id' is {name!r}; make it a string")
    return Sentence(
        record["tokens"],
        map(_entity, record["entities"]),
        None if name is None else str(name),
        None if origin is None else _origin(origin),
    )


def to_line(sentence: Sentence, entities: Sequence[dict[str, Any]] | None = None) -> str:
    """Return the line of a sentence; `entities` are records that replace its own."""
    if entities is None:
        entities = [entity._asdict() for entity in sentence.entities]
    record: dict[str, object] = {"tokens": sentence.tokens, "entities": entities}
    if sentence.id is not None:
        record["id"] = sentence.id
    if sentence.origin is not None:
        record["origin"] = sentence.origin._asdict()
    return json.dumps(record, ensure_ascii=False) + "\n"


def _entity(record: Any) -> Entity:
    try:
        return Entity(*(_TOKEN_FIELDS if "start_token" in record else _FIELDS)(record))
    except (KeyError, TypeError, IndexError):
        raise DataError(f'{short(record)} is not an entity; write {{"start": 0, "end": 2, "type": "GPE"}}') from None


def _origin(record: object) -> Origin:
    try:
        document, start, text, offsets = (record[name] for name in Origin._fields)  # type: ignore[index]
        origin = Origin(document, start, text, tuple((first, last) for first, last in offsets))
    except (KeyError, TypeError, ValueError):
        raise DataError(f"'origin' is {str(record)[:60]!r}; give document, start, text and offsets") from None
    numbers = [origin.start, *(place for pair in origin.offsets for place in pair)]
    if not isinstance(document, str) or not isinstance(text, str) or not all(type(place) is int for place in numbers):
        raise DataError("'origin' has a field of the wrong kind; document and text are strings, places are integers")
    return origin


FORMAT = Format("jsonl", "JSON Lines of tokens and entities", (".jsonl",), read, write, looks_like, shared=(".json",))
