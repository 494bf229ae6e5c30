r"""CoNLL-U with entities as brackets in MISC, as in GUM and CorefUD.

    # global.Entity = eid-etype-head-other
    # newdoc id = lincoln
    # sent_id = lincoln-1
    # text = president of the USA
    1	president	_	_	_	_	_	_	_	Entity=(e1-PER
    2	of	_	_	_	_	_	_	_	_
    3	the	_	_	_	_	_	_	_	Entity=(e2-GPE
    4	USA	_	_	_	_	_	_	_	Entity=e2)e1)

The line global.Entity names the fields between hyphens: `etype` (once `entity`) is the type, `eid` (once `GRP`) an
optional name. Without that line the first field is the type if it does not look like a name (`e12`, `12`), else the
second. A bracket closes by the fields up to the name, by the name, by the type if there is no name, or by nothing.
Words are tokens; the lines of multiword tokens (1-2) and of empty nodes (8.1) are not.
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
from nestag.errors import DataError, InputError
from nestag.formats.columns import blocks
from nestag.formats.files import Line, writing
from nestag.formats.registry import Format, skipping
from nestag.formats.shared.tags import read_word, writable, write_word

HEADER = "# global.Entity = eid-etype-head-other\n"
COLUMNS = 10
LOOKED_AT = 100  # lines at the beginning of a file that are inspected to recognise its format
_IN_WORDS, _IN_TYPES = " ", " -()|"
_ID = re.compile(r"(?P<word>[0-9]+)|(?P<range>(?P<from>[0-9]+)-(?P<to>[0-9]+))|(?P<empty>[0-9]+\.[0-9]+)")
_BRACKET = re.compile(r"\((?P<opened>[^()]*)(?P<whole>\)?)|(?P<closed>[^()]*)\)")
_PART = re.compile(r"\[([0-9]+)/[0-9]+\]")
_NAME = re.compile(r"[a-z]?[0-9]+(\[[0-9]+/[0-9]+\])?")


class _FieldPlaces(NamedTuple):
    """The positions of a mention's name, if it has one, and type among the fields of a bracket."""

    name: int | None
    type: int


class _Mention(NamedTuple):
    """An open bracket: the names that may close it, of which messages use the first, its first token and its type."""

    names: tuple[str, ...]
    start: int
    type: str

    @property
    def is_part(self) -> bool:
        """Say whether it is one of several parts of a discontinuous mention."""
        return any(_PART.search(name) for name in self.names)


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file; an InputError names an invalid line."""
    reader = _Reader(str(path), options, report)
    for block in blocks(path):
        with skipping(options, report):
            if sentence := reader.sentence(block):
                yield sentence


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write a line for each token, and `# newdoc` where the document, as the ids name it, changes."""
    document, mentions, header = "", 0, HEADER
    with writing(path) as stream:
        for _, sentence in writable(sentences, path, report, ids=True):
            before, document = document, document_of(sentence) if sentence.id is not None else ""
            if document != before:
                header += f"# newdoc id = {write_word(document, _IN_WORDS)}\n" if document else "# newdoc\n"
            stream.write(header + _to_lines(sentence, mentions))
            mentions += len(sentence.entities)
            header = ""


def looks_like(head: str) -> bool:
    """Say whether the first lines except comments are words in ten columns."""
    if head.startswith("#FORMAT="):
        return False
    lines = (line.split("\t") for line in head.split("\n")[:-1] if line.strip() and not line.startswith("#"))
    first = list(islice(lines, LOOKED_AT))
    return bool(first) and all(len(columns) == COLUMNS and _parse_id(columns[0]) for columns in first)


def _parse_id(text: str) -> re.Match[str] | None:
    """Match the number of a word, a range that rises, or the number of an empty node."""
    match = _ID.fullmatch(text)
    return None if match and match["range"] and int(match["from"]) >= int(match["to"]) else match


