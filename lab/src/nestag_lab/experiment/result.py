"""Results of finished runs, as they lie in the folder of an experiment.

    DIR/grid.toml, DIR/wanted.json                         what was asked for, and the runs that this makes
    DIR/corpora/CORPUS.json                                statistics and label coverage of each corpus
    DIR/runs/CORPUS/ENCODER/ENCODING/RECIPE/SEED/          one run: result.json once it is finished, model/,
                                                           dev.greedy-first.jsonl.gz ..., log.txt

A result holds all that the tables and the report need; nothing else has to be read again. Files are read with every
value checked and written whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nestag.data.validation import from_mapping, to_mapping
from nestag.errors import InputError, SettingError
from nestag.evaluation.result import Evaluation
from nestag.evaluation.thresholds import Calibration
from nestag.formats.files import writing
from nestag.training.plan import Scoring

T = TypeVar("T")


def read_json(file: Path, what: str, remedy: str) -> Any:
    """Return the content of a JSON file; the InputError of an invalid file names `what` and `remedy`."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"not {what} ({error}); {remedy}", str(file)) from None


def read_record(cls: type[T], file: Path, what: str, remedy: str, **more: Any) -> T:
    """Return a dataclass from a JSON file and from `more` values."""
    return record_from(cls, read_json(file, what, remedy), file, what, remedy, **more)


def record_from(cls: type[T], values: Any, file: Path, what: str, remedy: str, **more: Any) -> T:
    """Return a dataclass from the content of a JSON file."""
    try:
        return from_mapping(cls, {**values, **more} if isinstance(values, dict) else values, str(file))
    except SettingError as error:
        raise InputError(f"not {what} ({error.message}); {remedy}", str(file)) from None


def write_json(value: Any, file: Path, indent: int | None = None) -> None:
    """Write a JSON file."""
    with writing(file) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


RESULT = "result.json"
VERSION = 2


class Key(NamedTuple):
    """What identifies a run in its grid."""

    corpus: str
    encoder: str
    encoding: str
    recipe: str
    seed: int


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    key: Key
    settings: dict[str, Any]  # the recipe as it was used
    scorings: tuple[Scoring, ...]  # of dev
    seconds: float  # of training
    parameters: int  # of the model
    device: str  # what it was trained on, in words
    versions: dict[str, str]
    evaluations: dict[str, dict[str, Evaluation]]  # split (dev, test) -> way of decoding (spec.py)
    calibration: dict[str, Calibration]  # split -> that of constrained decoding


def write_result(result: RunResult, folder: Path) -> None:
    """Save a result; the run counts as finished from then on."""
    write_json({"version": VERSION, **to_mapping(result), "key": result.key._asdict()}, folder / RESULT)


def read_result(file: Path) -> RunResult:
    """Load a result, or an InputError that says what is wrong with it."""
    what, remedy = "a result", "delete it and run the experiment again"
    record = read_json(file, what, remedy)
    version = record.pop("version", None) if isinstance(record, dict) else None
    if version != VERSION:
        raise InputError(f"its version is {version!r}, this nestag reads {VERSION}; {remedy}", str(file))
    return record_from(RunResult, record, file, what, remedy)


def read_results(folder: str | Path) -> list[RunResult]:
    """Return all finished runs of an experiment, in a fixed order."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError("there is no such folder; give the one that nestag experiment wrote", str(folder))
    files = sorted(root.glob(f"runs/*/*/*/*/*/{RESULT}"))
    return sorted(map(read_result, files), key=lambda result: result.key)


WANTED = "wanted.json"


@dataclass(frozen=True)
class _GridFile:
    """The file."""

    runs: tuple[Key, ...]


def write_wanted(keys: Iterable[Key], root: Path) -> None:
    """Save the runs of a grid, replacing those of the previous one."""
    write_json([key._asdict() for key in keys], root / WANTED, indent=1)


def read_wanted(root: Path) -> list[Key]:
    """Return the runs of the last grid."""
    file = root / WANTED
    if not file.exists():
        return []
    what, remedy = "a list of runs", "delete it and run the experiment again"
    return list(record_from(_GridFile, {"runs": read_json(file, what, remedy)}, file, what, remedy).runs)
