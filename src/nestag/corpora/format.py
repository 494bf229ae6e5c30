"""What a format is: a name, a way to read and a way to write, and how to recognise it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from nestag.corpora.report import Report
from nestag.data import Sentence

Boundaries = Literal["widen", "split", "refuse"]
"""Spans that begin or end inside a token: take the whole token, cut the token there, or stop with an error."""

Tokenizer = Literal["spacy", "whitespace"]
"""How raw text becomes words and sentences: spaCy's rules, or what white space and line ends say."""


@dataclass(frozen=True)
class Options:
    """How to read what a format alone does not say."""

    tokenizer: Tokenizer = "spacy"  # of raw text
    language: str = "en"  # a language code of spaCy's; "xx" is any
    boundaries: Boundaries = "widen"  # of spans that do not end on token borders
    field: str | None = None  # the layer, span group or annotation type to read, where there may be several


DEFAULT = Options()


class Reader(Protocol):
    """How a format is read."""

    def __call__(
        self, path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> Iterator[Sentence]:
        """The sentences of a file or folder, streaming; an InputError names file and line of what cannot be read."""
        ...


class Writer(Protocol):
    """How a format is written."""

    def __call__(
        self, sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> None:
        """Write them, whole or not at all; what the format cannot hold goes into the report."""
        ...


@dataclass(frozen=True)
class Format:
    """A format by its name."""

    name: str
    summary: str  # what it is, in one line, for help texts
    suffixes: tuple[str, ...]  # of its files, lower case, without .gz
    read: Reader
    write: Writer | None = None
    looks_like: Callable[[str], bool] | None = None  # judges the first 64 KiB of a file, or of one in a folder
    raw_text: bool = False  # whether it holds a text and characters, not tokens
