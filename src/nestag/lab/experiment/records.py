"""Records that an experiment keeps as JSON: read with every value checked, written whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from nestag.errors import InputError, SettingError
from nestag.files import writing
from nestag.validation import from_mapping

T = TypeVar("T")


def read_json(file: Path, what: str, remedy: str) -> Any:
    """What a JSON file holds; an InputError says that it is not `what`, and the remedy."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"not {what} ({error}); {remedy}", str(file)) from None


def read_record(cls: type[T], file: Path, what: str, remedy: str, **more: Any) -> T:
    """A dataclass from a JSON file, and from values that are not in the file."""
    return record_from(cls, read_json(file, what, remedy), file, what, remedy, **more)


def record_from(cls: type[T], values: Any, file: Path, what: str, remedy: str, **more: Any) -> T:
    """The same from what the file holds."""
    try:
        return from_mapping(cls, {**values, **more} if isinstance(values, dict) else values, str(file))
    except SettingError as error:
        raise InputError(f"not {what} ({error.message}); {remedy}", str(file)) from None


def write_json(value: Any, file: Path, indent: int | None = None) -> None:
    """Write a JSON file."""
    with writing(file) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=indent) + "\n")
