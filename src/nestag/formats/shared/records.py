"""JSON read from files one value at a time, on lines or in one list, and checked fields of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from nestag.data.document import Document, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence, refuse_half_characters
from nestag.errors import DataError, InputError
from nestag.formats.files import LONGEST_LINE, read_blocks, writing
from nestag.formats.folders import stem_of
from nestag.formats.registry import Read, Write, skipping

LOOKED_AT = 100  # values at the beginning of a file that are inspected to recognise its format
_BLANK = " \t\r\n\ufeff"
_SPACE = re.compile(f"[{_BLANK}]*")
_SIGN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{}:]', re.DOTALL)
_DECODER = json.JSONDecoder()


class Fields(dict[str, Any]):
    """A JSON object; its methods return checked fields or raise a DataError."""

    @classmethod
    def of(cls, value: object, *keys: str) -> Fields:
        """Return the fields of an object, or of a list with a value for each key."""
        if keys and isinstance(value, list) and len(value) >= len(keys):
            return cls(zip(keys, value, strict=False))
        if not isinstance(value, dict):
            raise DataError(f"{short(value)} is not {list(keys) if keys else 'an object'}")
        return cls(value)

    def text(self, key: str) -> str:
        """Return a string without lone surrogates."""
        value = self.get(key)
        if not isinstance(value, str):
            raise DataError(f"{key!r} is {short(value)}; make it a string")
        refuse_half_characters(value)
        return value

    def label(self, key: str) -> str:
        """Return a string that is not empty."""
        if not self.text(key):
            raise DataError(f"{key!r} is empty; give a word, or the type of an entity")
        return self.text(key)

    def number(self, key: str) -> int:
        """Return an integer."""
        value = self.get(key)
        if type(value) is not int:
            raise DataError(f"{key!r} is {short(value)}; make it an integer")
        return value

    def objects(self, key: str) -> list[Fields]:
        """Return a list of objects, empty if it is missing or null."""
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
            raise DataError(f"{key!r} is {short(value)}; make it a list of objects")
        return list(map(Fields, value))

    def words(self, key: str) -> list[str]:
        """Return a list of words, none of them empty."""
        value = self.get(key)
        if not isinstance(value, list):
            raise DataError(f"{key!r} is {short(value)}; make it a list of words")
        return [Fields({key: word}).label(key) for word in value]

    def id(self, key: str = "id") -> str | None:
        """Return an id, which may be a number or missing."""
        value = self.get(key)
        return str(value) if type(value) is int else None if value is None else self.text(key)

    def name(self, default: str) -> str:
        """Return the id, or a default if it is missing."""
        name = self.id()
        return default if name is None else name


def as_id(name: str) -> str | int:
    """Return an id as a number if it is one.

    >>> as_id("17"), as_id("017")
    (17, '017')
    """
    return int(name) if name.isdecimal() and len(name) < 19 and str(int(name)) == name else name


def short(value: object) -> str:
    """Shorten a value for messages."""
    return "missing" if value is None else repr(value)[:60]


class Record(NamedTuple):
    """A JSON value, usually an object, with its line, its place for messages and a name for its document."""

    line: int
    value: Any
    place: str
    name: str

    @property
    def fields(self) -> Fields:
        """Return the fields of an object; other values are a DataError."""
        return Fields.of(self.value)


def read_records(path: str | Path, options: Options, report: Report) -> Iterator[Record]:
    """Yield the members of a file that is one JSON list, or that has one value after the other.

    Only the current value is in memory, with at most 64 Mi characters. Invalid JSON ends a list. Outside a list, the
    next line can still be read.
    """
    window = _Window(read_blocks(path), str(path))
    stem, previous, same = stem_of(path), 0, 0
    while sign := window.next_sign():
        for line, value in window.members() if sign == "[" else window.single(options, report):
            same = same + 1 if line == previous else 1
            previous = line
            name = f"{stem}:{line}" if same == 1 else f"{stem}:{line}.{same}"
            yield Record(line, value, f"{path}:{line}", name)


def record_reader(parse: Callable[[Record, Options, Report], Iterable[Sentence]]) -> Read:
    """Return the reader of a format with sentences in each object."""

    def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
        for record in read_records(path, options, report):
            with skipping(options, report, path, record.line):
                yield from list(parse(record, options, report))

    return read


def document_reader(parse: Callable[[Record, Options, Report], Document | None]) -> Read:
    """Return the reader of a format with a document, or nothing, in each object."""

    def sentences(record: Record, options: Options, report: Report) -> Iterable[Sentence]:
        document = parse(record, options, report)
        return sentences_of(document, options, report) if document else []

    return record_reader(sentences)


def document_writer(to_record: Callable[[Document], Any], lines: bool = False, keeps_words: bool = False) -> Write:
    """Return the writer of a format with a document in each object."""

    def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
        write_json(map(to_record, documents_of(sentences, report, keeps_words)), path, lines)

    return write


def write_json(
    records: Iterable[Any], path: str | Path, lines: bool = False, frame: tuple[str, str] = ("[", "]")
) -> None:
    """Write values as one JSON list, one value per line, or as JSON Lines; `frame` may put the list into an object."""
    before, between, after = ("", "\n", "\n") if lines else (f"{frame[0]}\n", ",\n", f"\n{frame[1]}\n")
    count = 0
    with writing(path) as stream:
        for count, record in enumerate(records, 1):
            text = json.dumps(record, ensure_ascii=False)
            if len(text) > LONGEST_LINE:
                raise InputError(f"a record longer than {LONGEST_LINE} characters; choose another format", str(path))
            stream.write((between if count > 1 else before) + text)
        stream.write(after if count else "" if lines else f"{frame[0]}{frame[1]}\n")


def is_list(head: str) -> bool:
    """Say whether a file begins like a list."""
    return head.lstrip(_BLANK).startswith("[")


@lru_cache(maxsize=4)
def sample(head: str) -> tuple[Any, ...]:
    """Return the first values in the beginning of a file; if an object is cut off, only its keys.

    >>> sample('[{"a": 1}, {"b": [2')
    ({'a': 1},)
    >>> sample('{"text": "very long')
    ({'text': None},)
    """
    values: list[Any] = []
    text = head.lstrip(_BLANK).removeprefix("[").lstrip(_BLANK)
    at = 0
    while len(values) < LOOKED_AT:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
        while text[at : at + 1] in (*_BLANK, ","):
            at += 1
    return tuple(values) or (dict.fromkeys(_first_keys(text)),)


def any_object(head: str, test: Callable[[dict[str, Any]], bool]) -> bool:
    """Say whether one of the first objects of a file passes a test."""
    return any(isinstance(value, dict) and test(value) for value in sample(head))


def _first_keys(text: str) -> set[str]:
    """Return the keys of an object that may be cut off anywhere.

    >>> sorted(_first_keys('{"text": "{a", "meta": {"b": 1}, "lab'))
    ['meta', 'text']
    """
    keys: set[str] = set()
    depth, last = 0, ""
    for match in _SIGN.finditer(text) if text.startswith("{") else ():
        sign = match[0]
        if sign == ":" and depth == 1:
            keys.add(last.strip('"'))
        depth += (sign in "{[") - (sign in "}]")
        if not depth:
            break
        last = sign
    return keys


class _Window:
    """The part of a long JSON text that is in memory, and the line that has been reached."""

    def __init__(self, blocks: Iterator[str], source: str) -> None:
        self.blocks = blocks
        self.source = source
        self.text = ""
        self.at = 0
        self.line = 1

    def next_sign(self, after: int = 0) -> str:
        """Go to the next character that is not white space, after skipping some; it is empty at the end."""
        self._move(self.at + after)
        while True:
            self._move(_SPACE.match(self.text, self.at).end())  # type: ignore[union-attr]
            if self.at < len(self.text) or not self._more():
                return self.text[self.at : self.at + 1]

    def members(self) -> Iterator[tuple[int, Any]]:
        """Yield the line and value of each member of the list that begins here."""
        sign = self.next_sign(1)
        while sign != "]":
            yield self._value("is the file complete?")
            sign = self.next_sign()
            if sign not in (",", "]"):
                raise InputError(f"{sign!r} after a value; put a comma, or ] at the end", self.source, self.line)
            if sign == ",":
                self.next_sign(1)
        self.next_sign(1)

    def single(self, options: Options, report: Report) -> Iterator[tuple[int, Any]]:
        """Yield the line and the value that begins here, or skip the line if it is invalid."""
        with skipping(options, report):
            yield self._value("write one object a line")
            return
        self._skip_line()

    def _value(self, remedy: str) -> tuple[int, Any]:
        line = self.line
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                cut = isinstance(error, json.JSONDecodeError) and len(self.text) - self.at <= LONGEST_LINE
                if not cut or not self._more():
                    reason = getattr(error, "msg", error)
                    raise InputError(f"not JSON ({reason}); {remedy}", self.source, line) from None
            else:
                self._move(end)
                return line, value

    def _skip_line(self) -> None:
        while (end := self.text.find("\n", self.at)) < 0:
            self._move(len(self.text))
            if not self._more():
                return
        self._move(end + 1)

    def _move(self, place: int) -> None:
        self.line += self.text.count("\n", self.at, place)
        self.at = min(place, len(self.text))

    def _more(self) -> bool:
        """Drop the text before the current place, and load at least as much as is still in memory."""
        parts = [self.text[self.at :]]
        size = 0
        for block in self.blocks:
            parts.append(block)
            size += len(block)
            if size and size >= len(parts[0]):
                break
        self.text, self.at = "".join(parts), 0
        return size > 0
