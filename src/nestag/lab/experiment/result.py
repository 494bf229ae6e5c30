"""Results of finished runs, as they lie in the folder of an experiment.

    DIR/grid.toml, DIR/wanted.json                         what was asked for, and the runs that this makes
    DIR/corpora/CORPUS.json                                statistics and label coverage of each corpus
    DIR/runs/CORPUS/ENCODER/ENCODING/RECIPE/SEED/          one run: result.json once it is finished, model/,
                                                           dev.greedy.jsonl.gz ... test.legal.jsonl.gz, log.txt

A result holds all that the tables and the report need; nothing else has to be read again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nestag.errors import InputError
from nestag.evaluation.calibration import Calibration
from nestag.evaluation.result import Evaluation
from nestag.evaluation.score import Score
from nestag.files import writing

RESULT = "result.json"
VERSION = 1


class Key(NamedTuple):
    """What tells a run from the others of its grid."""

    corpus: str
    encoder: str
    encoding: str
    recipe: str
    seed: int


class Epoch(NamedTuple):
    """Where a run stood after an epoch."""

    loss: float
    dev: Score


@dataclass(frozen=True)
class Result:
    """A finished run."""

    key: Key
    settings: dict[str, Any]  # the recipe as it was used
    epochs: tuple[Epoch, ...]
    seconds: float  # of training
    parameters: int  # of the model
    device: str  # what it was trained on, in words
    versions: dict[str, str]
    evaluations: dict[str, dict[str, Evaluation]]  # split (dev, test) -> decoding (greedy, legal)
    calibration: dict[str, Calibration]  # split -> that of legal decoding

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "version": VERSION,
            "key": self.key._asdict(),
            "settings": self.settings,
            "epochs": [[epoch.loss, list(epoch.dev)] for epoch in self.epochs],
            "seconds": self.seconds,
            "parameters": self.parameters,
            "device": self.device,
            "versions": self.versions,
            "evaluations": {
                split: {decoding: found.to_json() for decoding, found in decodings.items()}
                for split, decodings in self.evaluations.items()
            },
            "calibration": {split: found.to_json() for split, found in self.calibration.items()},
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        """The inverse of `to_json`."""
        return cls(
            key=Key(**record["key"]),
            settings=record["settings"],
            epochs=tuple(Epoch(loss, Score(*dev)) for loss, dev in record["epochs"]),
            seconds=record["seconds"],
            parameters=record["parameters"],
            device=record["device"],
            versions=record["versions"],
            evaluations={
                split: {decoding: Evaluation.from_json(found) for decoding, found in decodings.items()}
                for split, decodings in record["evaluations"].items()
            },
            calibration={split: Calibration.from_json(found) for split, found in record["calibration"].items()},
        )


def write_result(result: Result, folder: Path) -> None:
    """Save a result; the run counts as finished from then on."""
    with writing(folder / RESULT) as stream:
        stream.write(json.dumps(result.to_json(), ensure_ascii=False) + "\n")


def read_result(file: Path) -> Result:
    """Load a result, or an InputError that says what is wrong with it."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        if record.get("version") != VERSION:
            raise InputError(
                f"its version is {record.get('version')!r}, this nestag reads {VERSION}; run the experiment again",
                str(file),
            )
        return Result.from_json(record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"not a result ({error}); delete it and run the experiment again", str(file)) from None


def read_results(folder: str | Path) -> list[Result]:
    """All finished runs of an experiment, in a fixed order."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError("there is no such folder; give the one that nestag experiment wrote", str(folder))
    files = sorted(root.glob(f"runs/*/*/*/*/*/{RESULT}"))
    return sorted(map(read_result, files), key=lambda result: result.key)
