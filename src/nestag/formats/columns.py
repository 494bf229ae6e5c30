r"""Columns: a token per line, then a tag for each level of nesting, and a blank line after a sentence.

    president	B-PER	O
    of	I-PER	O
    the	I-PER	B-GPE
    USA	I-PER	I-GPE

Tabs separate the columns, or blanks in a file without tabs. BIO (IOB2), BIOES, BMES, BILOU and IOB1 are read, IOB2 is
written. The outermost entities are in the first column; those with the same span, or that cross, are in other columns.
The columns with tags are found in the first sentences, or named by `columns` (that of tokens first). Others, and
phrases like those of CoNLL-2003, are ignored and noted. Lines that begin with `#` are comments, unless only tags
follow. An entity that begins with I- or E- is repaired as conlleval does, and counted, unless the file is IOB1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError, named
from nestag.formats import webanno
from nestag.formats.files import Line, read_lines, writing
from nestag.formats.files.targets import temporary_text
from nestag.formats.folders import stem_of
from nestag.formats.registry import Format, Remedy, skipping
from nestag.formats.shared.tags import (
    JOINT,
    OUTSIDE,
    PHRASES,
    Tag,
    entities_of,
    parse_tags,
    read_word,
    refuse_deep,
    writable,
    write_word,
)

LOOKED_AT = 100  # sentences at the beginning of a file that show its layout
LONGEST_BLOCK = 1_000_000  # the largest number of lines without a blank line
DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile("[ \t]+")
_ENOUGH = 10  # lines whose tags are no accident, as in "A B-2 bomber"
_MOST = 0.9  # of the cells of a column that must be tags


class _Row(NamedTuple):
    """A line split into columns."""

    number: int
    columns: list[str]

    def tags(self, column: int) -> tuple[Tag, ...]:
        """Return the tags in a column, if there are any."""
        return parse_tags(self.columns[column]) or () if self.has(column) else ()

    def has(self, column: int) -> bool:
        """Say whether the line has a column, counted from the end if negative."""
        return -len(self.columns) <= column < len(self.columns)


class _Layout(NamedTuple):
    """The columns of the token and the tags, whether the first column counts, and whether I- may begin an entity."""

    token: int
    tags: tuple[int, ...]
    indexed: bool = False
    iob1: bool = False
    ignored: tuple[int, ...] = ()  # columns without tags
    phrases: tuple[int, ...] = ()  # columns of phrases, which are ignored as well
    width: int | None = None  # of the longest line so far; None if the columns were named

    def widened(self, rows: Sequence[_Row]) -> _Layout:
        """Add the columns of lines that are longer than all before: a sentence may nest deeper."""
        width = max(len(row.columns) for row in rows)
        if self.width is None or width <= self.width:
            return self
        new = range(self.width, width)
        tags = [column for column in _tag_columns(rows) if column in new]
        ignored = (*self.ignored, *(column for column in new if column not in tags))
        return self._replace(tags=(*self.tags, *tags), ignored=ignored, width=width)


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file; an InputError names an invalid line."""
    sentences = blocks(path)
    head = list(islice(sentences, LOOKED_AT))
    tabs = any("\t" in line.text for block in head for line in block)
    looked_at = [rows for block in head if (rows := _rows(block, tabs)) and rows[0].columns[0] != DOCUMENT]
    layout = _layout(looked_at, options, str(path), report)
    document = number = 0
    for block in chain(head, sentences):
        rows = _rows(block, tabs)
        if rows and rows[0].columns[0] == DOCUMENT:
            document, number = document + 1, 0
            rows = rows[1:]
        if not rows:
            continue
        layout = layout.widened(rows)
        number += 1
        name = f"{stem_of(path)}:{document}-{number}" if document else None
        with skipping(options, report):
            yield _sentence(rows, layout, name, str(path), report)


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write a line for each token, by way of a temporary file until the number of columns is known."""
    width = 1
    with writing(path) as stream, temporary_text() as spool:
        for place, sentence in writable(sentences, path, report):
            columns = tag_columns(sentence, place)
            width = max(width, len(columns))
            words = (write_word(token, "-" if token == DOCUMENT else "") for token in sentence.tokens)
            lines = zip(words, *columns, strict=True)
            spool.write("\n".join(map("\t".join, lines)) + "\n\n")
        spool.seek(0)
        for line in spool:
            stream.write(line if line == "\n" else line[:-1] + "\tO" * (width - line.count("\t")) + "\n")


def looks_like(head: str) -> bool:
    """Say whether the lines at the beginning of a file, except comments, have a column of tags."""
    lines = [Line(0, line.removesuffix("\r")) for line in head.split("\n")[:1_000] if line.strip()]
    rows = [row for row in _rows(lines, "\t" in head) if row.columns[0] != DOCUMENT]
    few = len(rows) < _ENOUGH and "\t" not in head
    if webanno.looks_like(head) or (few and (len(rows) < 2 or not all(parse_tags(row.columns[-1]) for row in rows))):
        return False
    return bool(_tag_columns(rows))


def blocks(path: str | Path) -> Iterator[list[Line]]:
    """Yield the lines between blank lines."""
    block: list[Line] = []
    for line in read_lines(path):
        if line.text.strip():
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


def tag_columns(sentence: Sentence, place: str) -> list[list[str]]:
    """Return the columns of tags: each entity, the outermost first, in the first column that is free there."""
    refuse_deep(sentence.entities, place)
    columns: list[list[str]] = []
    free: list[int] = []
    taken: list[tuple[int, int]] = []  # the end of the last entity of a column, and the column
    for start, end, kind in sentence.entities:
        while taken and taken[0][0] <= start:
            heappush(free, heappop(taken)[1])
        if not free:
            free.append(len(columns))
            columns.append(["O"] * len(sentence))
        column = heappop(free)
        heappush(taken, (end, column))
        name = write_word(kind, JOINT)
        columns[column][start:end] = [f"B-{name}"] + [f"I-{name}"] * (end - start - 1)
    return columns


def _rows(block: list[Line], tabs: bool) -> list[_Row]:
    rows = []
    for number, line in block:
        token, *others = columns = line.split("\t") if tabs else _BLANKS.split(line.strip(" \t"))
        if not token.startswith("#") or (others and all(map(parse_tags, others))):  # else a comment
            rows.append(_Row(number, columns))
    return rows


def _layout(head: Sequence[list[_Row]], options: Options, source: str, report: Report) -> _Layout:
    """Return the layout that the options name, or that the first sentences show."""
    if options.columns:
        token, *tags = (column - (column > 0) for column in options.columns)
        layout = _Layout(token, tuple(tags))
        return layout._replace(iob1=_is_iob1(head, layout))
    rows = [row for sentence in head for row in sentence]
    columns = _tag_columns(rows)
    numbered = (row.columns[0] == str(number) for sentence in head for number, row in enumerate(sentence, 1))
    indexed = 1 not in columns and len(columns) > 0 and all(numbered)
    token = int(indexed)
    width = max((len(row.columns) for row in rows), default=0)
    others = [column for column in range(token + 1, width) if column not in columns]
    phrases: list[int] = []
    if others and columns:
        phrases = _phrase_columns(columns, rows, token, source, report)
        columns = [column for column in columns if column not in phrases]
        shown = ", ".join(str(column + 1) for column in others)
        report.note(f"{source}: no tags in column {shown}, ignored; {named('columns')} says which to read")
    columns = columns or [token + 1]
    ignored = tuple(column for column in others if column not in columns)
    layout = _Layout(token, tuple(columns), indexed, False, ignored, tuple(phrases), width)
    if _is_iob1(head, layout):
        report.add("file read as IOB1, where I- may begin an entity", f"{source}:{rows[0].number}", "IOB1")
        return layout._replace(iob1=True)
    return layout


def _phrase_columns(columns: list[int], rows: Sequence[_Row], token: int, source: str, report: Report) -> list[int]:
    """Return and note the columns of tags that hold phrases, if others are left."""
    types = {column: {tag.type for row in rows for tag in row.tags(column) if tag.type} for column in columns}
    phrases = [column for column in columns if types[column] and types[column] <= PHRASES]
    if len(phrases) == len(columns):
        return []
    for column in phrases:
        shown = ", ".join(sorted(types[column])[:3])
        report.note(
            f"{source}: column {column + 1} holds phrases ({shown}), ignored;"
            f" {named('columns', (token + 1, column + 1))} reads it"
        )
    return phrases


def _tag_columns(rows: Sequence[_Row]) -> list[int]:
    """Return the columns after the first in which nearly every cell is a tag."""
    columns = []
    for column in range(1, max((len(row.columns) for row in rows), default=0)):
        cells = [row.columns[column] for row in rows if len(row.columns) > column]
        if sum(map(bool, map(parse_tags, cells))) >= _MOST * len(cells):
            columns.append(column)
    return columns


def _is_iob1(head: Sequence[list[_Row]], layout: _Layout) -> bool:
    """Say whether every tag that does not follow a tag of its type is an I-."""
    marks: set[str] = set()
    for column in layout.tags:
        for rows in head:
            before: set[str] = set()
            for row in rows:
                tags = [tag for tag in row.tags(column) if tag.type]
                marks.update(tag.mark for tag in tags if tag.type not in before)
                before = {tag.type for tag in tags}
    return marks == {"I"}


def _sentence(rows: list[_Row], layout: _Layout, name: str | None, source: str, report: Report) -> Sentence:
    _check(rows, layout, source)
    entities: list[Entity] = []
    for column in layout.tags:
        cells = [_tags(row, column, source, report) for row in rows]
        entities += entities_of(cells, lambda token: f"{source}:{rows[token].number}", report, layout.iob1)
    for row in rows:
        _report_ignored(row, layout, source, report)
    tokens = [read_word(row.columns[layout.token], "-") for row in rows]
    return report.sentence(tokens, entities, name, f"{source}:{rows[0].number}")


def _check(rows: list[_Row], layout: _Layout, source: str) -> None:
    """Raise an InputError for the first line without a token or a tag."""
    for number, row in enumerate(rows, 1):
        if not row.has(layout.token) or not any(map(row.has, layout.tags)):
            message = f"{len(row.columns)} columns without a token or tag; write a token and its tags with tabs between"
            raise InputError(message, source, row.number)
        if layout.indexed and row.columns[0] != str(number):
            raise InputError(f"the index is {row.columns[0]!r}; it should be {number}", source, row.number)
        if not row.columns[layout.token]:
            raise InputError("the token is empty; every token must have a character", source, row.number)


def _tags(row: _Row, column: int, source: str, report: Report) -> tuple[Tag, ...]:
    if not row.has(column):
        report.add("tag missing at the end of a line read as O", f"{source}:{row.number}", f"column {column + 1}")
        return (OUTSIDE,)
    tags = parse_tags(row.columns[column])
    if not tags:
        raise InputError(
            f"{row.columns[column]!r} in column {column + 1 if column >= 0 else column} is not a tag; write O or B-TYPE"
            f" and I-TYPE, or say which columns are with {named('columns')}", source, row.number
        )  # fmt: skip
    return tags


def _report_ignored(row: _Row, layout: _Layout, source: str, report: Report) -> None:
    """Report tags in columns that had none so far, and refuse entities in columns of phrases."""
    for column in layout.phrases:
        if any(tag.type not in PHRASES for tag in row.tags(column) if tag.type):
            raise InputError(
                f"{row.columns[column]!r} in column {column + 1}, which holds phrases before;"
                f" say with {named('columns')} whether to read it", source, row.number
            )  # fmt: skip
    for column in layout.ignored:
        if any(tag.type for tag in row.tags(column)):
            report.lose("tag in a column without tags dropped", f"{source}:{row.number}", row.columns[column])


FORMAT = Format(
    "columns", "a token and its BIO tags a line", (".iob2", ".bio", ".iob", ".conll", ".tsv"), read, write, looks_like,
    remedy=Remedy("columns", "names the columns of tokens and tags"),
)  # fmt: skip
