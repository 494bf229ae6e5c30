"""What became of a part: counts and times if it was tagged, else the reason; and the file that says it is done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nestag.errors import InputError
from nestag.scale.plan import Part
from nestag.scale.storage import Folder
from nestag.validation import from_mapping, setting, to_mapping

OWN = "_nestag"
"""The folder of the output that holds what is not data; readers of tables leave out names with an underscore."""

DONE = f"{OWN}/done"
"""The folder with a mark for each part that is done."""

STAGES = ("loading", "reading", "tagging", "writing")


@dataclass(frozen=True)
class Done:
    """What the file beside a finished part says; nothing in it depends on who tagged it, or when."""

    file: str
    first: int
    last: int
    size: int  # of the output
    sha256: str
    rows: int
    bad_rows: int = 0
    entities: dict[str, int] = setting(factory=dict, help="how many of each type")


@dataclass(frozen=True)
class PartOutcome:
    """What a worker says about a part."""

    name: str
    done: Done | None = None
    error: str = ""  # why this part cannot be tagged; others can
    stop: str = ""  # why nothing more can be written
    seconds: dict[str, float] = setting(factory=dict, help="of each stage")
    processor: float = 0.0  # seconds of computing, of all its threads
    peak: int = 0  # bytes of memory of its worker


def as_json(value: Any) -> str:
    """A dataclass as a line."""
    return json.dumps(to_mapping(value), ensure_ascii=False, sort_keys=True)


def outcome_from(text: str) -> PartOutcome:
    """The inverse of `as_json` for outcomes."""
    return from_mapping(PartOutcome, json.loads(text), "outcome")


def part_from(text: str) -> Part:
    """The inverse of `as_json` for parts."""
    return from_mapping(Part, json.loads(text), "part")


def done_name(part: str) -> str:
    """Where a part that is done is marked."""
    return f"{DONE}/{part}.json"


def bad_rows_name(part: str) -> str:
    """Where the rows of a part are that were set aside."""
    return f"{OWN}/bad_rows/{part}.jsonl"


def read_done(out: Folder, part: str) -> Done:
    """What is said of a finished part."""
    name = done_name(part)
    try:
        return from_mapping(Done, json.loads(out.read(name)), out.at(name))
    except (ValueError, RecursionError):  # also a SettingError
        raise InputError("is not what nestag wrote; remove it, then the part is tagged again", out.at(name)) from None
