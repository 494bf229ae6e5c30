"""The folder of a training run: which run it belongs to, its checkpoints, and the lock of the process that trains.

A folder belongs to one run. You can start an interrupted run again. nestag refuses to start another run in the folder
once there is something to lose. A run is finished when its model's manifest is written. Nothing here needs torch.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Sentence, fingerprint
from nestag.data.validation import to_mapping
from nestag.errors import InputError
from nestag.formats.files import is_part, remove_leftovers, writing
from nestag.model.model_folder import CLAIM, is_finished
from nestag.training.recipe import Recipe

CHECKPOINTS, LOCK = "checkpoints", ".lock"
TAGGED = "tagged"  # the folder of the text that teachers tagged for the run
COMPLETE = "complete"  # the file that marks a checkpoint as complete

RunIdentity = dict[str, Any]


def process_count() -> int:
    """Return the number of processes that train together, as torchrun and `accelerate launch` set it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first_process() -> bool:
    """Whether this process evaluates on dev, writes files and prints."""
    return os.environ.get("RANK", "0") == "0"


def last_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint, or None."""
    return max((path.parent for path in folder.glob(f"checkpoint-*/{COMPLETE}")), key=step_of, default=None)


def step_of(checkpoint: Path) -> int:
    """Return the step of a checkpoint, which is in its name."""
    return int(checkpoint.name.rpartition("-")[2])


def remove_incomplete(folder: Path) -> None:
    """Remove checkpoints of killed processes; only the process that trains in the folder may call this."""
    for checkpoint in folder.glob("checkpoint-*"):
        if not (checkpoint / COMPLETE).exists():
            shutil.rmtree(checkpoint, ignore_errors=True)


def claim_of(
    recipe: Recipe, seed: int, training: Sequence[Sentence], dev: Sequence[Sentence], options: Options
) -> RunIdentity:
    """Return what distinguishes a run from all others."""
    data = {"train": fingerprint(training), "dev": fingerprint(dev)}
    claim = {"recipe": to_mapping(recipe), "seed": seed, "data": data}
    text, default = ({name: getattr(of, name) for name in ("tokenizer", "language")} for of in (options, DEFAULT))
    return claim if text == default else {**claim, "text": text}


@contextmanager
def claim_folder(folder: Path, claim: RunIdentity) -> Iterator[None]:
    """Reserve the folder for this run inside the block, unless it belongs to another run or process."""
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file; choose another name for the folder", str(folder))
    if not (folder / CLAIM).exists() and _has_files(folder):
        raise InputError("the folder exists and is not empty; choose another folder", str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror})", str(folder)) from None
    from filelock import FileLock, Timeout  # the core does not have it

    try:
        with FileLock(folder / LOCK, timeout=0):
            remove_leftovers(folder)
            remove_incomplete(folder / CHECKPOINTS)
            _check(folder, claim)
            yield
    except Timeout:
        raise InputError(
            "another process is training in this folder; wait for it, or choose another folder", str(folder)
        ) from None


def _check(folder: Path, claim: RunIdentity) -> None:
    """Refuse to resume another run, unless it saved nothing."""
    file = folder / CLAIM
    if file.exists():
        stored = _stored_claim(file, claim)
        if stored == claim:
            return
        if is_finished(folder) or last_checkpoint(folder / CHECKPOINTS):
            reason = ", ".join(_differences(stored, claim)) or "made by another version of nestag"
            raise InputError(f"another run is in this folder ({reason}); choose another folder", str(folder))
    with writing(file) as stream:
        stream.write(json.dumps(claim, indent=1) + "\n")


def _stored_claim(file: Path, claim: RunIdentity) -> RunIdentity | None:
    """Read a claim, with defaults for settings that did not exist then; None if it cannot be read."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        defaults = {name: value for name, value in asdict(Recipe()).items() if name in claim["recipe"]}
        return {"seed": None, **stored, "recipe": defaults | stored["recipe"], "data": dict(stored["data"])}
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _differences(stored: RunIdentity | None, claim: RunIdentity) -> Iterator[str]:
    """Yield the differences between two runs in words."""
    if stored is None:
        yield f"{CLAIM} cannot be read"
        return
    names = [name for name in claim["data"] if stored["data"].get(name) != claim["data"][name]]
    yield from (f"other sentences in {name}" for name in names)
    if stored["seed"] != claim["seed"]:
        yield "another seed"
    if stored.get("text") != claim.get("text"):
        yield "text is tokenized differently"
    for name, value in claim["recipe"].items():
        if stored["recipe"].get(name) != value:
            yield f"{name} {stored['recipe'].get(name)!r} instead of {value!r}"


def _has_files(folder: Path) -> bool:
    """Whether a folder holds more than a run leaves if it is killed before it claims the folder."""
    return folder.is_dir() and any(path.name not in (LOCK, TAGGED) and not is_part(path) for path in folder.iterdir())
