r"""Columns: a token a line, then one tag for each level of nesting, with tabs between; a blank line after a sentence.

    president	B-PER	O
    of	I-PER	O
    the	I-PER	B-GPE
    USA	I-PER	I-GPE

Read are BIO (IOB2), BIOES, BILOU and IOB1, written is IOB2. The outermost entities stand in the first column, and
what has the same span or crosses stands in a further one; every line has as many columns as the file needs.

Three things are recognised. Lines that begin with `#` are comments, unless tags alone follow the first tab: then `#`
is a token. A first column that counts 1, 2, 3 in each sentence, before a column that is not all tags, is an index and
left alone. If, in the first sentences, entities begin with I- and B- is used only between neighbours of one type, the
file is IOB1. Elsewhere an entity begun by I- or E- is repaired as conlleval does: it begins there, and is counted.

Words are escaped as authors.py says. Sentence ids are not held.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from nestag.corpora.format import DEFAULT, Format, Options
from nestag.corpora.formats.authors import holdable, put, read_word, write_word
from nestag.corpora.report import Report
from nestag.data import Entity, Sentence
from nestag.errors import InputError
from nestag.files import Line, read_lines, writing

LOOKED_AT = 100
"""Sentences at the beginning of a file that say how it is laid out."""
LONGEST_BLOCK = 1_000_000
"""Lines without a blank one beyond which a file is taken for something else."""
_TAG = re.compile(r"(O)|([BIESLU])-(.+)", re.DOTALL)


class Tag(NamedTuple):
    """A tag's letter and type; O has none."""

    mark: str
    type: str


OUTSIDE = Tag("O", "")


class Row(NamedTuple):
    """A line cut at its tabs."""

    number: int
    columns: list[str]


