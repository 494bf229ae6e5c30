"""JSON objects read from files one at a time: one a line, or the members of one list; and their fields, checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nestag.corpora.document import Document, sentences_at
from nestag.corpora.format import Options
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.errors import DataError, InputError
from nestag.files import LONGEST_LINE, read_blocks, read_lines

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{}:]', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_DECODER = json.JSONDecoder()


class Record(NamedTuple):
    """An object and the line it begins on."""

    line: int
    fields: dict[str, Any]


def read_json_lines(path: str | Path) -> Iterator[Record]:
    """The objects of a file that has one a line; blank lines are skipped."""
    for line in read_lines(path):
        if not line.text.strip():
            continue
        try:
            value = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON ({_reason(error)}); write one object a line", str(path), line.number) from None
        yield _record(value, str(path), line.number)


def read_json_list(path: str | Path) -> Iterator[Record]:
    """The objects of a file that is one JSON list; only the object at hand is held, of at most 64 Mi characters."""
    source = str(path)
    window = _Window(read_blocks(path))
    sign = window.sign()
    if sign != "[":
        raise InputError(f"begins with {sign!r}; this must be a JSON list of objects, so [ comes first", source, 1)
    while sign != "]" and window.sign_after() != "]":
        line = window.line
        try:
            value = window.value()
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON ({_reason(error)}); is the file whole?", source, line) from None
        yield _record(value, source, line)
        sign = window.sign()
        if sign not in (",", "]"):
            raise InputError(f"{sign!r} after an object; put a comma, or ] at the end", source, window.line)
    if rest := window.sign_after():
        raise InputError(f"{rest!r} after the end of the list; remove what follows it", source, window.line)


def read_documents(
    records: Iterable[Record],
    document: Callable[[Record], Document | None],
    path: str | Path,
    options: Options,
    report: Report,
) -> Iterator[Sentence]:
    """The sentences of the documents that records hold; an InputError names the line of one that holds none."""
    for record in records:
        try:
            found = document(record)
        except DataError as error:
            raise InputError(str(error), str(path), record.line) from None
        if found:
            yield from sentences_at(found, options, report, str(path), record.line)


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


def text_field(record: dict[str, Any], key: str) -> str:
    """A string of an object, or a DataError; a half of a character (a lone surrogate) is none."""
    value = record.get(key)
    if not isinstance(value, str):
        raise DataError(f"{key!r} is {_short(value)}; make it a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = value[error.start]
        raise DataError(f"{key!r} holds half of a character ({half!r}, a lone surrogate); write the whole") from None
    return value


def label_field(record: dict[str, Any], key: str) -> str:
    """A string that is not empty."""
    value = text_field(record, key)
    if not value:
        raise DataError(f"{key!r} is empty; name the type of the entity")
    return value


def number_field(record: dict[str, Any], key: str) -> int:
    """An integer of an object, or a DataError."""
    value = record.get(key)
    if type(value) is not int:
        raise DataError(f"{key!r} is {_short(value)}; make it an integer")
    return value


def list_field(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of objects; a missing one or null is empty."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
        raise DataError(f"{key!r} is {_short(value)}; make it a list of objects")
    return value


def name_of(record: dict[str, Any], path: str | Path, line: int) -> str:
    """The id of an object as a string; without one, the file's name and the line."""
    value = record.get("id")
    if value is None:
        return f"{Path(path).name.split('.')[0]}:{line}"
    return str(value) if type(value) is int else text_field(record, "id")


def as_id(name: str) -> str | int:
    """The inverse: a number where the name is one.

    >>> as_id("17"), as_id("017")
    (17, '017')
    """
    return int(name) if name.isdecimal() and len(name) < 19 and str(int(name)) == name else name


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


def _record(value: object, source: str, line: int) -> Record:
    if not isinstance(value, dict):
        raise InputError(f"{type(value).__name__} where an object should be; write {{...}}", source, line)
    return Record(line, value)


def _short(value: object) -> str:
    return "missing" if value is None else repr(value)[:60]


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)
