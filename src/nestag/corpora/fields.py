"""The fields of JSON objects, checked: each is what it should be, or a DataError says what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nestag.errors import DataError


def text_field(record: dict[str, Any], key: str) -> str:
    """A string of an object, or a DataError; a half of a character (a lone surrogate) is none."""
    value = record.get(key)
    if not isinstance(value, str):
        raise DataError(f"{key!r} is {short(value)}; make it a string")
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
        return f"{Path(path).name.split('.')[0]}:{name}"
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
