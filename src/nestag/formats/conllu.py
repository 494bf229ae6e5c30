r"""CoNLL-U with entities as brackets in MISC, as in GUM and CorefUD.

    # global.Entity = eid-etype-head-other
    # newdoc id = lincoln
    # sent_id = lincoln-1
    # text = president of the USA
    1	president	_	_	_	_	_	_	_	Entity=(e1-PER
    2	of	_	_	_	_	_	_	_	_
    3	the	_	_	_	_	_	_	_	Entity=(e2-GPE
    4	USA	_	_	_	_	_	_	_	Entity=e2)e1)

The line global.Entity names the fields between hyphens: `etype` (once `entity`) is the type, `eid` (once `GRP`) a name,
which may be missing. Without that line the first field is the type if it does not look like a name (`e12`, `12`), else
the second. A bracket closes by the fields up to the name, by the name, by the type if there is no name, or by none.
Words are tokens; the lines of multiword tokens (1-2) and of empty nodes (8.1) are not. A sentence without a sent_id is
numbered in its document. Left out, and counted in the report: discontinuous mentions (`[1/2]`), mentions without a
type or without words, and those that do not close in their sentence. Other columns and fields are left alone.

Words are escaped as shared/tags.py says, in types the marks of MISC as well: spaces, hyphens, brackets and bars.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from nestag.data.document import document_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.columns import blocks
from nestag.formats.files import Line, writing
from nestag.formats.format import Format, skipping
from nestag.formats.shared.tags import holdable, read_word, write_word

HEADER = "# global.Entity = eid-etype-head-other\n"
COLUMNS = 10
LOOKED_AT = 100
"""Lines at the beginning of a file by which it is known."""
_IN_WORDS, _IN_TYPES = " ", " -()|"
_ID = re.compile(r"(?P<word>[0-9]+)|(?P<range>(?P<from>[0-9]+)-(?P<to>[0-9]+))|(?P<empty>[0-9]+\.[0-9]+)")
_BRACKET = re.compile(r"\((?P<opened>[^()]*)(?P<whole>\)?)|(?P<closed>[^()]*)\)")
_PART = re.compile(r"\[([0-9]+)/[0-9]+\]")


_NAME = re.compile(r"[a-z]?[0-9]+(\[[0-9]+/[0-9]+\])?")


class Fields(NamedTuple):
    """Where a mention's name, if it has one, and its type stand among the fields of a bracket."""

    name: int | None
    type: int


