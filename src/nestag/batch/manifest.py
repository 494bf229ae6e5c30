"""The records in an output folder: the manifest (model, settings, inputs) and a mark for each finished part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nestag
from nestag.batch.plan import Job, Part, output_stem
from nestag.batch.storage import Folder, InputFile, is_inside
from nestag.data.validation import from_mapping, setting, to_mapping
from nestag.errors import InputError

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


MANIFEST = f"{OWN}/manifest.json"
FORMAT = 1
"""The layout of an output folder."""


@dataclass(frozen=True)
class Claim:
    """What an output folder is for."""

    model: str  # its hash
    job: Job
    kind: str
    schema: tuple[str, ...]
    files: tuple[InputFile, ...]

    def as_mapping(self) -> dict[str, Any]:
        """As it is written; nothing in it depends on the machine or the time."""
        bound = {
            "format": FORMAT, "nestag": nestag.__version__, "model": self.model, "kind": self.kind,
            "schema": list(self.schema), **to_mapping(self.job),
        }  # fmt: skip
        return {"bound": bound, "files": {file.name: [file.size, file.version] for file in self.files}}


def claim(out: Folder, wanted: Claim) -> None:
    """Begin to write to a folder, or go on; one of another model, of other settings or inputs is refused.

    Files that came to the inputs since are added. Files that are no longer found, for instance by a narrower glob, or
    that were changed are refused once anything of them is written, because a finished folder must hold all that its
    manifest names. Of a file that could not be read nothing is written, so it may be mended or taken away.
    """
    new = wanted.as_mapping()
    old = _read(out)
    if old is None:
        _refuse_occupied(out)
    else:
        _refuse_other(old["bound"], new["bound"], out)
        _refuse_changed(old["files"], new["files"], out)
    if old != new:
        out.write(MANIFEST, json.dumps(new, ensure_ascii=False, indent=1).encode() + b"\n")


def refuse_inside(source: str, out: str) -> None:
    """Refuse an output folder inside the inputs: the next run would read it."""
    if is_inside(out, source):
        raise InputError("lies inside the inputs, and would be read as one of them; write elsewhere", out)


def refuse_private(*addresses: str) -> None:
    """Refuse what only this process sees: workers would read nothing there, and what they write would be lost."""
    for address in addresses:
        if address.startswith("memory://"):
            raise InputError("is the memory of one process, and workers are others; give a folder or a store", address)


def _read(out: Folder) -> Any:
    if MANIFEST.rpartition("/")[2] not in out.sizes(OWN):
        return None
    try:
        found = json.loads(out.read(MANIFEST))
        if set(found) == {"bound", "files"}:
            return found
    except (ValueError, TypeError, RecursionError):
        pass
    raise InputError("is not what nestag wrote; write to a new folder", out.at(MANIFEST))


def _refuse_occupied(out: Folder) -> None:
    there = [name for name in out.sizes() if not name.startswith(".")]
    if there:
        raise InputError(f"holds files of others, such as {min(there)!r}; write to a new folder", out.address)


def _refuse_other(old: Mapping[str, Any], new: Mapping[str, Any], out: Folder) -> None:
    for name in dict.fromkeys([*old, *new]):
        unknown = name == "schema" and not old.get(name)  # no file could be read
        if old.get(name) != new.get(name) and not unknown:
            raise InputError(
                f"was begun with {_shown(name, old.get(name))}, and this is {_shown(name, new.get(name))};"
                " write to a new folder, or give the same again",
                out.address,
            )


def _shown(name: str, value: object) -> str:
    shown = str(value)[:12] if name == "model" else json.dumps(value, ensure_ascii=False)
    return f"{name} {shown}"


def _refuse_changed(old: Mapping[str, Any], new: Mapping[str, Any], out: Folder) -> None:
    written = [*out.sizes(), *out.sizes(DONE)]
    for name, version in old.items():
        begun = f"{output_stem(name)}-"
        if new.get(name) != version and any(file.startswith(begun) for file in written):
            what = "was changed" if name in new else "is no longer among the inputs"
            raise InputError(f"{what} since {out.address} was begun; write to a new folder", name)
