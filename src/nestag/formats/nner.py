r"""The `.data` files of research code for nested NER: a line of tokens, a line of entities, and a blank line.

    Lincoln was president of the USA
    0,0 PER|2,5 PER|4,5 GPE

Tokens are parted by single spaces, and ends are inclusive, here alone. The line of entities is empty where there are
none. Others publish the same with a line of part-of-speech tags between the two; the number of lines decides, an empty
line of entities counted: two are tokens and entities, three are tokens, tags and entities, and the tags are left alone.
Where blank lines leave that open, as at the end of a file, a sentence is like the first of the file.
An entity that ends before it starts, as some do in NNE, is set aside and counted in the report.

What would be misread is escaped as shared/tags.py says: spaces as well, and `|` and `,` in types. Ids are not held.
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
from nestag.formats.format import Format
from nestag.formats.shared.tags import holdable, read_word, write_word

_ENTITY = re.compile(r"([0-9]{1,9}),([0-9]{1,9}) (.+)", re.DOTALL)
_IN_TOKENS, _IN_TYPES = " ", " |,"
_MOST_LINES = 3


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a file; an InputError names the line that cannot be read."""
    tagged = None
    for block in _blocks(path):
        words, entities = _parts(block, tagged, str(path))
        tagged = len(block.lines) - (entities is not None) > 1 if tagged is None else tagged
        tokens = _tokens(words, str(path))
        last = block.lines[-1].number
        try:
            found = list(_entities(entities, report, f"{path}:{last}")) if entities else []
            sentence = Sentence(tokens, found)
        except DataError as error:
            raise InputError(str(error), str(path), last) from None
        report.duplicates(found, sentence, f"{path}:{last}")
        yield sentence


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Three lines for each sentence."""
    with writing(path) as stream:
        for _, sentence in holdable(sentences, path, report):
            tokens = " ".join(write_word(token, _IN_TOKENS) for token in sentence.tokens)
            entities = (f"{e.start},{e.end - 1} {write_word(e.type, _IN_TYPES)}" for e in sentence.annotated)
            stream.write(f"{tokens}\n{'|'.join(entities)}\n\n")


def looks_like(head: str) -> bool:
    """Whether a line at the beginning of a file has the entities of one of the two lines before it."""
    lines = [line.removesuffix("\r").strip(" ") for line in head.split("\n")]
    return any(
        _is_entities(line)
        and any(_last(line) < len(before.split(" ")) for before in (lines[:at] or [""])[-2:] if before)
        for at, line in enumerate(lines)
    )


def _last(entities: str) -> int:
    """The last token of a line of entities."""
    return max(int(match[2]) for match in map(_ENTITY.fullmatch, entities.split("|")) if match)


class _Block(NamedTuple):
    """Lines of one sentence, how many blank lines follow, and whether these may be too few as it is the last."""

    lines: list[Line]
    blanks: int
    last: bool = False


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
            raise InputError(
                "a fourth line of one sentence; write tokens, entities and a blank line", str(path), line.number
            )
        lines.append(line)
    if lines:
        yield _Block(lines, blanks, last=True)


def _parts(block: _Block, tagged: bool | None, source: str) -> tuple[Line, Line | None]:
    """The line of tokens, and that of entities if it is not empty; `tagged` is what the first sentence was."""
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


def _tokens(line: Line, source: str) -> list[str]:
    tokens = line.text.strip(" ").split(" ")
    if "" in tokens:
        raise InputError(f"two spaces after token {tokens.index('')}; part tokens by one", source, line.number)
    return [read_word(token, _IN_TOKENS) for token in tokens]


def _is_entities(text: str) -> bool:
    return all(map(_ENTITY.fullmatch, text.strip(" ").split("|")))


def _entities(line: Line, report: Report, place: str) -> Iterator[Entity]:
    """The entities of a line, with exclusive ends."""
    for written in line.text.strip(" ").split("|"):
        match = _ENTITY.fullmatch(written)
        if not match:
            raise DataError(f"{written!r} is no entity; write start,end type, and | between entities")
        start, last, kind = int(match[1]), int(match[2]), read_word(match[3], _IN_TYPES)
        if last < start:
            report.add("entity that ends before it starts set aside", place, written)
        else:
            yield Entity(start, last + 1, kind)


FORMAT = Format("nner", "lines of tokens and spans, as research code", (".data",), read, write, looks_like)
