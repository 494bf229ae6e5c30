"""Results of finished runs, as they lie in the folder of an experiment.

    DIR/grid.toml, DIR/wanted.json                         what was asked for, and the runs that this makes
    DIR/corpora/CORPUS.json                                statistics and label coverage of each corpus
    DIR/runs/CORPUS/ENCODER/ENCODING/RECIPE/SEED/          one run: result.json once it is finished, model/,
                                                           dev.greedy-first.jsonl.gz ..., log.txt

A result holds all that the tables and the report need; nothing else has to be read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nestag.errors import InputError
from nestag.evaluation.calibration import Calibration
from nestag.evaluation.result import Evaluation
from nestag.lab.experiment.records import read_json, record_from, write_json
from nestag.training.progress import Scoring
from nestag.validation import to_mapping

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
    evaluations: dict[str, dict[str, Evaluation]]  # split (dev, test) -> way of decoding (ways.py)
    calibration: dict[str, Calibration]  # split -> that of legal decoding


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
    """All finished runs of an experiment, in a fixed order."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError("there is no such folder; give the one that nestag experiment wrote", str(folder))
    files = sorted(root.glob(f"runs/*/*/*/*/*/{RESULT}"))
    return sorted(map(read_result, files), key=lambda result: result.key)
