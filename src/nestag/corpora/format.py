"""What a format is: a name, a way to read and a way to write, and how to recognise it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from nestag.arguments import named
from nestag.corpora.folders import files_of_one_format
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.files import is_stream

Boundaries = Literal["widen", "split", "refuse"]
"""Spans that begin or end inside a token: take the whole token, cut the token there, or stop with an error."""

TokenizerName = Literal["spacy", "whitespace"]
"""How raw text becomes words and sentences: spaCy's rules, or what white space and line ends say."""


@dataclass(frozen=True)
class Options:
    """Options for reading a corpus that its format leaves open."""

    tokenizer: TokenizerName = "spacy"  # of raw text
    language: str = "en"  # a language code of spaCy's; "xx" is any
    boundaries: Boundaries = "widen"  # of spans that do not end on token borders
    field: str | None = None  # the layer, span group or annotation type to read, where there may be several
    columns: tuple[int, ...] | None = None  # of tokens, then of tags, counted from 1, or from the end with a minus
    skip_bad: bool = False  # set records that cannot be read aside, instead of stopping at the first


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


class Remedy(NamedTuple):
    """An argument of reading that may help, and what it does."""

    argument: str
    does: str

    def __str__(self) -> str:
        return f"{named(self.argument)} {self.does}"


@dataclass(frozen=True)
class Format:
    """A format by its name."""

    name: str
    summary: str  # what it is, in one line, for help texts
    suffixes: tuple[str, ...]  # of its files, lower case, without .gz
    reader: Reader
    write: Writer | None = None
    looks_like: Callable[[str], bool] | None = None  # judges the beginning of a file (registry.py)
    raw_text: bool = False  # whether it holds a text and characters, not tokens
    folder: tuple[str, ...] = ()  # how the names of its files in a folder end, if it can be a folder
    remedy: Remedy | None = None  # what to try where no entities are found

    def read(
        self, path: str | Path, options: Options = DEFAULT, report: Report | None = None, annotated: bool = True
    ) -> Iterator[Sentence]:
        """The sentences of a file or folder; the report says what it was taken for.

        It warns if entities are few, unless the text to be read is not `annotated`.
        """
        report = Report() if report is None else report
        if not str(path).lower().removesuffix(".gz").endswith(self.suffixes or "/"):
            report.note(f"{path}: read as {self.name} ({self.summary})")
        sentences = (sentence for file in self._files(path, report) for sentence in self.reader(file, options, report))
        return self._watched(sentences, str(path), report) if annotated else sentences

    def _files(self, path: str | Path, report: Report) -> Sequence[str | Path]:
        """The path itself; if it is a folder of files that are each a corpus, these."""
        if self.folder or is_stream(path) or not Path(path).is_dir():
            return [path]
        return files_of_one_format(Path(path), self.suffixes, report)

    def _watched(self, sentences: Iterator[Sentence], path: str, report: Report) -> Iterator[Sentence]:
        """The sentences as they are; where few have entities though the file seems annotated, the report warns."""
        count = empty = entities = 0
        lost = report.lost
        for sentence in sentences:
            count += 1
            empty += not sentence.entities
            entities += len(sentence.entities)
            yield sentence
        lost = report.lost - lost
        remedies = [self.remedy] if self.remedy else []
        remedy = "; ".join(map(str, [*remedies, Remedy("format", "names another format")]))
        if not count:
            report.note(f"warning: {path}: no sentence, read as {self.name}; {remedy}")
        elif not entities and self.name != "text":
            report.note(f"warning: {path}: no entity in {count:,} sentences, read as {self.name}; {remedy}")
        elif 2 * empty > count and lost > entities:
            report.note(
                f"warning: {path}: {lost:,} annotations were left out and {entities:,} kept, so {empty:,} of {count:,}"
                f" sentences have no entity; {remedy}"
            )


@contextmanager
def skipping(options: Options, report: Report) -> Iterator[None]:
    """Where bad records are to be skipped, one that cannot be read in this block is set aside and reported."""
    try:
        yield
    except InputError as error:
        set_aside(error, options, report)


def set_aside(error: InputError, options: Options, report: Report) -> None:
    """Report a record that cannot be read, or raise its error if such records are not to be skipped."""
    if not options.skip_bad:
        skip = named("skip_bad", True)
        hint = "" if skip in error.message else f" ({skip} sets it aside)"
        raise InputError(error.message + hint, error.source, error.line) from None
    report.lose("bad record set aside", error.place, error.message)
