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
from typing import ClassVar, TextIO

from nestag.encodings import encoding
from nestag.encodings.base import Label
from nestag.encodings.vocabulary import Vocabulary
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers, blocks, columns
from nestag.formats.labels import write as write_labels
from nestag.integrations.tagging.target import Description, Target


@dataclass(frozen=True)
class MaChAmp(Target):
    """Label files and MaChAmp's two configurations."""

    name: ClassVar[str] = "machamp"
    files: ClassVar[Mapping[Split, str]] = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}

    encoder: str = "roberta-large"  # a name on the Hugging Face hub, or a folder
    epochs: int = 30  # as in the authors' script; MaChAmp's default is 20
    seed: int = 8446  # MaChAmp's default

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """An ordinary label file."""
        write_labels(sentences, encoding(vocabulary.encoding), stream)

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """A label file again, with predicted labels."""
        return blocks(path, columns(parts))

    def texts(self, about: Description) -> dict[str, str]:
        """The two configurations and the README."""
        return {
            "dataset.json": _to_json({about.title: dataset(self.files)}),
            "params.json": _to_json(parameters(self)),
            "README.md": readme(self, about),
        }


def dataset(files: Mapping[Split, str]) -> dict[str, object]:
    """The dataset configuration; paths count from where train.py is run."""
    return {
        "train_data_path": files["train"],
        "dev_data_path": files["dev"],
        "word_idx": 0,
        "tasks": {name: {"task_type": "seq", "column_idx": column} for column, name in enumerate(Label._fields, 1)},
    }


def parameters(chosen: MaChAmp) -> dict[str, object]:
    """The parameter configuration: MaChAmp's defaults for the task type seq."""
    return {
        "transformer_model": chosen.encoder,
        "reset_transformer_model": False,
        "random_seed": chosen.seed,
        "default_dec_dataset_embeds_dim": 12,
        "encoder": {"dropout": 0.2, "max_input_length": 128, "update_weights_encoder": True},
        "decoders": {
            "default_decoder": {"loss_weight": 1.0, "metric": "accuracy", "topn": 1, "layers_to_use": [-1]},
            "seq": {},
        },
        "batching": {
            "max_tokens": 1024,
            "shuffle": True,
            "batch_size": 32,
            "sort_by_size": True,
            "diverse": False,
            "sampling_smoothing": 1.0,
        },
        "training": {
            "keep_top_n": 1,
            "learning_rate_scheduler": {
                "cut_frac": 0.3,
                "decay_factor": 0.38,
                "discriminative_fine_tuning": True,
                "gradual_unfreezing": True,
            },
            "num_epochs": chosen.epochs,
            "optimizer": {"betas": [0.9, 0.99], "lr": 0.0001, "weight_decay": 0.01},
        },
    }


def readme(chosen: MaChAmp, about: Description) -> str:
    """The commands, to be run in the folder."""
    name = shlex.quote(about.title)
    predicts = "\n".join(
        f'    python3 "$MACHAMP/predict.py" "$MODEL" {chosen.files[split]} {split}.out\n'
        f"    {about.back(split, f'{split}.out')}"
        for split in about.predicted
    )
    return _README.format(
        title=about.title,
        encoding=about.vocabulary.encoding,
        encoder=chosen.encoder,
        name=name,
        seed=chosen.seed,
        epochs=chosen.epochs,
        predicts=predicts,
    )


def _to_json(settings: dict[str, object]) -> str:
    return json.dumps(settings, ensure_ascii=False, indent=2) + "\n"


_README = """\
# {title}: nested entities for MaChAmp

Three tasks of the type `seq` over one encoder ({encoder}): n, c and u of the {encoding} encoding. Get MaChAmp 0.4.2 or
later (https://github.com/machamp-nlp/machamp) and run these commands in this folder:

    MACHAMP=/path/to/machamp
    python3 "$MACHAMP/train.py" --dataset_configs dataset.json --parameters_config params.json \\
        --name {name} --seed {seed}
    MODEL=$(ls -d logs/{name}/*/model.pt | tail -n 1)
{predicts}

`params.json` has MaChAmp's defaults, which the paper used: AdamW, learning rate 1e-4, betas 0.9 and 0.99, weight decay
0.01, batches of 32 sentences and at most 1,024 subwords, dropout 0.2, slanted triangular schedule with gradual
unfreezing, input split at 128 subwords, the three losses added, the epoch with the best label accuracies kept. It
trains for {epochs} epochs; MaChAmp's default is 20, the authors' script has 30. Results in the paper are means over
five seeds: train again with another `--seed` and `--name`. Its encoders are roberta-large and bert-large-uncased for
ACE and NNE, and dmis-lab/biobert-large-cased-v1.1 for GENIA.
"""

TARGET = MaChAmp
