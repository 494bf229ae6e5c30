"""The folder of a training run: which run it belongs to, its checkpoints, and the lock of the process that trains.

A folder belongs to one run. You can start the run again whenever it was interrupted; nestag refuses another run once
there is something to lose. A run is finished when its model's manifest is written. Nothing here needs torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Sentence
from nestag.data.validation import to_mapping
from nestag.errors import InputError
from nestag.formats.files import is_part, remove_leftovers, writing
from nestag.model.model_folder import is_finished
from nestag.training.recipe import Recipe, as_now

CHECKPOINTS = "checkpoints"
CLAIM = "run.json"
LOCK = ".lock"
TAGGED = "tagged"
"""The folder of text that a teacher tagged for the run."""
RunIdentity = dict[str, Any]
COMPLETE = "complete"
"""The file that marks a checkpoint as complete."""


def process_count() -> int:
    """The number of processes that train together, as `accelerate launch` starts them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first_process() -> bool:
    """Whether this process evaluates on dev, writes files and prints."""
    return os.environ.get("RANK", "0") == "0"


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint, or None."""
    return max(filter(_is_complete, folder.glob("checkpoint-*")), key=step_of, default=None)


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was saved, which its name says."""
    return int(checkpoint.name.rpartition("-")[2])


def remove_incomplete(folder: Path) -> None:
    """Remove checkpoints that a process was writing when it died; only for the process that trains in the folder."""
    for checkpoint in folder.glob("checkpoint-*"):
        if not _is_complete(checkpoint):
            shutil.rmtree(checkpoint, ignore_errors=True)


def _is_complete(checkpoint: Path) -> bool:
    return (checkpoint / COMPLETE).exists()


def claim_of(
    recipe: Recipe,
    seed: int,
    training: Sequence[Sentence],
    dev: Sequence[Sentence],
    reading: Options = DEFAULT,
) -> RunIdentity:
    """What tells a run from all others."""
    data = {"train": fingerprint(training), "dev": fingerprint(dev)}
    claim = {"recipe": to_mapping(recipe), "seed": seed, "data": data}
    cutting = {name: getattr(reading, name) for name in ("tokenizer", "language")}
    usual = {name: getattr(DEFAULT, name) for name in cutting}
    return claim if cutting == usual else {**claim, "text": cutting}


def fingerprint(sentences: Sequence[Sentence]) -> str:
    """The sha256 of sentences: their words, entities and ids."""
    digest = hashlib.sha256()
    for sentence in sentences:
        record = [sentence.tokens, sorted(sentence.entities), sentence.id]
        digest.update(json.dumps(record, ensure_ascii=True).encode())
    return digest.hexdigest()


@contextmanager
def claimed(folder: Path, claim: RunIdentity) -> Iterator[None]:
    """Make the folder this run's own while the block lasts; a folder of another run or process is refused."""
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file; choose another name for the folder", str(folder))
    if not (folder / CLAIM).exists() and _has_files(folder):
        raise InputError("the folder exists and is not empty; choose another", str(folder))
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
            "another process is training in this folder; wait for it, or choose another", str(folder)
        ) from None


def _check(folder: Path, claim: RunIdentity) -> None:
    """Refuse to go on with another run's work; where nothing was saved yet, there is none."""
    file = folder / CLAIM
    if file.exists():
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            usual = {name: value for name, value in as_now({}).items() if name in claim["recipe"]}
            found["recipe"] = {**usual, **found["recipe"]}
        except (ValueError, LookupError, TypeError, RecursionError):
            found = None
        if found == claim:
            return
        if is_finished(folder) or last_checkpoint(folder / CHECKPOINTS):
            raise InputError(
                f"another run is in this folder ({_difference(found, claim)}); choose another", str(folder)
            )
    with writing(file) as stream:
        stream.write(json.dumps(claim, indent=1) + "\n")


def _difference(found: Any, claim: RunIdentity) -> str:
    """What tells two runs apart, in words."""
    if (
        not isinstance(found, dict)
        or not isinstance(found.get("recipe"), dict)
        or not isinstance(found.get("data"), dict)
    ):
        return f"{CLAIM} cannot be read"
    told = [f"other sentences in {name}" for name in claim["data"] if found["data"].get(name) != claim["data"][name]]
    told += ["another seed"] if found.get("seed") != claim["seed"] else []
    told += ["text cut in another way"] if found.get("text") != claim.get("text") else []
    for name, value in claim["recipe"].items():
        if found["recipe"].get(name) != value:
            told.append(f"{name} {found['recipe'].get(name)!r} instead of {value!r}")
    return ", ".join(told) or "made by another version of nestag"


def _has_files(folder: Path) -> bool:
    """Whether a folder holds more than a run leaves if it is killed before it claims the folder."""
    return folder.is_dir() and any(path.name not in (LOCK, TAGGED) and not is_part(path) for path in folder.iterdir())