class _Reader:
    """The state of reading: of the file so far, and of the current sentence."""

    def __init__(self, source: str, options: Options, report: Report) -> None:
        self.source = source
        self.options = options
        self.report = report
        self.fields: _FieldPlaces | None = None
        self.document = ""
        self.number = 0
        self.left_open: Counter[str] = Counter()  # brackets of sentences before, by name

    def sentence(self, block: list[Line]) -> Sentence | None:
        """Return the sentence of a block, if it has words."""
        self.name: str | None = None
        self.tokens: list[str] = []
        self.opened: list[_Mention] = []
        self.entities: list[Entity] = []
        for line in block:
            try:
                self._comment(line.text) if line.text.startswith("#") else self._row(line)
            except DataError as error:
                raise InputError(str(error), self.source, line.number) from None
        place = f"{self.source}:{block[0].number}"
        for mention in self.opened:
            self.left_open.update(mention.names)
            if not mention.is_part:
                self.report.lose("entity that does not close in its sentence dropped", place, f"({mention.names[0]}")
        if not self.tokens:
            return None
        self.number += 1
        number = f"{self.document}-{self.number}" if self.document else None
        return self.report.sentence(self.tokens, self.entities, number if self.name is None else self.name, place)

    def _comment(self, text: str) -> None:
        key, _, value = (part.strip(" \t") for part in text[1:].partition("="))
        if key == "sent_id":
            self.name = read_word(value, _IN_WORDS)
        elif key in ("newdoc", "newdoc id"):
            self.document, self.number = read_word(value, _IN_WORDS), 0
            self.left_open.clear()
        elif key == "global.Entity":
            places = {name: place for place, name in enumerate(value.split("-"))}
            kind = places.get("etype", places.get("entity", places.get("type")))
            if kind is None:
                raise DataError(f"no field 'etype' among {', '.join(places)}; the field with the type needs this name")
            self.fields = _FieldPlaces(places.get("eid", places.get("GRP")), kind)

    def _row(self, line: Line) -> None:
        columns = line.text.split("\t")
        match = _parse_id(columns[0])
        if len(columns) != COLUMNS or not match or not columns[1]:
            raise DataError(
                f"{len(columns)} columns, the first {columns[0]!r}; write {COLUMNS} with tabs between, a number first"
            )
        start = len(self.tokens)
        if match["word"]:
            if match["word"] != str(start + 1):
                raise DataError(f"the word is number {match['word']}; it should be {start + 1}")
            self.tokens.append(read_word(columns[1], _IN_WORDS))
        for field in columns[-1].split("|"):
            if field.startswith("Entity="):
                if match["range"]:
                    raise DataError("Entity= on a multiword token; move it to its words")
                with skipping(self.options, self.report, self.source, line.number):
                    self._brackets(field.removeprefix("Entity="), start, line.number)

    def _brackets(self, text: str, start: int, line: int) -> None:
        """Read the brackets of a word that begins at `start`, or of an empty node between two words."""
        place, end, read = f"{self.source}:{line}", len(self.tokens), 0
        for match in _BRACKET.finditer(text):
            if match.start() != read:
                break
            read = match.end()
            with skipping(self.options, self.report, self.source, line):
                if match["closed"] is not None:
                    self._close(match["closed"], end, place)
                    continue
                mention = self._mention(match["opened"].split("-"), start, place)
                self.opened.append(mention)
                if match["whole"]:
                    self._close(mention.names[0], end, place)
        if read != len(text):
            raise DataError(f"Entity={text} cannot be read from {text[read:]!r} on")

    def _mention(self, fields: list[str], start: int, place: str) -> _Mention:
        name, kind = self.fields or _FieldPlaces(*((0, 1) if _NAME.fullmatch(fields[0]) else (1, 0)))
        kinds = tuple(fields[kind : kind + 1])
        names = kinds if name is None else ("-".join(fields[: name + 1]), *fields[name : name + 1])
        if self.fields is None and name == 1:
            names += kinds
        part = next(filter(None, map(_PART.search, names)), None)
        if part and part[1] == "1":
            self.report.lose("discontinuous entity dropped", place, f"({names[0]}")
        return _Mention(names or ("",), start, kinds[0] if kinds else "")

    def _close(self, name: str, end: int, place: str) -> None:
        """Close the last bracket opened by that name, in this sentence or before; no name closes the last."""
        last_first = range(len(self.opened) - 1, -1, -1)
        at = next((i for i in last_first if not name or name in self.opened[i].names), None)
        if at is None:
            if not self.left_open[name]:
                raise DataError(f"Entity={name}) closes what was not opened; open it with ({name}")
            self.left_open[name] -= 1
            return
        mention = self.opened.pop(at)
        missing = "a type" if not mention.type else "words" if mention.start == end else None
        if missing and not mention.is_part:
            self.report.lose(f"entity without {missing} dropped", place, f"({name}")
        elif not mention.is_part:
            self.entities.append(Entity(mention.start, end, read_word(mention.type, _IN_TYPES)))


def _to_lines(sentence: Sentence, mentions: int) -> str:
    """Return a sentence's comments and lines, its entities numbered after the mentions before it."""
    words = [write_word(token, _IN_WORDS) for token in sentence.tokens]
    text = f"# sent_id = {write_word(sentence.id, _IN_WORDS)}\n" if sentence.id is not None else ""
    text += f"# text = {' '.join(words)}\n"
    for number, (word, brackets) in enumerate(zip(words, _to_brackets(sentence, mentions), strict=True), 1):
        text += f"{number}\t{word}" + "\t_" * (COLUMNS - 3) + f"\t{f'Entity={brackets}' if brackets else '_'}\n"
    return text + "\n"


def _to_brackets(sentence: Sentence, mentions: int) -> list[str]:
    """Return the brackets of each token; none opens right before another closes, which would be ambiguous."""
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
