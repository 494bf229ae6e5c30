"""A run of a grid before it is done: what is trained on what, and the folder that it gets.

The folder holds it as spec.json, so that a process of its own can do it (job.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.decoding import Decoding
from nestag.errors import InputError
from nestag.files import writing
from nestag.lab.experiment.result import RESULT, Key
from nestag.recipe import Recipe

SPEC = "spec.json"
MODEL = "model"
FAILED = "failed.txt"
LOG = "log.txt"
RUNS = "runs"


class Corpus(NamedTuple):
    """The files of a corpus."""

    name: str
    train: str
    dev: str
    test: str

    @property
    def files(self) -> dict[str, str]:
        """The file of each split."""
        return {"train": self.train, "dev": self.dev, "test": self.test}


def read(path: str, report: Report | None = None) -> list[Sentence]:
    """A file in any format."""
    return list(format_of(path).read(path, report=report))


@dataclass(frozen=True)
class Spec:
    """A run that is to be done."""

    key: Key
    corpus: Corpus
    recipe: Recipe  # with the encoder and the encoding of the key
    decodings: tuple[Decoding, ...]  # each decodes the same model
    keep_model: bool  # whether the weights stay when the run is finished
    folder: Path

    @property
    def title(self) -> str:
        """The run in words."""
        return title_of(self.key)

    @property
    def model(self) -> Path:
        """Where the model is trained."""
        return self.folder / MODEL

    @property
    def settings(self) -> dict[str, Any]:
        """The recipe as results keep it."""
        return asdict(self.recipe)

    @property
    def finished(self) -> bool:
        """Whether it has a result."""
        return (self.folder / RESULT).exists()

    @property
    def interrupted(self) -> bool:
        """Whether it was begun and not finished."""
        return not self.finished and (self.model / "run.json").exists()

    def to_json(self) -> dict[str, Any]:
        """As JSON has it; the folder is the one it lies in."""
        return {
            "key": self.key._asdict(),
            "corpus": self.corpus._asdict(),
            "recipe": self.settings,
            "decodings": list(self.decodings),
            "keep_model": self.keep_model,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], folder: Path) -> Spec:
        """The inverse of `to_json`."""
        return cls(
            Key(**record["key"]),
            Corpus(**record["corpus"]),
            Recipe(**record["recipe"]),
            tuple(record["decodings"]),
            record["keep_model"],
            folder,
        )


def title_of(key: Key) -> str:
    """A run in words.

    >>> title_of(Key("genia", "minilm", "rel", "default", 1))
    'genia minilm rel default seed 1'
    """
    return f"{key.corpus} {key.encoder} {key.encoding} {key.recipe} seed {key.seed}"


def folder_of(root: Path, key: Key) -> Path:
    """Where a run lies in the folder of an experiment."""
    return root / RUNS / key.corpus / key.encoder / key.encoding / key.recipe / str(key.seed)


def make_folder(folder: Path) -> None:
    """See that there is a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror}); choose another", str(folder)) from None


def write_spec(spec: Spec) -> None:
    """Save it in its folder, which is made."""
    make_folder(spec.folder)
    with writing(spec.folder / SPEC) as stream:
        stream.write(json.dumps(spec.to_json(), indent=1, ensure_ascii=False) + "\n")


def read_spec(folder: Path) -> Spec:
    """Load the one of a folder."""
    file = folder / SPEC
    try:
        return Spec.from_json(json.loads(file.read_text(encoding="utf-8")), folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"not a run to be done ({error}); start it with nestag experiment", str(file)) from None
