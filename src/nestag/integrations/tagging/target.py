r"""Targets: the files that a library expects, and how its predictions are read.

Libraries that predict one label per token get joint labels, n, c and u as one word:

    1|S|PER    0|S|-    -2|S|-    rL|PER'|-    1|a\u007cb|\u0020

Parts are written as in encodings/notation.py; `|` and white space are written as character codes, which the notation
reads back like its own.
"""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple, Self, TextIO

from nestag.data.sentence import Sentence
from nestag.encodings.base import Encoding, Label
from nestag.encodings.notation import write_chain, write_field, write_name
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers


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


SEPARATOR = "|"
_UNFIT = re.compile(r"[\s|]")
_SPACE = re.compile(r"\s")


def joint_writer(encoding: Encoding) -> Callable[[Label], str]:
    r"""How labels of an encoding are written as one word.

    >>> from nestag.encodings import encoding
    >>> from nestag.data.tree import Name
    >>> print(joint_writer(encoding("rel"))(Label(-2, Name(("a|b",), root=True), ("cell line",))))
    -2|S+a\u007cb|cell\u0020line
    """

    @cache
    def write(label: Label) -> str:
        return SEPARATOR.join((encoding.write_n(label.n), fit(write_name(label.c)), fit(write_chain(label.u))))

    return write


def read_joint(text: str, parts: LabelParsers) -> Label:
    """The inverse; a LabelError says what is not well formed."""
    found = text.split(SEPARATOR)
    if len(found) != len(Label._fields):
        raise LabelError(f"{text!r} is no joint label; it takes n, c and u with | between, as in 1|S|PER")
    return parts.label(*found)


def fit(part: str) -> str:
    """A written part of a label without white space and separators."""
    return _UNFIT.sub(_number, part)


def write_word(token: str) -> str:
    r"""A token as one column without white space.

    >>> print(write_word("New York"))
    New\u0020York
    """
    return _SPACE.sub(_number, write_field(token))


def _number(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
