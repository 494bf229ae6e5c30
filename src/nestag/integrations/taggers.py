r"""The files of other tagging libraries, and how their predictions are read.

    conll      a token and its label per line, for libraries that read columns
    machamp    a token, n, c and u per line, and the configurations of the paper's model
    hf         a sentence per line, for token classification with Hugging Face, in hf_dataset.py

Libraries that predict one label per token get joint labels, n, c and u as one word:

    1|S|PER    0|S|-    -2|S|-    rL|PER'|-    1|a\u007cb|\u0020

Parts are written as in encodings/notation.py; `|` and white space are written as character codes, which the notation
reads back like its own. export.py writes the folders.
"""

from __future__ import annotations

import json
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, ClassVar, Literal, Self, TextIO

from nestag.data.sentence import Sentence
from nestag.encodings import Encoding, encoding
from nestag.encodings.base import Label
from nestag.encodings.notation import read_field, write_chain, write_field, write_name
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError, named
from nestag.formats.folders import SPLITS, Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers, blocks, columns
from nestag.formats.labels import write as write_labels

HEADS = Label._fields
SEPARATOR = "|"

Labels = Literal["joint", "separate"]


@dataclass(frozen=True)
class Target(ABC):
    """The files of one library; fields are its settings, and are stored with the export."""

    name: ClassVar[str]
    files: ClassVar[Mapping[Split, str]] = {split: f"{split}.tsv" for split in SPLITS}
    """Where each split is written, in the folder."""

    def learn(self, vocabulary: Vocabulary, sentences: Iterable[Sentence]) -> Self:
        """Return the target with what it learns from train."""
        return self

    @abstractmethod
    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write one split."""

    @abstractmethod
    def texts(self, title: str, splits: Collection[Split], vocabulary: Vocabulary, commands: str) -> dict[str, str]:
        """Return the other files of the folder by name: settings, and a README.md with the commands."""

    @abstractmethod
    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read the labels in the library's predictions; an InputError names an invalid line."""


@dataclass(frozen=True)
class Conll(Target):
    r"""Columns for Flair, spaCy, CRF toolkits and other libraries.

        Lincoln	1|S|PER        one joint label, or       Lincoln	1	S	PER        three separate columns
        was	0|S|-                                    was	0	S	-

    No column contains white space, so it does not matter how lines are split. Predictions are read from the last
    column, or the last three; columns before them, often gold labels, are ignored.
    """

    name: ClassVar[str] = "conll"

    labels: Labels = "joint"  # one column, or one for each of n, c and u

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write a line for each token and a blank one after each sentence."""
        write = label_writer(encoding(vocabulary.encoding), SEPARATOR if self.labels == "joint" else "\t")
        for tokens, labels in sentences:
            stream.writelines(f"{write_word(t)}\t{write(label)}\n" for t, label in zip(tokens, labels, strict=True))
            stream.write("\n")

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read tokens from the first column, labels from the last one or three."""
        return blocks(path, last_columns(parts, 1 if self.labels == "joint" else len(HEADS)))

    def texts(self, title: str, splits: Collection[Split], vocabulary: Vocabulary, commands: str) -> dict[str, str]:
        """Return the README."""
        test = f', test_file="{self.files["test"]}"' if "test" in splits else ""
        template = f"conll-{self.labels}.md"
        return {"README.md": fill(template, title=title, encoding=vocabulary.encoding, test=test, commands=commands)}


def last_columns(parts: LabelParsers, count: int) -> Callable[[str], tuple[str, Label]]:
    """Return a function that reads lines whose last columns are the label."""

    def parse(line: str) -> tuple[str, Label]:
        fields = line.split()
        if len(fields) <= count:
            raise LabelError(f"{len(fields)} columns; write the token first and the predicted label last, {count} wide")
        label = read_joint(parts, fields[-1]) if count == 1 else parts.label(*fields[-count:])
        return read_field(fields[0]), label

    return parse


