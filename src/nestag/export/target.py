"""Targets: the files that a library expects, and how its predictions are read."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Self, TextIO

from nestag.corpora.labels import LabelBlock, Labelled, LabelParsers
from nestag.corpora.splits import Split
from nestag.data import Sentence
from nestag.vocabulary import Vocabulary


class Description(NamedTuple):
    """What the instructions of an export may refer to."""

    title: str
    """The name of the folder."""
    corpora: Mapping[Split, str]
    """Where each split came from."""
    vocabulary: Vocabulary

    @property
    def predicted(self) -> tuple[Split, ...]:
        """The splits to predict: all but train."""
        return tuple(split for split in self.corpora if split != "train")

    def back(self, split: Split, predictions: str) -> str:
        """The command that makes entities of predictions, to be run in the folder."""
        gold = shlex.quote(str(Path(self.corpora[split]).resolve()))
        return f"nestag export back . {gold} {predictions} -o {split}.entities.jsonl"


@dataclass(frozen=True)
class Target(ABC):
    """How one library wants its files; fields are what can be chosen, and are stored with the export."""

    name: ClassVar[str]
    files: ClassVar[Mapping[Split, str]]
    """Where each split is written, in the folder."""

    def learned(self, vocabulary: Vocabulary, sentences: Iterable[Sentence]) -> Self:
        """The target after a look at train, where it needs one."""
        return self

    @abstractmethod
    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write one split."""

    @abstractmethod
    def texts(self, about: Description) -> dict[str, str]:
        """The other files of the folder by name: settings, and a README.md with the commands."""

    @abstractmethod
    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """The labels in the library's predictions; an InputError names the line that holds none."""
