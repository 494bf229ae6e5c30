"""JSON Lines of tokens: one sentence a line.

    {"tokens": ["the", "USA"], "entities": [{"start": 0, "end": 2, "type": "GPE"}], "id": "doc-1"}

`id` may be missing. `origin` (document, start, text, offsets) says where the sentence stands in a text, if it came from
one. Of entities that a model found, `start_token` and `end_token` are read instead of `start` and `end`. Further fields
are left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.errors import DataError, InputError
from nestag.formats.files import Line, read_lines, writing
from nestag.formats.format import Format, skip_bad
from nestag.formats.shared.records import any_object, is_list


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """The sentences of a file; an InputError names the line that holds none."""
    report = Report() if report is None else report
    for line in read_lines(path):
        if not line.text.strip():
            continue
        try:
            sentence = _sentence_on(line, str(path), report)
        except InputError as error:
            skip_bad(error, options, report)
        else:
            yield sentence


def _sentence_on(line: Line, source: str, report: Report) -> Sentence:
    try:
        record = json.loads(line.text)
        sentence = sentence_from(record)
    except DataError as error:
        raise InputError(str(error), source, line.number) from None
    except (ValueError, RecursionError) as error:  # of JSON itself, or a number too long to read
        raise InputError(f"not JSON ({error}); write one object a line", source, line.number) from None
    if len(record["entities"]) > len(sentence.entities):
        report.duplicates(_entities(record["entities"]), sentence, f"{source}:{line.number}")
    return sentence


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One line for each sentence."""
    with writing(path) as stream:
        write_to(sentences, stream)


def write_to(sentences: Iterable[Sentence], stream: TextIO) -> None:
    """The same, into an open stream."""
    for sentence in sentences:
        stream.write(to_line(sentence))


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file, which is no list, has tokens and entities."""
    return not is_list(head) and any_object(
        head, lambda f: isinstance(f.get("tokens", 0), list | None) and "entities" in f
    )


def sentence_from(record: object) -> Sentence:
    """A parsed line as a sentence."""
    if not isinstance(record, dict):
        raise DataError(f'the line holds {type(record).__name__}, not an object; write {{"tokens": [...]}}')
    tokens = record.get("tokens")
    if not isinstance(tokens, list):
        raise DataError("no list 'tokens'; add \"tokens\": [...] with the words of the sentence")
    entities = record.get("entities")
    if not isinstance(entities, list):
        raise DataError("no list 'entities'; add \"entities\": [...], empty if there are none")
    name = record.get("id")
    if name is not None and (not isinstance(name, str | int) or isinstance(name, bool)):
        raise DataError(f"'id' is {name!r}; make it a string")
    origin = record.get("origin")
    return Sentence(
        tokens, _entities(entities), None if name is None else str(name), None if origin is None else _origin(origin)
    )


def to_line(sentence: Sentence) -> str:
    """The inverse of `sentence_from`."""
    record: dict[str, object] = {"tokens": sentence.tokens, "entities": [e._asdict() for e in sentence.entities]}
    if sentence.id is not None:
        record["id"] = sentence.id
    if sentence.origin is not None:
        record["origin"] = sentence.origin._asdict()
    return json.dumps(record, ensure_ascii=False) + "\n"


_FIELDS = itemgetter(*Entity._fields)
_TOKEN_FIELDS = itemgetter("start_token", "end_token", "type")


def _entities(records: list[Any]) -> list[Entity]:
    try:
        return [Entity(*(_TOKEN_FIELDS if "start_token" in record else _FIELDS)(record)) for record in records]
    except (KeyError, TypeError, IndexError):
        return [_entity(record) for record in records]  # which says what is wrong


def _entity(record: object) -> Entity:
    if not isinstance(record, dict):
        raise DataError(f'entity {record!r} is not an object; write {{"start", "end", "type"}}')
    try:
        return Entity(record["start"], record["end"], record["type"])
    except KeyError as error:
        raise DataError(f"entity {record!r} has no field {error}; add it") from None


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
