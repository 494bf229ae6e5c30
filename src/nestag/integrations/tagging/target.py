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
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import ClassVar, NamedTuple, Self, TextIO

from nestag.data.sentence import Sentence
from nestag.encodings.base import Encoding, Label
from nestag.encodings.notation import write_chain, write_field, write_name
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers


class Description(NamedTuple):
    """What the README of an export refers to."""

    title: str
    """The name of the folder."""
    corpora: Mapping[Split, str]
    """Where each split came from."""
    vocabulary: Vocabulary

    @property
    def predicted(self) -> tuple[Split, ...]:
        """All splits but train."""
        return tuple(split for split in self.corpora if split != "train")

    def back(self, split: Split, predictions: str) -> str:
        """Return the command that turns predictions into entities, to be run in the folder."""
        gold = shlex.quote(str(Path(self.corpora[split]).resolve()))
        return f"nestag export back . {gold} {predictions} -o {split}.entities.jsonl"


@dataclass(frozen=True)
class Target(ABC):
    """The files of one library; fields are its settings, and are stored with the export."""

    name: ClassVar[str]
    files: ClassVar[Mapping[Split, str]]
    """Where each split is written, in the folder."""

    def learned(self, vocabulary: Vocabulary, sentences: Iterable[Sentence]) -> Self:
        """Return the target with what it learns from train."""
        return self

    @abstractmethod
    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write one split."""

    @abstractmethod
    def texts(self, about: Description) -> dict[str, str]:
        """Return the other files of the folder by name: settings, and a README.md with the commands."""

    @abstractmethod
    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read the labels in the library's predictions; an InputError names an invalid line."""


def fill(template: str, **values: str) -> str:
    """Return a text of the folder `templates` with its `$names` replaced."""
    text = (files("nestag.integrations.tagging") / "templates" / template).read_text(encoding="utf-8")
    return Template(text).safe_substitute(values)


SEPARATOR = "|"
_UNFIT = re.compile(r"[\s|]")
_SPACE = re.compile(r"\s")


def joint_writer(encoding: Encoding) -> Callable[[Label], str]:
    r"""Return a function that writes labels of an encoding as one word.

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
    """Read a joint label, the inverse of `joint_writer`; a LabelError says what is invalid."""
    fields = text.split(SEPARATOR)
    if len(fields) != len(Label._fields):
        raise LabelError(f"{text!r} is not a joint label; write n, c and u with | between, as in 1|S|PER")
    return parts.label(*fields)


def fit(part: str) -> str:
    """Return a part of a label with white space and separators as character codes."""
    return _UNFIT.sub(_number, part)


def write_word(token: str) -> str:
    r"""Return a token as one column without white space.

    >>> print(write_word("New York"))
    New\u0020York
    """
    return _SPACE.sub(_number, write_field(token))


def _number(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
