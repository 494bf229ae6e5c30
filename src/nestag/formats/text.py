"""Plain text: one document without entities.

The file is read paragraph by paragraph (a blank line ends one), so it may have any length. A paragraph of more than a
million characters is split at a line end, or else at white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nestag.data.document import Document, count_blank, document_of, follows, sentences_of, text_of
from nestag.data.report import Report, describe
from nestag.data.segment import Options
from nestag.data.sentence import Origin, Sentence
from nestag.formats.files import read_blocks, writing
from nestag.formats.folders import stem_of
from nestag.formats.registry import Format

LONGEST_PARAGRAPH = 10**6  # the largest number of characters that is not split
_LAST_SPACE = re.compile(r"\s\S*\Z")


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    name = stem_of(path) or "text"
    start = number = 0
    at_line_start = True
    for paragraph in paragraphs(read_blocks(path)):
        if not at_line_start:
            report.add("line split because it is very long", str(path), f"at character {start}")
        for sentence in sentences_of(Document(name, paragraph), options, report):
            number += 1
            yield _shift(sentence, start, number)
        start += len(paragraph)
        at_line_start = paragraph.endswith("\n")


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write the text of each document."""
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
                report.add("sentence id dropped", str(path), sentence.id)
            for entity in sentence.entities:
                report.add("entity dropped from plain text", sentence.id or "", describe(entity))
            count_blank(sentence, report)
            text = text_of(sentence)
            stream.write(text)
            before, ending = sentence, (ending + text)[-2:]


def paragraphs(blocks: Iterable[str]) -> Iterator[str]:
    r"""Split a text in blocks before the first line of each paragraph, without changing it.

    >>> list(paragraphs(["a\n", "b\n\n\nc"]))
    ['a\nb\n\n\n', 'c']
    """
    lines: list[str] = []
    size = 0
    has_words = after_blank = False
    for line in _lines(blocks):
        blank = not line.strip()
        if (has_words and after_blank and not blank) or (lines and size + len(line) > LONGEST_PARAGRAPH):
            yield "".join(lines)
            lines, size, has_words = [], 0, False
        lines.append(line)
        size += len(line)
        has_words, after_blank = has_words or not blank, blank
    yield "".join(lines)


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the lines with their ends, in pieces if they are too long."""
    rest = ""
    for block in blocks:
        *lines, rest = (rest + block).split("\n")
        for line in lines:
            yield from _pieces(line + "\n")
        *pieces, rest = _pieces(rest)
        yield from pieces
    if rest:
        yield rest


def _pieces(line: str) -> Iterator[str]:
    at = 0
    while len(line) - at > LONGEST_PARAGRAPH:
        piece = line[at : at + LONGEST_PARAGRAPH]
        if space := _LAST_SPACE.search(piece):
            piece = piece[: space.start() + 1]
        yield piece
        at += len(piece)
    yield line[at:]


def _shift(sentence: Sentence, start: int, number: int) -> Sentence:
    """Return a sentence of a paragraph as one of the whole text."""
    if not start or not sentence.origin:
        return sentence
    name, place, text, offsets = sentence.origin
    origin = Origin(name, start + place, text, tuple((start + a, start + b) for a, b in offsets))
    return Sentence(sentence.tokens, sentence.entities, f"{name}-{number}", origin)


FORMAT = Format("text", "plain text, without entities", (".txt",), read, write, raw_text=True)