class _Layout(NamedTuple):
    indexed: bool
    iob1: bool


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """The sentences of a file; an InputError names the line that cannot be read."""
    report = Report() if report is None else report
    sentences = (rows for block in blocks(path) if (rows := _rows(block)))
    head = list(islice(sentences, LOOKED_AT))
    layout = _layout(head)
    if layout.iob1:
        report.add("file read as IOB1, where I- may begin an entity", f"{path}:{head[0][0].number}", "IOB1")
    for rows in chain(head, sentences):
        yield _sentence(rows, layout, str(path), report)


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One line for each token; a temporary file holds them until it is known how many columns they need."""
    width = 1
    with writing(path) as stream, TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        for place, sentence in holdable(sentences, path, report):
            levels = _levels(sentence)
            width = max(width, len(levels))
            lines = zip(map(write_word, sentence.tokens), *levels, strict=True)
            put("\n".join(map("\t".join, lines)) + "\n\n", spool, place)
        spool.seek(0)
        for line in spool:
            stream.write(line if line == "\n" else line[:-1] + "\tO" * (width - line.count("\t")) + "\n")


def looks_like(head: str) -> bool:
    """Whether the first line that is no comment ends in a tag."""
    lines = (Line(0, line.removesuffix("\r")) for line in head.split("\n") if line.strip(" \t\r"))
    first = next((line for line in lines if not _is_comment(line.text)), None)
    return first is not None and "\t" in first.text and _TAG.fullmatch(first.text.rpartition("\t")[2]) is not None


def blocks(path: str | Path) -> Iterator[list[Line]]:
    """The runs of lines between blank ones."""
    block: list[Line] = []
    for line in read_lines(path):
        if line.text.strip(" \t"):
            block.append(line)
        elif block:
            yield block
            block = []
        if len(block) > LONGEST_BLOCK:
            raise InputError(
                f"{LONGEST_BLOCK} lines without a blank one; put one after each sentence", str(path), line.number
            )
    if block:
        yield block


def _rows(block: list[Line]) -> list[Row]:
    return [Row(line.number, line.text.split("\t")) for line in block if not _is_comment(line.text)]


def _is_comment(text: str) -> bool:
    if not text.startswith("#"):
        return False
    _, *tags = text.split("\t")
    return not tags or not all(map(_TAG.fullmatch, tags))


def _layout(head: Sequence[list[Row]]) -> _Layout:
    """What the first sentences say about the file."""
    seconds = [row.columns[1] for rows in head for row in rows if len(row.columns) > 2]
    indexed = all(map(_is_counted, head)) and not all(map(_TAG.fullmatch, seconds))
    begins = {mark for rows in head for mark in _first_marks(rows, 1 + indexed)}
    return _Layout(indexed, begins == {"I"})


def _is_counted(rows: list[Row]) -> bool:
    return all(row.columns[0] == str(number) for number, row in enumerate(rows, 1))


def _first_marks(rows: list[Row], first: int) -> Iterator[str]:
    """The letters of the tags that do not follow a tag of the same type."""
    for column in zip(*(row.columns[first:] for row in rows), strict=False):
        tags = [_parsed(text) or OUTSIDE for text in column]
        for before, tag in pairwise([OUTSIDE, *tags]):
            if tag.type and tag.type != before.type:
                yield tag.mark


def _sentence(rows: list[Row], layout: _Layout, source: str, report: Report) -> Sentence:
    first = 1 if layout.indexed else 0
    _check(rows, layout, first, source)
    found = [
        entity
        for column in range(first + 1, len(rows[0].columns))
        for entity in _entities([_tag(row, column, source) for row in rows], rows, layout, source, report)
    ]
    sentence = Sentence([read_word(row.columns[first]) for row in rows], found)
    report.duplicates(found, sentence, f"{source}:{rows[0].number}")
    return sentence


def _check(rows: list[Row], layout: _Layout, first: int, source: str) -> None:
    """Stop at the first line that has not the columns of its sentence."""
    width = max(len(rows[0].columns), first + 2)
    for number, (line, columns) in enumerate(rows, 1):
        if len(columns) != width:
            raise InputError(
                f"{len(columns)} columns where {width} are due; write a token and its tags with tabs between",
                source, line,
            )  # fmt: skip
        if layout.indexed and columns[0] != str(number):
            raise InputError(f"the index is {columns[0]!r}; it should be {number}", source, line)
        if not columns[first]:
            raise InputError("the token is empty; every token must have a character", source, line)


def _tag(row: Row, column: int, source: str) -> Tag:
    tag = _parsed(row.columns[column])
    if not tag:
        raise InputError(
            f"{row.columns[column]!r} in column {column + 1} is no tag; write O, or B-TYPE and I-TYPE",
            source, row.number,
        )  # fmt: skip
    return tag


@lru_cache(maxsize=10_000)
def _parsed(text: str) -> Tag | None:
    match = _TAG.fullmatch(text)
    if not match:
        return None
    return OUTSIDE if match[1] else Tag(match[2], read_word(match[3]))


def _entities(
    tags: Sequence[Tag], rows: Sequence[Row], layout: _Layout, source: str, report: Report
) -> Iterator[Entity]:
    """The entities of one column; one begun without its first tag is reported."""
    opened: Entity | None = None
    for position, (mark, kind) in enumerate(tags):
        if opened and (mark in "OBSU" or kind != opened.type):
            yield opened
            opened = None
        if mark == "O":
            continue
        if not opened and mark in "IEL" and not (layout.iob1 and mark == "I"):
            report.add("tag repaired to begin an entity", f"{source}:{rows[position].number}", f"{mark}-{kind}")
        opened = Entity(opened.start if opened else position, position + 1, kind)
        if mark in "ESLU":
            yield opened
            opened = None
    if opened:
        yield opened


def _levels(sentence: Sentence) -> list[list[str]]:
    """The columns of tags: each entity, the outermost first, in the first column where its place is free."""
    levels: list[list[str]] = []
    for start, end, kind in sentence.entities:
        level = next((level for level in levels if level[start] == "O"), None)
        if level is None:
            level = ["O"] * len(sentence)
            levels.append(level)
        name = write_word(kind)
        level[start:end] = [f"B-{name}"] + [f"I-{name}"] * (end - start - 1)
    return levels


FORMAT = Format("columns", "a token and its BIO tags a line", (".iob2", ".bio", ".conll"), read, write, looks_like)
