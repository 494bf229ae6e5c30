"""A run of a grid: what is trained on which corpus, the ways in which it is decoded, and its folder.

The folder holds it as spec.json, from which a separate process runs it (job.py).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from nestag.data.segment import DEFAULT, Options
from nestag.data.validation import to_mapping
from nestag.errors import InputError
from nestag.formats.corpus import Corpus, CorpusFile
from nestag.model.settings import Settings
from nestag.training.recipe import Recipe
from nestag_lab.experiment.result import RESULT, Key, read_record, write_json

Way = Literal["greedy-first", "greedy-majority", "constrained"]
"""The paper's text (first name of a node), the authors' code (most frequent name), and the best valid labels."""

_CHANGES: dict[Way, dict[str, Any]] = {
    "greedy-first": {"decoding": "greedy", "node_label_strategy": "first"},
    "greedy-majority": {"decoding": "greedy", "node_label_strategy": "majority"},
    "constrained": {"decoding": "constrained"},
}
WAYS: tuple[Way, ...] = tuple(_CHANGES)
GREEDY: tuple[Way, ...] = WAYS[:2]


def place_of(decoding: str) -> int:
    """Return the place of a decoding in tables: greedy ones first."""
    return WAYS.index(decoding) if decoding in WAYS else len(WAYS)


def decoded(settings: Settings, way: Way) -> Settings:
    """Return the settings for a way of decoding.

    >>> decoded(Settings(), "greedy-majority").node_label_strategy
    'majority'
    """
    return replace(settings, **_CHANGES[way])


SPEC = "spec.json"
MODEL = "model"
FAILED = "failed.txt"
LOG = "log.txt"
LOCK = "lock"  # held by the process that does a run
RUNS = "runs"
GRID = "grid.toml"


@dataclass(frozen=True)
class CorpusFiles:
    """The files of a corpus, and how they are read."""

    name: str
    train: str
    dev: str
    test: str
    format: str | None = None  # None to find out
    options: Options = DEFAULT

    @property
    def files(self) -> dict[str, str]:
        """The file of each split."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    def read(self, split: str) -> Corpus:
        """Return the sentences of a split, with a report of what had to be changed."""
        return CorpusFile(self.files[split], self.format, self.options).in_memory


@dataclass(frozen=True)
class Spec:
    """The specification of a run."""

    key: Key
    corpus: CorpusFiles
    recipe: Recipe  # with the encoder and the encoding of the key
    decodings: tuple[Way, ...]  # each decodes the same model
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


def title_of(key: Key) -> str:
    """Return a run in words.

    >>> title_of(Key("genia", "minilm", "rel", "default", 1))
    'genia minilm rel default seed 1'
    """
    return f"{key.corpus} {key.encoder} {key.encoding} {key.recipe} seed {key.seed}"


def folder_of(root: Path, key: Key) -> Path:
    """Return the folder of a run within an experiment."""
    return root / RUNS / key.corpus / key.encoder / key.encoding / key.recipe / str(key.seed)


def make_folder(folder: Path) -> None:
    """Create a folder if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror}); choose another", str(folder)) from None


def write_spec(spec: Spec) -> None:
    """Save it in its folder, which is created."""
    make_folder(spec.folder)
    record = to_mapping(spec) | {"key": spec.key._asdict()}
    del record["folder"]  # the one it lies in
    write_json(record, spec.folder / SPEC, indent=1)


def read_spec(folder: Path) -> Spec:
    """Load the spec of a folder."""
    return read_record(Spec, folder / SPEC, "a run to be done", "start it with nestag experiment", folder=folder)