class Mention(NamedTuple):
    """A bracket that has been opened."""

    names: tuple[str, ...]
    """What it may be closed by; the first is used in messages."""
    start: int
    type: str

    @property
    def is_part(self) -> bool:
        """Whether it is one of several parts of a discontinuous mention."""
        return any(_PART.search(name) for name in self.names)


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a file; an InputError names the line that cannot be read."""
    reader = _ConlluReader(str(path), options, report)
    for block in blocks(path):
        with skipping(options, report):
            sentence = reader.sentence(block)
            if sentence:
                yield sentence


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """A line for each token; `# newdoc` stands where the document, as the ids name it, changes."""
    document, written, mentions = "", 0, 0
    with writing(path) as stream:
        for written, (_, sentence) in enumerate(holdable(sentences, path, report, ids=True), 1):
            text = HEADER if written == 1 else ""
            before, document = document, document_of(sentence) if sentence.id is not None else ""
            if document != before:
                text += f"# newdoc id = {write_word(document, _IN_WORDS)}\n" if document else "# newdoc\n"
            stream.write(text + _written(sentence, mentions))
            mentions += len(sentence.entities)


def looks_like(head: str) -> bool:
    """Whether the first lines that are no comments are words in ten columns."""
    if head.startswith("#FORMAT="):
        return False
    lines = (line.split("\t") for line in head.split("\n")[:-1] if line.strip() and not line.startswith("#"))
    first = list(islice(lines, LOOKED_AT))
    return bool(first) and all(len(columns) == COLUMNS and _is_id(columns[0]) for columns in first)


def _is_id(text: str) -> bool:
    """Whether a first column is the number of a word, a range that rises, or the number of an empty node."""
    match = _ID.fullmatch(text)
    return match is not None and not (match["range"] and int(match["from"]) >= int(match["to"]))


class _ConlluReader:
    """What is known of the file so far, and of the sentence at hand."""

    def __init__(self, source: str, options: Options, report: Report) -> None:
        self.source = source
        self.options = options
        self.report = report
        self.fields: Fields | None = None
        self.document = ""
        self.number = 0
        self.left_open: Counter[str] = Counter()  # brackets of sentences before, by name

    def sentence(self, block: list[Line]) -> Sentence | None:
        """The sentence of a block, if it has words."""
        self.name: str | None = None
        self.tokens: list[str] = []
        self.opened: list[Mention] = []
        self.found: list[Entity] = []
        for line in block:
            if line.text.startswith("#"):
                self._comment(line)
            else:
                self._row(line)
        place = f"{self.source}:{block[0].number}"
        for mention in self.opened:
            self.left_open.update(mention.names)
            if not mention.is_part:
                self.report.lose("entity that does not close in its sentence left out", place, f"({mention.names[0]}")
        if not self.tokens:
            return None
        self.number += 1
        number = f"{self.document}-{self.number}" if self.document else None
        sentence = Sentence(self.tokens, self.found, number if self.name is None else self.name)
        self.report.duplicates(self.found, sentence, place)
        return sentence

    def _comment(self, line: Line) -> None:
        key, _, value = (part.strip(" \t") for part in line.text[1:].partition("="))
        if key == "sent_id":
            self.name = read_word(value, _IN_WORDS)
        elif key in ("newdoc", "newdoc id"):
            self.document, self.number = read_word(value, _IN_WORDS), 0
            self.left_open.clear()
        elif key == "global.Entity":
            self.fields = self._fields(value.split("-"), line)

    def _fields(self, names: list[str], line: Line) -> Fields:
        places = {name: place for place, name in enumerate(names)}
        kind = places.get("etype", places.get("entity", places.get("type")))
        if kind is None:
            raise InputError(
                f"no field 'etype' among {', '.join(names)}; name the one that holds the type so",
                self.source, line.number,
            )  # fmt: skip
        return Fields(places.get("eid", places.get("GRP")), kind)

    def _row(self, line: Line) -> None:
        columns = line.text.split("\t")
        match = _ID.fullmatch(columns[0])
        if len(columns) != COLUMNS or not match or not _is_id(columns[0]) or not columns[1]:
            raise InputError(
                f"{len(columns)} columns, the first {columns[0]!r}; write {COLUMNS} with tabs between, a number first",
                self.source, line.number,
            )  # fmt: skip
        start = len(self.tokens)
        if match["word"]:
            if match["word"] != str(start + 1):
                raise InputError(
                    f"the word is number {match['word']}; it should be {start + 1}", self.source, line.number
                )
            self.tokens.append(read_word(columns[1], _IN_WORDS))
        for field in columns[-1].split("|"):
            if field.startswith("Entity="):
                if match["range"]:
                    raise InputError("Entity= on a multiword token; move it to its words", self.source, line.number)
                with skipping(self.options, self.report):
                    self._brackets(field.removeprefix("Entity="), start, line)

    def _brackets(self, text: str, start: int, line: Line) -> None:
        """The brackets of a word that begins at `start`, or of an empty node between two words."""
        end = len(self.tokens)
        read = 0
        for match in _BRACKET.finditer(text):
            if match.start() != read:
                break
            read = match.end()
            with skipping(self.options, self.report):
                if match["closed"] is not None:
                    self._close(match["closed"], end, line)
                    continue
                mention = self._mention(match["opened"].split("-"), start, line)
                self.opened.append(mention)
                if match["whole"]:
                    self._close(mention.names[0], end, line)
        if read != len(text):
            raise InputError(f"Entity={text} cannot be read from {text[read:]!r} on", self.source, line.number)

    def _mention(self, fields: list[str], start: int, line: Line) -> Mention:
        place, kind = self.fields or Fields(*((0, 1) if _NAME.fullmatch(fields[0]) else (1, 0)))
        kinds = tuple(fields[kind : kind + 1])
        names = kinds if place is None else ("-".join(fields[: place + 1]), *fields[place : place + 1])
        if self.fields is None and place == 1:
            names += kinds
        part = next(filter(None, map(_PART.search, names)), None)
        if part and part[1] == "1":
            self.report.lose("discontinuous entity left out", f"{self.source}:{line.number}", f"({names[0]}")
        return Mention(names or ("",), start, kinds[0] if kinds else "")

    def _close(self, name: str, end: int, line: Line) -> None:
        """Close the last bracket opened by that name, in this sentence or in one before; no name closes the last."""
        last_first = range(len(self.opened) - 1, -1, -1)
        place = next((i for i in last_first if not name or name in self.opened[i].names), None)
        if place is None:
            if not self.left_open[name]:
                raise InputError(
                    f"Entity={name}) closes what was not opened; open it with ({name}", self.source, line.number
                )
            self.left_open[name] -= 1
            return
        mention = self.opened.pop(place)
        if mention.is_part:
            return
        missing = "a type" if not mention.type else "words" if mention.start == end else None
        if missing:
            self.report.lose(f"entity without {missing} left out", f"{self.source}:{line.number}", f"({name}")
        else:
            self.found.append(Entity(mention.start, end, read_word(mention.type, _IN_TYPES)))


def _written(sentence: Sentence, mentions: int) -> str:
    """A sentence's comments and lines, its entities numbered after the mentions before it."""
    words = [write_word(token, _IN_WORDS) for token in sentence.tokens]
    text = f"# sent_id = {write_word(sentence.id, _IN_WORDS)}\n" if sentence.id is not None else ""
    text += f"# text = {' '.join(words)}\n"
    for number, (word, brackets) in enumerate(zip(words, _written_brackets(sentence, mentions), strict=True), 1):
        text += f"{number}\t{word}" + "\t_" * (COLUMNS - 3) + f"\t{f'Entity={brackets}' if brackets else '_'}\n"
    return text + "\n"


def _written_brackets(sentence: Sentence, mentions: int) -> list[str]:
    """The brackets of each token; none is opened right before another is closed, for that could not be told apart."""
    opening, whole, closing = ([""] * len(sentence) for _ in range(3))
    for number, (start, end, kind) in enumerate(sentence.entities, mentions + 1):
        opened = f"(e{number}-{write_word(kind, _IN_TYPES)}"
        if end - start == 1:
            whole[start] += opened + ")"
        else:
            opening[start] += opened
            closing[end - 1] = f"e{number})" + closing[end - 1]
    return [c + o + w if o else w + c for o, w, c in zip(opening, whole, closing, strict=True)]


FORMAT = Format("conllu", "CoNLL-U with entities in MISC", (".conllu",), read, write, looks_like)
