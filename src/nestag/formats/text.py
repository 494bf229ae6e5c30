"""Plain text: one document without entities.

    Lincoln was president of the USA.

    He was born in Kentucky.

The file is read paragraph by paragraph (a blank line ends one), so it may be of any length; a paragraph of more than a
million characters is cut at a line end, or else at white space. Writing keeps the text alone, and the report
counts the entities that it does not hold. Several documents become one text, with a blank line between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nestag.data.document import Document, count_blank, document_of, follows, sentences_at, text_of
from nestag.data.report import Report, describe
from nestag.data.segment import Options
from nestag.data.sentence import Origin, Sentence
from nestag.formats.files import read_blocks, writing
from nestag.formats.folders import stem_of
from nestag.formats.format import Format

LONGEST_PARAGRAPH = 10**6
"""Characters beyond which a paragraph is cut."""

_LAST_SPACE = re.compile(r"\s\S*\Z")


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a text."""
    name = stem_of(path) or "text"
    start = number = 0
    whole_line = True
    for paragraph in paragraphs(read_blocks(path)):
        if not whole_line:
            report.add("line cut because it is very long", str(path), f"at character {start}")
        for sentence in sentences_at(Document(name, paragraph), options, report, str(path)):
            number += 1
            yield _moved(sentence, start, number)
        start += len(paragraph)
        whole_line = paragraph.endswith("\n")


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """The text of each document."""
    before: Sentence | None = None
    ending = ""
    with writing(path) as stream:
        for sentence in sentences:
            if before and not follows(before, sentence):
                stream.write("\n" * (2 - ending.count("\n")))
                report.add(
                    "document joined to the one before it", document_of(sentence), f"after {document_of(before)}"
                )
            if sentence.id is not None:
                report.add("sentence id left out", str(path), sentence.id)
            for entity in sentence.entities:
                report.add("entity not kept in plain text", sentence.id or "", describe(entity))
            count_blank(sentence, report)
            text = text_of(sentence)
            stream.write(text)
            before, ending = sentence, (ending + text)[-2:]


def paragraphs(blocks: Iterable[str]) -> Iterator[str]:
    r"""A text in blocks, cut before the first line of each paragraph; joined, they are the text.

    >>> list(paragraphs(["a\n", "b\n\n\nc"]))
    ['a\nb\n\n\n', 'c']
    """
    held: list[str] = []
    size = 0
    has_words = after_blank = False
    for line in _lines(blocks):
        blank = not line.strip()
        if (has_words and after_blank and not blank) or (held and size + len(line) > LONGEST_PARAGRAPH):
            yield "".join(held)
            held, size, has_words = [], 0, False
        held.append(line)
        size += len(line)
        has_words, after_blank = has_words or not blank, blank
    yield "".join(held)


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    """The lines with their ends, in parts where they are too long."""
    held = ""
    for block in blocks:
        *whole, held = (held + block).split("\n")
        for line in whole:
            yield from _parts(line + "\n")
        *parts, held = _parts(held)
        yield from parts
    if held:
        yield held


def _parts(line: str) -> Iterator[str]:
    """A line in parts of bounded length."""
    at = 0
    while len(line) - at > LONGEST_PARAGRAPH:
        part = line[at : at + LONGEST_PARAGRAPH]
        space = _LAST_SPACE.search(part)
        part = part[: space.start() + 1] if space else part
        yield part
        at += len(part)
    yield line[at:]


def _moved(sentence: Sentence, start: int, number: int) -> Sentence:
    """A sentence of a paragraph as one of the whole text."""
    if not start or not sentence.origin:
        return sentence
    name, place, text, offsets = sentence.origin
    origin = Origin(name, start + place, text, tuple((start + a, start + b) for a, b in offsets))
    return Sentence(sentence.tokens, sentence.entities, f"{name}-{number}", origin)


FORMAT = Format("text", "plain text, without entities", (".txt",), read, write, raw_text=True)
