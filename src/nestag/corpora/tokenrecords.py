"""Formats of JSON objects with tokens and spans: what they share, however they call things and count.

A format says how an object becomes sentences and how sentences become an object; reading, writing, places in messages
and what cannot be kept are the same for all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from nestag.corpora.fields import number_field, text_field
from nestag.corpora.format import DEFAULT, Options, Reader, Writer, skipping
from nestag.corpora.records import Record, read_records
from nestag.corpora.report import Report
from nestag.corpora.tokenfiles import HeldSentence, holdable, put
from nestag.data import Entity, Sentence
from nestag.errors import DataError, InputError
from nestag.files import writing

Parse = Callable[[dict[str, Any], str, Report], Iterable[Sentence]]
"""The sentences of an object; its place and a report are given for what is left out."""
Render = Callable[[list[Sentence]], dict[str, Any]]
"""The object of some sentences: of one, or of all of a document."""
Together = Callable[[Sentence, Sentence], bool]
"""Whether a sentence belongs into the object of the one before it."""


def reader(parse: Parse) -> Reader:
    """How such a format is read: objects in a list or one a line."""

    def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
        report = Report() if report is None else report
        for record in read_records(path, options, report):
            found: list[Sentence] = []
            with skipping(options, report):
                found = _parsed(record, parse, path, report)
            yield from found

    return read


def writer(render: Render, lines: bool = False, together: Together = lambda before, sentence: False) -> Writer:
    """How such a format is written: as one list, or as an object a line where that is usual or the file is .jsonl."""

    def write(
        sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> None:
        in_lines = lines or str(path).lower().removesuffix(".gz").endswith(".jsonl")
        before, between, after = ("", "\n", "\n") if in_lines else ("[\n", ",\n", "\n]\n")
        count = 0
        with writing(path) as stream:
            for group in _grouped(holdable(sentences, path, report, ids=True), together):
                record = render([held.sentence for held in group])
                text = json.dumps(record, ensure_ascii=False)
                put((between if count else before) + text, stream, group[0].place)
                count += 1
            stream.write(after if count else "" if in_lines else "[]\n")

    return write


def is_tokens(value: object) -> bool:
    """Whether a field of an object may be the tokens of a sentence; None is one that was not looked at."""
    return value is None or (isinstance(value, list) and all(isinstance(token, str) for token in value))


def inclusive(span: object) -> Entity:
    """The entity of a list with its first and last token and its type; more, such as scores, is left alone."""
    if not isinstance(span, list) or len(span) < 3:
        raise DataError(f'{span!r:.60} is no entity; write [first, last, "TYPE"]')
    fields = dict(zip(("first", "last", "type"), span, strict=False))
    return Entity(number_field(fields, "first"), number_field(fields, "last") + 1, text_field(fields, "type"))


def count_left(fields: dict[str, Any], key: str, what: str, place: str, report: Report) -> None:
    """Count members of a list, or of lists in it, that are not read."""
    for member in fields.get(key) or ():
        for inner in (
            member if isinstance(member, list) and all(isinstance(part, list) for part in member) else [member]
        ):
            report.add(f"{what} left out", place, repr(inner)[:60])


def _parsed(record: Record, parse: Parse, path: str | Path, report: Report) -> list[Sentence]:
    place = f"{path}:{record.line}"
    try:
        found = list(parse(record.fields, place, report))
    except DataError as error:
        raise InputError(str(error), str(path), record.line) from None
    return found


def _grouped(held: Iterable[HeldSentence], together: Together) -> Iterator[list[HeldSentence]]:
    group: list[HeldSentence] = []
    for one in held:
        if group and not together(group[-1].sentence, one.sentence):
            yield group
            group = []
        group.append(one)
    if group:
        yield group
