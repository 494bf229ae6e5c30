"""spaCy 2's training data: a list of texts, each with the entities in it.

    [["the USA", {"entities": [[0, 7, "GPE"], [4, 7, "ACRONYM"]]}]]

Read are also the same as a pair a line, inside `{"classes": [...], "annotations": [...]}` as web tools for spaCy export
it, and the other format of spaCy 2, whose documents have paragraphs of sentences of tokens with tags in `ner`. Written
is the first, an example a line. Documents have no names there; they are numbered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nestag.corpora.document import Document, TextSpan, documents_of, sentences_at
from nestag.corpora.fields import id_or_none, label_field, list_field, name_of, number_field, short, text_field
from nestag.corpora.format import DEFAULT, Format, Options, skipping
from nestag.corpora.records import Value, read_values, sampled
from nestag.corpora.report import Report
from nestag.corpora.tags import OUTSIDE, Tag, entities_of, parsed
from nestag.corpora.tokenfiles import put
from nestag.data import Sentence
from nestag.errors import DataError, InputError
from nestag.files import writing


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """The sentences of the texts of a file."""
    report = Report() if report is None else report
    for number, (line, value) in enumerate(_examples(read_values(path, options, report)), 1):
        found: list[Sentence] = []
        with skipping(options, report):
            try:
                found = list(_sentences(Value(line, value), name_of({}, path, str(number)), path, options, report))
            except DataError as error:
                raise InputError(str(error), str(path), line) from None
        yield from found


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """A pair of text and entities for each document."""
    report = Report() if report is None else report
    with writing(path) as stream:
        before = "[\n"
        for document in documents_of(sentences, report):
            if document.id:
                report.add("name of a document left out", str(path), document.id)
            example = [document.text, {"entities": [list(span) for span in document.spans]}]
            put(before + json.dumps(example, ensure_ascii=False), stream, str(path))
            before = ",\n"
        stream.write("[]\n" if before == "[\n" else "\n]\n")


def looks_like(head: str) -> bool:
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
    if not isinstance(value, dict):
        return False
    if "paragraphs" in value:
        return True
    members = value.get("annotations", 0)
    known = isinstance(members, list) and any(map(_is_example, members))
    return known or ("classes" in value and isinstance(members, list | None))


def _examples(values: Iterable[Value]) -> Iterator[Value]:
    """The examples of a file, whichever way they are put into it."""
    text: str | None = None
    for line, value in values:
        if isinstance(value, str) and text is None:
            text = value  # a pair that is a list of its own
        elif text is not None:
            yield Value(line, [text, value])
            text = None
        elif isinstance(value, dict) and isinstance(value.get("annotations"), list):
            yield from (Value(line, member) for member in value["annotations"] if member is not None)
        else:
            yield Value(line, value)


def _sentences(example: Value, name: str, path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    line, value = example
    if isinstance(value, dict) and "paragraphs" in value:
        yield from _of_tokens(value, name, f"{path}:{line}", report)
        return
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], dict):
        raise DataError(f'{short(value)} is no example; write ["text", {{"entities": [[0, 4, "TYPE"]]}}]')
    text, annotations = text_field({"text": value[0]}, "text"), value[1]
    members = annotations.get("entities") or []
    if not isinstance(members, list):
        raise DataError(f"'entities' is {short(members)}; make it a list of [start, end, \"TYPE\"]")
    document = Document(name, text, tuple(map(_span, members)))
    yield from sentences_at(document, options, report, str(path), line)


def _span(member: Any) -> TextSpan:
    if not isinstance(member, list) or len(member) < 3:
        raise DataError(f'{member!r:.60} is no entity; write [start, end, "TYPE"]')
    fields = dict(zip(("start", "end", "type"), member, strict=False))
    return TextSpan(number_field(fields, "start"), number_field(fields, "end"), label_field(fields, "type"))


def _of_tokens(fields: dict[str, Any], name: str, place: str, report: Report) -> Iterator[Sentence]:
    """The sentences of a document of paragraphs; a tag that is missing counts as O."""
    name, number = id_or_none(fields, "id") or name, 0
    for paragraph in list_field(fields, "paragraphs"):
        for sentence in list_field(paragraph, "sentences"):
            tokens = list_field(sentence, "tokens")
            tags = [_tag(token, place, report) for token in tokens]
            found = list(entities_of(tags, False, lambda _: place, report))
            number += 1
            yield Sentence([text_field(token, "orth") for token in tokens], found, f"{name}-{number}")


def _tag(token: dict[str, Any], place: str, report: Report) -> Tag:
    text = token.get("ner") or "O"
    if text == "-":
        report.add("token without a tag read as O", place, str(token.get("orth")))
        return OUTSIDE
    tags = parsed(text) if isinstance(text, str) else None
    if not tags:
        raise DataError(f"'ner' is {short(text)}; make it O, or B-TYPE and so on")
    return tags[0]


FORMAT = Format(
    "spacy2", "spaCy 2's JSON of texts and entities", (".spacy2.json",), read, write, looks_like, raw_text=True
)