@dataclass(frozen=True)
class MaChAmp(Target):
    """The paper's model as the paper trained it: three `seq` tasks over one encoder in MaChAmp.

    MaChAmp takes lines at the top of a sentence for comments if their number of columns differs, so there are none. The
    layout follows machamp-nlp/machamp 0.4.2: README.md and docs/seq.md (254e214), configs/params.json (58c662e),
    machamp/model/trainer.py (a0c4fcf, for `reset_transformer_model`, `shuffle` and `diverse`) and
    machamp/predictor/predict.py (dbb9611): predictions are the input file with the predicted labels in its columns.
    """

    name: ClassVar[str] = "machamp"

    encoder: str = "roberta-large"  # a name on the Hugging Face hub, or a folder
    epochs: int = 30  # as in the authors' script; MaChAmp's default is 20
    seed: int = 8446  # MaChAmp's default

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write a label file."""
        write_labels(sentences, encoding(vocabulary.encoding), stream)

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read a label file with predicted labels."""
        return blocks(path, columns(parts))

    def texts(self, title: str, splits: Collection[Split], vocabulary: Vocabulary, commands: str) -> dict[str, str]:
        """Return the two configurations and the README."""
        predict = "\n".join(
            f'    python3 "$MACHAMP/predict.py" "$MODEL" {self.files[split]} {split}.out'
            for split in splits
            if split != "train"
        )
        dataset = {
            "train_data_path": self.files["train"],  # relative to the folder where train.py runs
            "dev_data_path": self.files["dev"],
            "word_idx": 0,
            "tasks": {head: {"task_type": "seq", "column_idx": column} for column, head in enumerate(HEADS, 1)},
        }
        settings = {"epochs": str(self.epochs), "seed": str(self.seed)}
        names = {"title": title, "name": shlex.quote(title), "encoding": vocabulary.encoding, "encoder": self.encoder}
        return {
            "dataset.json": to_json({title: dataset}, indent=2),
            "params.json": fill("machamp.json", encoder=json.dumps(self.encoder, ensure_ascii=False), **settings),
            "README.md": fill("machamp.md", **settings, **names, predict=predict, commands=commands),
        }


_UNFIT = re.compile(r"[\s|]")
_SPACE = re.compile(r"\s")


def label_writer(encoding: Encoding, separator: str) -> Callable[[Label], str]:
    r"""Return a function that writes labels of an encoding without white space in their parts.

    >>> from nestag.encodings import encoding
    >>> from nestag.data.tree import Name
    >>> print(label_writer(encoding("rel"), "|")(Label(-2, Name(("a|b",), root=True), ("cell line",))))
    -2|S+a\u007cb|cell\u0020line
    """

    @cache
    def write(label: Label) -> str:
        c, u = (_UNFIT.sub(_code, part) for part in (write_name(label.c), write_chain(label.u)))
        return separator.join((encoding.write_n(label.n), c, u))

    return write


def read_joint(parts: LabelParsers, text: str) -> Label:
    """Read a joint label; a LabelError says what is invalid."""
    fields = text.split(SEPARATOR)
    if len(fields) != len(HEADS):
        raise LabelError(f"{text!r} is not a joint label; write n, c and u with | between, as in 1|S|PER")
    return parts.label(*fields)


def known_parts(parts: LabelParsers, vocabulary: Vocabulary) -> LabelParsers:
    """Return the same parsers, with an error for parts that the vocabulary lacks."""

    def known(head: str) -> Callable[[str], Any]:
        read, table = getattr(parts, head), frozenset(getattr(vocabulary, head))

        @cache
        def read_known(text: str) -> Any:
            part = read(text)
            if part not in table:
                remedy = f"check the column, or allow it with {named('unseen', 'allow')}"
                raise LabelError(f"{head} is {text!r}, which no label of train has; {remedy}")
            return part

        return read_known

    return LabelParsers(*map(known, HEADS))


def write_word(token: str) -> str:
    r"""Return a token as one column without white space.

    >>> print(write_word("New York"))
    New\u0020York
    """
    return _SPACE.sub(_code, write_field(token))


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def fill(template: str, **values: str) -> str:
    """Return a text of the folder `templates` with its `$names` replaced."""
    text = (files("nestag.integrations") / "templates" / template).read_text(encoding="utf-8")
    return Template(text).safe_substitute(values)


def to_json(settings: Mapping[str, object], indent: int = 1) -> str:
    """Return settings as readable JSON."""
    return json.dumps(settings, ensure_ascii=False, indent=indent) + "\n"
