r"""The `.data` files of research code for nested NER: a line of tokens, a line of entities, and a blank line.

    Lincoln was president of the USA
    0,0 PER|2,5 PER|4,5 GPE

Single spaces separate tokens, and ends are inclusive. The line of entities is empty if there are none. Other files have
a line of part-of-speech tags between the two, which is ignored: a sentence of three lines has tags. If blank lines
leave that open, as at the end of a file, a sentence is like the first of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError
from nestag.formats.files import Line, read_lines, writing
from nestag.formats.registry import Format, skipping
from nestag.formats.shared.tags import read_word, writable, write_word

_ENTITY = re.compile(r"([0-9]{1,9}),([0-9]{1,9}) (.+)", re.DOTALL)
_IN_TOKENS, _IN_TYPES = " ", " |,"
_MOST_LINES = 3


class _Block(NamedTuple):
    """The lines of a sentence, the number of blank lines after them, and whether it is the last."""

    lines: list[Line]
    blanks: int
    last: bool = False


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file; an InputError names an invalid line."""
    tagged = None
    for block in _blocks(path):
        last = block.lines[-1].number
        with skipping(options, report, path, last):
            words, spans = _split(block, tagged, str(path))
            if tagged is None:
                tagged = len(block.lines) - (spans is not None) > 1
            tokens = [read_word(token, _IN_TOKENS) for token in words.text.strip(" ").split(" ")]
            entities = list(_entities(spans.text, report, f"{path}:{last}")) if spans else []
            yield report.sentence(tokens, entities, place=f"{path}:{last}")


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write three lines for each sentence."""
    with writing(path) as stream:
        for _, sentence in writable(sentences, path, report):
            tokens = " ".join(write_word(token, _IN_TOKENS) for token in sentence.tokens)
            entities = (f"{e.start},{e.end - 1} {write_word(e.type, _IN_TYPES)}" for e in sentence.annotated)
            stream.write(f"{tokens}\n{'|'.join(entities)}\n\n")


def looks_like(head: str) -> bool:
    """Say whether a line at the beginning of a file has the entities of one of the two lines before it."""
    lines = [line.removesuffix("\r").strip(" ") for line in head.split("\n")]
    for at, line in enumerate(lines):
        matches = list(map(_ENTITY.fullmatch, line.split("|")))
        lengths = [len(before.split(" ")) for before in lines[max(0, at - 2) : at] if before]
        if lengths and all(match and int(match[2]) < max(lengths) for match in matches):
            return True
    return False


def _blocks(path: str | Path) -> Iterator[_Block]:
    lines: list[Line] = []
    blanks = 0
    for line in read_lines(path):
        if not line.text.strip(" \t"):
            blanks += 1
            continue
        if lines and blanks:
            yield _Block(lines, blanks)
            lines = []
        blanks = 0
        if len(lines) == _MOST_LINES:
            message = "a fourth line of one sentence; write tokens, entities and a blank line"
            raise InputError(message, str(path), line.number)
        lines.append(line)
    if lines:
        yield _Block(lines, blanks, last=True)


def _split(block: _Block, tagged: bool | None, source: str) -> tuple[Line, Line | None]:
    """Return the line of tokens, and that of entities if there is one; `tagged` is the layout of the first sentence."""
    words, *rest = block.lines
    if not rest:
        if block.blanks == 1 and not block.last:
            raise InputError("one blank line after the tokens; leave one empty for entities", source, words.number)
        return words, None
    if len(rest) == 1 and (_is_entities(rest[0].text) or not (block.blanks > 1 if tagged is None else tagged)):
        return words, rest[0]
    if len(rest[0].text.strip(" ").split(" ")) != len(words.text.strip(" ").split(" ")):
        raise InputError("neither entities nor one tag for each token; write start,end type", source, rest[0].number)
    return words, rest[1] if len(rest) > 1 else None


def _is_entities(text: str) -> bool:
    return all(map(_ENTITY.fullmatch, text.strip(" ").split("|")))


def _entities(line: str, report: Report, place: str) -> Iterator[Entity]:
    """Yield the entities of a line, with exclusive ends."""
    for text in line.strip(" ").split("|"):
        match = _ENTITY.fullmatch(text)
        if not match:
            raise DataError(f"{text!r} is not an entity; write start,end type, and | between entities")
        start, last = int(match[1]), int(match[2])
        if last < start:
            report.add("entity that ends before it starts dropped", place, text)
        else:
            yield Entity(start, last + 1, read_word(match[3], _IN_TYPES))


FORMAT = Format("nner", "lines of tokens and spans, as research code", (".data",), read, write, looks_like)
