r"""Columns: a token a line, then one tag for each level of nesting; a blank line after a sentence.

    president	B-PER	O
    of	I-PER	O
    the	I-PER	B-GPE
    USA	I-PER	I-GPE

Tabs part the columns, or blanks in a file without tabs. Read are BIO (IOB2), BIOES, BMES, BILOU and IOB1, written is
IOB2. The outermost entities stand in the first column, and what has the same span or crosses stands in a further one.
A line may have fewer columns than others (the rest is O), and a column several tags at once, as in `B-PER|U-GPE`.

Which columns hold tags is seen in the first sentences, or said by `columns` (that of tokens first); others, and phrases
like those of CoNLL-2003, are left alone and named. Lines that begin with `#` are comments, unless tags alone follow. A
first column that counts 1, 2, 3 is an index. `-DOCSTART-` begins a document, whose sentences are numbered. If entities
begin with I- and B- is used only between neighbours of one type, the file is IOB1. Elsewhere an entity begun by I- or
E- is repaired as conlleval does: it begins there, and is counted. Words are escaped as shared/tags.py says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError, named
from nestag.formats.files import Line, read_lines, writing
from nestag.formats.folders import stem_of
from nestag.formats.format import Format, Remedy, skipping
from nestag.formats.shared.tags import (
    PHRASES,
    Tag,
    entities_of,
    holdable,
    joined_entities,
    parsed,
    read_word,
    refuse_deep,
    write_word,
)

LOOKED_AT = 100
"""Sentences at the beginning of a file that say how it is laid out."""
LONGEST_BLOCK = 1_000_000
"""Lines without a blank one beyond which a file is taken for something else."""
DOCUMENT = "-DOCSTART-"
_JOINT = "|"
_BLANKS = re.compile("[ \t]+")
_ENOUGH = 10  # lines of which tags inside are no accident, as in "A B-2 bomber"
_MOST = 0.9  # of the cells of a column that must be tags


class TokenLine(NamedTuple):
    """A line cut into columns."""

    number: int
    columns: list[str]


class ColumnRoles(NamedTuple):
    """Where the token and the tags of a line stand, whether its first column counts, and whether I- may begin."""

    token: int
    tags: tuple[int, ...]
    indexed: bool = False
    iob1: bool = False
    ignored: tuple[int, ...] = ()  # columns without tags
    phrases: tuple[int, ...] = ()  # columns of phrases, which are ignored as well
    width: int | None = None  # of the longest line so far; None if the columns were named

    def widened(self, rows: Sequence[TokenLine]) -> ColumnRoles:
        """The same with the columns of lines that are longer than all before: a sentence may nest deeper."""
        width = max(len(row.columns) for row in rows)
        if self.width is None or width <= self.width:
            return self
        new = range(self.width, width)
        tags = [column for column in _tag_columns(rows) if column in new]
        ignored = (*self.ignored, *(column for column in new if column not in tags))
        return self._replace(tags=(*self.tags, *tags), ignored=ignored, width=width)


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a file; an InputError names the line that cannot be read."""
    sentences = blocks(path)
    head = list(islice(sentences, LOOKED_AT))
    tabs = any("\t" in line.text for block in head for line in block)
    looked_at = [rows for block in head if (rows := _rows(block, tabs)) and rows[0].columns[0] != DOCUMENT]
    layout = _chosen(looked_at, options) if options.columns else _seen(looked_at, str(path), report)
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
    """One line for each token; a temporary file holds them until it is known how many columns they need."""
    width = 1
    with writing(path) as stream, TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        for place, sentence in holdable(sentences, path, report):
            columns = tag_columns(sentence, place)
            width = max(width, len(columns))
            words = (write_word(token, "-" if token == DOCUMENT else "") for token in sentence.tokens)
            lines = zip(words, *columns, strict=True)
            spool.write("\n".join(map("\t".join, lines)) + "\n\n")
        spool.seek(0)
        for line in spool:
            stream.write(line if line == "\n" else line[:-1] + "\tO" * (width - line.count("\t")) + "\n")


