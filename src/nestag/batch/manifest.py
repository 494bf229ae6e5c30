"""The records in an output folder: the manifest (model, settings, inputs) and a mark for each finished part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import nestag
from nestag.batch.plan import Job, Part, output_stem
from nestag.batch.storage import READERS, Folder, InputFiles
from nestag.data.validation import from_mapping, setting, to_mapping
from nestag.errors import InputError

RECORDS = "_nestag"
"""The folder of the output for what is not data; table readers ignore names that begin with an underscore."""

DONE = f"{RECORDS}/done"
"""The folder with a mark for each finished part."""

BAD_ROWS = f"{RECORDS}/bad_rows"
"""The folder with the bad rows of each part that has some."""

MANIFEST = f"{RECORDS}/manifest.json"
FORMAT = 1
"""The layout of an output folder."""


@dataclass(frozen=True)
class Done:
    """The mark of a finished part; nothing in it depends on the worker or the time."""

    file: str
    first: int
    last: int
    size: int  # of the output
    sha256: str
    rows: int
    bad_rows: int = 0
    entities: dict[str, int] = setting(factory=dict, help="number by type")


def read_done(out: Folder, part: str) -> Done:
    """Return the mark of a finished part."""
    name = f"{DONE}/{part}.json"
    try:
        return from_mapping(Done, json.loads(out.read(name)), name)
    except (ValueError, RecursionError):  # also a SettingError
        raise InputError("not written by nestag; remove it to tag the part again", out.path(name)) from None


def finished_parts(parts: Sequence[Part], out: Folder, job: Job, verify: bool = False) -> dict[str, Done]:
    """Return the parts that have a mark and an output of the right size or hash."""
    marks, sizes = out.sizes(DONE), out.sizes()
    names = [part.name for part in parts if f"{part.name}.json" in marks]

    def is_whole(name: str, done: Done) -> bool:
        file = f"{name}.{job.form}"
        return sizes.get(file) == done.size and (not verify or _sha256(out, file) == done.sha256)

    with ThreadPoolExecutor(READERS) as pool:
        done = dict(zip(names, pool.map(lambda name: read_done(out, name), names), strict=True))
        whole = list(pool.map(is_whole, names, done.values()))
    return {name: done[name] for name, ok in zip(names, whole, strict=True) if ok}


def _sha256(out: Folder, name: str) -> str:
    with out.open(name) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def claim(out: Folder, model: str, job: Job, inputs: InputFiles, schema: Sequence[str]) -> None:
    """Begin or resume an output folder; refuse one of another model, other settings or changed inputs.

    `model` is the hash of the model. New input files are added. An input file that is missing or changed is refused
    once a part of it is written, because a finished folder must hold everything in its manifest; you may repair or
    remove one of which nothing is written.
    """
    settings = {
        "format": FORMAT, "nestag": nestag.__version__, "model": model, "kind": inputs.kind, "schema": list(schema),
        **to_mapping(job),
    }  # fmt: skip
    new = {"bound": settings, "files": {file.name: [file.size, file.version] for file in inputs.files}}
    old = _read_manifest(out)
    if old is None:
        files = [name for name in out.sizes() if not name.startswith(".")]
        if files:
            raise InputError(f"the folder has other files, such as {min(files)!r}; write to a new folder", out.address)
    else:
        _refuse_other_settings(old["bound"], settings, out)
        _refuse_changed_inputs(old["files"], new["files"], out)
    if old != new:
        out.write(MANIFEST, json.dumps(new, ensure_ascii=False, indent=1).encode() + b"\n")


def _read_manifest(out: Folder) -> Any:
    if MANIFEST.rpartition("/")[2] not in out.sizes(RECORDS):
        return None
    try:
        manifest = json.loads(out.read(MANIFEST))
        if set(manifest) == {"bound", "files"}:
            return manifest
    except (ValueError, TypeError, RecursionError):
        pass
    raise InputError("not written by nestag; write to a new folder", out.path(MANIFEST))


def _refuse_other_settings(old: Mapping[str, Any], new: Mapping[str, Any], out: Folder) -> None:
    for name in dict.fromkeys([*old, *new]):
        unknown = name == "schema" and not old.get(name)  # no file could be read
        if old.get(name) != new.get(name) and not unknown:
            before, now = (json.dumps(settings.get(name), ensure_ascii=False) for settings in (old, new))
            problem = f"the folder was begun with {name} {before}, and now it is {now}; write to a new folder"
            raise InputError(problem, out.address)


def _refuse_changed_inputs(old: Mapping[str, Any], new: Mapping[str, Any], out: Folder) -> None:
    written = [*out.sizes(), *out.sizes(DONE)]
    for name, version in old.items():
        stem = f"{output_stem(name)}-"
        if new.get(name) != version and any(file.startswith(stem) for file in written):
            change = "has changed" if name in new else "is no longer among the inputs"
            raise InputError(f"it {change} since {out.address} was begun; write to a new folder", name)
