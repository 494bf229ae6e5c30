"""What a format is: a name, a way to read and a way to write, and how to recognise it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError, named
from nestag.formats.files import is_stream, writing
from nestag.formats.folders import files_of_one_format

JSON = (".json", ".jsonl")
"""Suffixes that formats of JSON share."""


Read = Callable[[str | Path, Options, Report], Iterable[Sentence]]
"""How a format reads a file or folder, streaming; an InputError names file and line of what cannot be read."""
Write = Callable[[Iterable[Sentence], str | Path, Options, Report], None]
"""How a format writes sentences, whole or not at all; what it cannot hold goes into the report."""


class Writer(Protocol):
    """The `write` of a format."""

    def __call__(
        self, sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> None:
        """Write sentences."""
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
    reader: Read
    writer: Write
    looks_like: Callable[[str], bool] | None = None  # judges the beginning of a file (registry.py)
    raw_text: bool = False  # whether it holds a text and characters, not tokens
    folder: tuple[str, ...] = ()  # how the names of its files in a folder end, if it can be a folder
    remedy: Remedy | None = None  # what to try where no entities are found
    shared: tuple[str, ...] = ()  # suffixes of its files that other formats have as well
    hint: str = field(default="", compare=False)  # which other format a file looks like (registry.py)

    def read(
        self, path: str | Path, options: Options = DEFAULT, report: Report | None = None, annotated: bool = True
    ) -> Iterator[Sentence]:
        """The sentences of a file or folder; the report says what it was taken for.

        It warns if entities are few, unless the text to be read is not `annotated`.
        """
        report = Report() if report is None else report
        if not str(path).lower().removesuffix(".gz").endswith(self.suffixes or "/"):
            report.note(f"{path}: read as {self.name} ({self.summary})")
        if self.hint:
            report.note(f"warning: read as {self.name}, but {self.hint}")
        sentences = self._sentences(path, options, report)
        return self._watched(sentences, str(path), report) if annotated else sentences

    def write(
        self, sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> None:
        """Write sentences, whole or not at all; what the format cannot hold goes into the report."""
        self.writer(sentences, path, options, Report() if report is None else report)

    def _sentences(self, path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
        try:
            for file in self._files(path, report):
                yield from self.reader(file, options, report)
        except InputError as error:
            if not self.hint:
                raise
            raise InputError(f"{error.message} ({self.hint})", error.source, error.line) from None

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
def skipping(options: Options, report: Report, source: str | Path = "", line: int | None = None) -> Iterator[None]:
    """Skip and report a record that cannot be read in this block, or raise an InputError with its place.

    A DataError is one about `source` and `line`.
    """
    try:
        yield
    except DataError as error:
        skip_bad(InputError(str(error), str(source), line), options, report)
    except InputError as error:
        skip_bad(error, options, report)


def skip_bad(error: InputError, options: Options, report: Report) -> None:
    """Report a record that cannot be read, or raise its error if such records are not to be skipped."""
    if not options.skip_bad:
        skip = named("skip_bad", True)
        hint = "" if skip in error.message else f" ({skip} sets it aside)"
        raise InputError(error.message + hint, error.source, error.line) from None
    report.lose("bad record set aside", error.place, error.message)


def write_json(
    records: Iterable[Any], path: str | Path, lines: bool = False, frame: tuple[str, str] = ("[", "]")
) -> None:
    """Write values as one JSON list, one value per line, or as JSON Lines; `frame` may put the list into an object."""
    before, between, after = ("", "\n", "\n") if lines else (f"{frame[0]}\n", ",\n", f"\n{frame[1]}\n")
    empty = "" if lines else f"{frame[0]}{frame[1]}\n"
    with writing(path) as stream:
        count = 0
        for count, record in enumerate(records, 1):
            stream.write((between if count > 1 else before) + json.dumps(record, ensure_ascii=False))
        stream.write(after if count else empty)