def looks_like(head: str) -> bool:
    """Whether the lines at the beginning of a file, but for comments, have a column of tags."""
    lines = [Line(0, line.removesuffix("\r")) for line in head.split("\n")[:1_000] if line.strip()]
    rows = [row for row in _rows(lines, "\t" in head) if row.columns[0] != DOCUMENT]
    few = len(rows) < _ENOUGH and "\t" not in head
    is_webanno = head.startswith("#FORMAT=") and "\t" not in head.partition("\n")[0]
    if is_webanno or (few and (len(rows) < 2 or not all(parsed(row.columns[-1]) for row in rows))):
        return False
    return bool(_tag_columns(rows))


def blocks(path: str | Path) -> Iterator[list[Line]]:
    """The runs of lines between blank ones."""
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


def _rows(block: list[Line], tabs: bool) -> list[TokenLine]:
    cut = ((line, line.text.split("\t") if tabs else _BLANKS.split(line.text.strip(" \t"))) for line in block)
    return [TokenLine(line.number, columns) for line, columns in cut if not _is_comment(columns)]


def _is_comment(columns: list[str]) -> bool:
    return columns[0].startswith("#") and not (len(columns) > 1 and all(map(parsed, columns[1:])))


def _chosen(head: Sequence[list[TokenLine]], options: Options) -> ColumnRoles:
    """The columns that the options name."""
    token, *tags = (column - (column > 0) for column in options.columns or ())
    layout = ColumnRoles(token, tuple(tags))
    return layout._replace(iob1=_is_iob1(head, layout))


def _seen(head: Sequence[list[TokenLine]], source: str, report: Report) -> ColumnRoles:
    """What the first sentences say about the file; what they say of its columns is noted."""
    rows = [row for sentence in head for row in sentence]
    tags = _tag_columns(rows)
    indexed = 1 not in tags and len(tags) > 0 and all(map(_is_counted, head))
    token = int(indexed)
    width = max((len(row.columns) for row in rows), default=0)
    others = [column for column in range(token + 1, width) if column not in tags]
    phrases: list[int] = []
    if others and tags:
        phrases = _phrase_columns(tags, rows, token, source, report)
        tags = [column for column in tags if column not in phrases]
        told = ", ".join(str(column + 1) for column in others)
        report.note(f"{source}: no tags in column {told}, left alone; {named('columns')} says which to read")
    tags = tags or [token + 1]
    ignored = tuple(column for column in others if column not in tags)
    layout = ColumnRoles(token, tuple(tags), indexed, False, ignored, tuple(phrases), width)
    if _is_iob1(head, layout):
        report.add("file read as IOB1, where I- may begin an entity", f"{source}:{rows[0].number}", "IOB1")
        return layout._replace(iob1=True)
    return layout


def _phrase_columns(tags: list[int], rows: Sequence[TokenLine], token: int, source: str, report: Report) -> list[int]:
    """The columns of tags that hold phrases, if others are left; these are noted."""
    phrases = [column for column in tags if _types(rows, column) and _types(rows, column) <= PHRASES]
    if len(phrases) == len(tags):
        return []
    for column in phrases:
        shown = ", ".join(sorted(_types(rows, column))[:3])
        report.note(
            f"{source}: column {column + 1} holds phrases ({shown}) and was left alone;"
            f" {named('columns', (token + 1, column + 1))} reads it"
        )
    return phrases


def _tag_columns(rows: Sequence[TokenLine]) -> list[int]:
    """The columns after the first in which nearly all is tags."""
    found = []
    for column in range(1, max((len(row.columns) for row in rows), default=0)):
        cells = [row.columns[column] for row in rows if len(row.columns) > column]
        if sum(map(bool, map(parsed, cells))) >= _MOST * len(cells):
            found.append(column)
    return found


def _types(rows: Sequence[TokenLine], column: int) -> set[str]:
    cells = {row.columns[column] for row in rows if len(row.columns) > column}
    return {tag.type for cell in cells for tag in parsed(cell) or () if tag.type}


def _is_counted(rows: list[TokenLine]) -> bool:
    return all(row.columns[0] == str(number) for number, row in enumerate(rows, 1))


