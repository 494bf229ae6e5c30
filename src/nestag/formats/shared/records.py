"""JSON values read from files one at a time, on lines or in one list, and the fields of objects, checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from nestag.data.document import Document, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence, refuse_half_characters
from nestag.errors import DataError, InputError
from nestag.formats.files import LONGEST_LINE, read_blocks
from nestag.formats.folders import stem_of
from nestag.formats.format import Read, skipping


def text_field(record: dict[str, Any], key: str) -> str:
    """A string of an object, or a DataError; a half of a character (a lone surrogate) is none."""
    value = record.get(key)
    if not isinstance(value, str):
        raise DataError(f"{key!r} is {short(value)}; make it a string")
    refuse_half_characters(value)
    return value


def label_field(record: dict[str, Any], key: str) -> str:
    """A string that is not empty."""
    value = text_field(record, key)
    if not value:
        raise DataError(f"{key!r} is empty; give a word, or the type of an entity")
    return value


def number_field(record: dict[str, Any], key: str) -> int:
    """An integer of an object, or a DataError."""
    value = record.get(key)
    if type(value) is not int:
        raise DataError(f"{key!r} is {short(value)}; make it an integer")
    return value


def list_field(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of objects; one that is missing or null is empty."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
        raise DataError(f"{key!r} is {short(value)}; make it a list of objects")
    return value


def words_field(record: dict[str, Any], key: str) -> list[str]:
    """A list of words, none of them empty and none with half of a character."""
    value = record.get(key)
    if not isinstance(value, list):
        raise DataError(f"{key!r} is {short(value)}; make it a list of words")
    return [label_field({key: word}, key) for word in value]


def name_of(record: dict[str, Any], path: str | Path, name: str) -> str:
    """The id of an object as a string; without one, the file's name and the record's."""
    value = record.get("id")
    if value is None:
        return f"{stem_of(path)}:{name}"
    return str(value) if type(value) is int else text_field(record, "id")


def id_or_none(record: dict[str, Any], key: str) -> str | None:
    """An id, which may be a number or missing."""
    value = record.get(key)
    if value is None:
        return None
    return str(value) if type(value) is int else text_field(record, key)


def as_id(name: str) -> str | int:
    """The inverse: a number where the name is one.

    >>> as_id("17"), as_id("017")
    (17, '017')
    """
    return int(name) if name.isdecimal() and len(name) < 19 and str(int(name)) == name else name


def short(value: object) -> str:
    """A value in few characters, for messages."""
    return "missing" if value is None else repr(value)[:60]


_SIGN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{}:]', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_BETWEEN = re.compile(r"[ \t\r\n\ufeff,]*")
_DECODER = json.JSONDecoder()


LOOKED_AT = 100
"""Objects at the beginning of a file by which it is known."""


class Record(NamedTuple):
    """An object, the line it begins on, and a name for it: its line, and which it is of several that begin there."""

    line: int
    fields: dict[str, Any]
    name: str


class Value(NamedTuple):
    """A value of any kind and the line it begins on."""

    line: int
    value: Any


def read_records(path: str | Path, options: Options, report: Report) -> Iterator[Record]:
    """The objects of a file that is one JSON list, or has one after the other, as on a line each.

    Only the object at hand is held, of at most 64 Mi characters. One that is no JSON ends a list; where they stand on
    lines, the next line can still be read.
    """
    before = same = 0
    for line, value in read_values(path, options, report):
        same = same + 1 if line == before else 1
        before = line
        with skipping(options, report):
            if not isinstance(value, dict):
                kind = type(value).__name__
                raise InputError(f"{kind} where an object should be; write {{...}}", str(path), line)
            yield Record(line, value, str(line) if same == 1 else f"{line}.{same}")


def read_values(path: str | Path, options: Options, report: Report) -> Iterator[Value]:
    """The same for values of any kind; several lists one after the other are as one."""
    window = _Window(read_blocks(path))
    while sign := window.sign():
        if sign == "[":
            yield from _members(window, str(path))
            continue
        value = None
        with skipping(options, report):
            value = _value(window, str(path), "write one object a line")
        if value is None:
            window.skip_line()
        else:
            yield value


def document_reader(document_from: Callable[[Record, str | Path, Options, Report], Document | None]) -> Read:
    """How a format is read whose objects are each a document, or none."""

    def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
        for record in read_records(path, options, report):
            sentences: list[Sentence] = []
            with skipping(options, report, path, record.line):
                document = document_from(record, path, options, report)
                sentences = list(sentences_of(document, options, report)) if document else []
            yield from sentences

    return read


def is_list(head: str) -> bool:
    """Whether the beginning of a file is that of a list."""
    return head[_SPACE.match(head).end() :].startswith("[")  # type: ignore[union-attr]


@lru_cache(maxsize=4)
def sampled(head: str) -> tuple[Any, ...]:
    """The first values in the beginning of a file; of an object that is cut, the keys alone.

    >>> sampled('[{"a": 1}, {"b": [2')
    ({'a': 1},)
    >>> sampled('{"text": "very long')
    ({'text': None},)
    """
    found: list[Any] = []
    at = _SPACE.match(head).end()  # type: ignore[union-attr]
    at += head.startswith("[", at)
    while len(found) < LOOKED_AT:
        at = _BETWEEN.match(head, at).end()  # type: ignore[union-attr]
        try:
            value, at = _DECODER.raw_decode(head, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return tuple(found) or (dict.fromkeys(first_keys(head)),)


def any_object(head: str, test: Callable[[dict[str, Any]], bool]) -> bool:
    """Whether one of the first objects of a file passes a test."""
    return any(isinstance(value, dict) and test(value) for value in sampled(head))


def first_keys(head: str) -> set[str]:
    """The keys of the first object in the beginning of a file, which may be cut anywhere.

    >>> sorted(first_keys('{"text": "{a", "meta": {"b": 1}, "lab'))
    ['meta', 'text']
    """
    start = _SPACE.match(head).end()  # type: ignore[union-attr]
    if head[start : start + 1] == "[":
        start = _SPACE.match(head, start + 1).end()  # type: ignore[union-attr]
    keys: set[str] = set()
    if head[start : start + 1] != "{":
        return keys
    depth, last = 0, ""
    for match in _SIGN.finditer(head, start):
        sign = match[0]
        if sign == ":" and depth == 1:
            keys.add(last.strip('"'))
        depth += (sign in "{[") - (sign in "}]")
        if not depth:
            break
        last = sign
    return keys


class _Window:
    """The part of a long text that is at hand, and the number of the line it has reached."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self.blocks = blocks
        self.text = ""
        self.at = 0
        self.line = 1

    def sign(self) -> str:
        """The next character that is not white space, which stays; empty at the end."""
        while True:
            end = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            self._move(end)
            if end < len(self.text) or not self._more():
                return self.text[end : end + 1]

    def sign_after(self) -> str:
        """The same after leaving a sign behind."""
        self.sign()
        self._move(min(self.at + 1, len(self.text)))
        return self.sign()

    def value(self) -> object:
        """The JSON value that begins here."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError:
                if len(self.text) - self.at > LONGEST_LINE or not self._more():
                    raise
            else:
                self._move(end)
                return value

    def skip_line(self) -> None:
        """Leave the line behind that has been reached."""
        while (end := self.text.find("\n", self.at)) < 0:
            self._move(len(self.text))
            if not self._more():
                return
        self._move(end + 1)

    def _move(self, place: int) -> None:
        self.line += self.text.count("\n", self.at, place)
        self.at = place

    def _more(self) -> bool:
        """Forget what has been read and take in at least as much as is left."""
        parts = [self.text[self.at :]]
        wanted = len(parts[0])
        taken = 0
        for block in self.blocks:
            parts.append(block)
            taken += len(block)
            if taken and taken >= wanted:
                break
        self.text, self.at = "".join(parts), 0
        return taken > 0


def _members(window: _Window, source: str) -> Iterator[Value]:
    """The members of the list that begins here."""
    sign = window.sign_after()
    while sign != "]":
        yield _value(window, source, "is the file whole?")
        sign = window.sign()
        if sign not in (",", "]"):
            raise InputError(f"{sign!r} after a value; put a comma, or ] at the end", source, window.line)
        if sign == ",":
            window.sign_after()
    window.sign_after()


def _value(window: _Window, source: str, remedy: str) -> Value:
    line = window.line
    try:
        return Value(line, window.value())
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({_reason(error)}); {remedy}", source, line) from None


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)
