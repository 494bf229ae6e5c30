"""machamp: the paper's model as the paper trained it, three `seq` tasks over one encoder in MaChAmp.

    train.tsv, dev.tsv, test.tsv   label files: token, n, c and u, tab-separated
    dataset.json                   for --dataset_configs: the tasks n, c and u in the columns 1, 2 and 3
    params.json                    for --parameters_config: MaChAmp's defaults, as published

MaChAmp takes lines at the top of a sentence for comments if their number of columns differs, so there are none. The
layout follows machamp-nlp/machamp 0.4.2 as found in README.md and docs/seq.md (254e214), configs/params.json (58c662e),
machamp/model/trainer.py (a0c4fcf, for `reset_transformer_model`, `shuffle` and `diverse`) and
machamp/predictor/predict.py (dbb9611): predictions are the input file with the predicted labels in its columns.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TextIO

from nestag.encodings import encoding
from nestag.encodings.base import Label
from nestag.encodings.vocabulary import Vocabulary
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers, blocks, columns
from nestag.formats.labels import write as write_labels
from nestag.integrations.tagging.target import Description, Target, fill


@dataclass(frozen=True)
class MaChAmp(Target):
    """Label files and MaChAmp's two configurations."""

    name: ClassVar[str] = "machamp"
    files: ClassVar[Mapping[Split, str]] = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}

    encoder: str = "roberta-large"  # a name on the Hugging Face hub, or a folder
    epochs: int = 30  # as in the authors' script; MaChAmp's default is 20
    seed: int = 8446  # MaChAmp's default

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write a label file."""
        write_labels(sentences, encoding(vocabulary.encoding), stream)

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read a label file with predicted labels."""
        return blocks(path, columns(parts))

    def texts(self, about: Description) -> dict[str, str]:
        """Return the two configurations and the README."""
        return {
            "dataset.json": _to_json({about.title: dataset(self.files)}),
            "params.json": _to_json(parameters(self)),
            "README.md": readme(self, about),
        }


def dataset(files: Mapping[Split, str]) -> dict[str, object]:
    """Return the dataset configuration; paths are relative to the folder where train.py runs."""
    return {
        "train_data_path": files["train"],
        "dev_data_path": files["dev"],
        "word_idx": 0,
        "tasks": {name: {"task_type": "seq", "column_idx": column} for column, name in enumerate(Label._fields, 1)},
    }


def parameters(chosen: MaChAmp) -> dict[str, Any]:
    """Return the parameter configuration: MaChAmp's defaults for the task type seq."""
    values = {"encoder": json.dumps(chosen.encoder), "epochs": str(chosen.epochs), "seed": str(chosen.seed)}
    settings: dict[str, Any] = json.loads(fill("machamp.json", **values))
    return settings


def readme(chosen: MaChAmp, about: Description) -> str:
    """Return the commands, to be run in the folder."""
    commands = "\n".join(
        f'    python3 "$MACHAMP/predict.py" "$MODEL" {chosen.files[split]} {split}.out\n'
        f"    {about.back(split, f'{split}.out')}"
        for split in about.predicted
    )
    return fill(
        "machamp.md",
        title=about.title,
        encoding=about.vocabulary.encoding,
        encoder=chosen.encoder,
        name=shlex.quote(about.title),
        seed=str(chosen.seed),
        epochs=str(chosen.epochs),
        commands=commands,
    )


def _to_json(settings: dict[str, object]) -> str:
    return json.dumps(settings, ensure_ascii=False, indent=2) + "\n"