def _is_iob1(head: Sequence[list[TokenLine]], layout: ColumnRoles) -> bool:
    return {mark for rows in head for mark in _first_marks(rows, layout)} == {"I"}


def _first_marks(rows: list[TokenLine], layout: ColumnRoles) -> Iterator[str]:
    """The letters of the tags that do not follow a tag of the same type."""
    for column in layout.tags:
        before: Sequence[Tag] = ()
        for row in rows:
            tags = parsed(row.columns[column]) or () if column < len(row.columns) else ()
            kinds = {tag.type for tag in before}
            yield from (tag.mark for tag in tags if tag.type and tag.type not in kinds)
            before = tags


def _sentence(rows: list[TokenLine], layout: ColumnRoles, name: str | None, source: str, report: Report) -> Sentence:
    _check(rows, layout, source)
    found: list[Entity] = []
    for column in layout.tags:
        tags = [_tags(row, column, source, report) for row in rows]

        def place(token: int) -> str:
            return f"{source}:{rows[token].number}"

        if any(len(joint) > 1 for joint in tags):
            found += joined_entities(tags, place, report)
        else:
            found += entities_of([joint[0] for joint in tags], layout.iob1, place, report)
    _count_ignored(rows, layout, source, report)
    sentence = Sentence([read_word(row.columns[layout.token], "-") for row in rows], found, name)
    report.duplicates(found, sentence, f"{source}:{rows[0].number}")
    return sentence


def _count_ignored(rows: list[TokenLine], layout: ColumnRoles, source: str, report: Report) -> None:
    """Report the tags in columns that the first sentences showed no tags in; one in a column of phrases is an error."""
    for column in layout.phrases:
        if not _types(rows, column) <= PHRASES:
            wrong = next(row for row in rows if not _types([row], column) <= PHRASES)
            raise InputError(
                f"{wrong.columns[column]!r} in column {column + 1}, which holds phrases before;"
                f" say with {named('columns')} whether to read it",
                source, wrong.number,
            )  # fmt: skip
    for column in layout.ignored:
        for row in rows:
            if _types([row], column):
                report.lose("tag in a column without tags left out", f"{source}:{row.number}", row.columns[column])


def _check(rows: list[TokenLine], layout: ColumnRoles, source: str) -> None:
    """Stop at the first line that has no token or no tag."""
    due = max(layout.token, min(layout.tags)) + 1
    for number, (line, columns) in enumerate(rows, 1):
        if len(columns) < due:
            raise InputError(
                f"{len(columns)} columns where {due} are due; write a token and its tags with tabs between",
                source, line,
            )  # fmt: skip
        if layout.indexed and columns[0] != str(number):
            raise InputError(f"the index is {columns[0]!r}; it should be {number}", source, line)
        if not columns[layout.token]:
            raise InputError("the token is empty; every token must have a character", source, line)


def _tags(row: TokenLine, column: int, source: str, report: Report) -> tuple[Tag, ...]:
    if column >= len(row.columns):
        report.add("tag missing at the end of a line read as O", f"{source}:{row.number}", f"column {column + 1}")
        return parsed("O") or ()
    tags = parsed(row.columns[column])
    if not tags:
        raise InputError(
            f"{row.columns[column]!r} in column {column + 1 if column >= 0 else column} is no tag; write O, or B-TYPE"
            f" and I-TYPE, or say which columns are with {named('columns')}",
            source, row.number,
        )  # fmt: skip
    return tags


def tag_columns(sentence: Sentence, place: str) -> list[list[str]]:
    """The columns of tags: each entity, the outermost first, in the first column where its place is free."""
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
        name = write_word(kind, _JOINT)
        columns[column][start:end] = [f"B-{name}"] + [f"I-{name}"] * (end - start - 1)
    return columns


FORMAT = Format(
    "columns", "a token and its BIO tags a line", (".iob2", ".bio", ".iob", ".conll", ".tsv"), read, write, looks_like,
    remedy=Remedy("columns", "names the columns of tokens and tags"),
)  # fmt: skip
