"""A format: its name, how to read, write and recognise it; and how invalid records are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Sentence, refuse_half_characters
from nestag.errors import DataError, InputError, UnknownNameError, named
from nestag.formats.files import is_stream
from nestag.formats.folders import files_of_one_format

JSON = (".json", ".jsonl")  # suffixes that JSON formats share
Read = Callable[[str | Path, Options, Report], Iterable[Sentence]]
"""Reads a file or folder as a stream; an InputError names the file and line that is invalid."""
Write = Callable[[Iterable[Sentence], str | Path, Options, Report], None]
"""Writes sentences, all or nothing, and reports what the format cannot hold."""


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
    summary: str  # one line for help texts
    suffixes: tuple[str, ...]  # of its files, lower case, without .gz
    reader: Read
    writer: Write
    looks_like: Callable[[str], bool] | None = None  # inspects the beginning of a file (registry.py)
    raw_text: bool = False  # whether it has texts and characters, not tokens
    folder: tuple[str, ...] = ()  # endings of its files in a folder, if it can be a folder
    remedy: Remedy | None = None  # what to try if no entities are found
    shared: tuple[str, ...] = ()  # suffixes of its files that other formats have as well
    hint: str = field(default="", compare=False)  # which other format a file looks like (registry.py)

    def read(
        self, path: str | Path, options: Options = DEFAULT, report: Report | None = None, annotated: bool = True
    ) -> Iterator[Sentence]:
        """Yield the sentences of a file or folder, and report how it was read.

        The report warns if there are few entities, unless the text is not `annotated`.
        """
        report = Report() if report is None else report
        if not str(path).lower().removesuffix(".gz").endswith(self.suffixes or "/"):
            report.note(f"{path}: read as {self.name} ({self.summary})")
        if self.hint:
            report.note(f"warning: read as {self.name}, but {self.hint}")
        sentences = self._sentences(path, options, report)
        return self._watch(sentences, str(path), report) if annotated else sentences

    def write(
        self, sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> None:
        """Write sentences, all or nothing, and report what the format cannot hold."""
        refuse_half_characters(options.field or "")
        self.writer(sentences, path, options, Report() if report is None else report)

    def _sentences(self, path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
        try:
            is_file = self.folder or is_stream(path) or not Path(path).is_dir()
            for file in [path] if is_file else files_of_one_format(Path(path), self.suffixes, report):
                yield from self.reader(file, options, report)
        except InputError as error:
            if not self.hint:
                raise
            raise InputError(f"{error.message} ({self.hint})", error.source, error.line) from None

    def _watch(self, sentences: Iterator[Sentence], path: str, report: Report) -> Iterator[Sentence]:
        """Yield the sentences, and warn if few have entities though the file seems annotated."""
        count = empty = entities = 0
        lost = report.lost
        for sentence in sentences:
            count += 1
            empty += not sentence.entities
            entities += len(sentence.entities)
            yield sentence
        lost = report.lost - lost
        warning = ""
        if not count:
            warning = f"no sentence, read as {self.name}"
        elif not entities and self.name != "text":
            warning = f"no entity in {count:,} sentences, read as {self.name}"
        elif 2 * empty > count and lost > entities:
            warning = (
                f"{lost:,} annotations were dropped and {entities:,} kept, so {empty:,} of {count:,} sentences have no"
                " entity"
            )
        if warning:
            remedies = [*([self.remedy] if self.remedy else []), Remedy("format", "names another format")]
            report.note(f"warning: {path}: {warning}; {'; '.join(map(str, remedies))}")


@contextmanager
def skipping(options: Options, report: Report, source: str | Path = "", line: int | None = None) -> Iterator[None]:
    """Skip and report a record that is invalid, or raise an InputError with its place.

    A DataError in the block is about `source` and `line`.
    """
    try:
        yield
    except (DataError, InputError) as error:
        wrong = error if isinstance(error, InputError) else InputError(str(error), str(source), line)
        if options.skip_bad:
            report.lose("bad record skipped", wrong.place, wrong.message)
            return
        skip = named("skip_bad", True)
        hint = "" if skip in wrong.message else f" ({skip} skips it)"
        raise InputError(wrong.message + hint, wrong.source, wrong.line) from None


@contextmanager
def explained(message: str, place: str | Path, *errors: type[Exception]) -> Iterator[None]:
    """Turn what a library raises over a broken file into an InputError."""
    try:
        yield
    except UnknownNameError:  # nestag's own, and a LookupError too
        raise
    except errors as error:
        reason = str(error).split("\n", 1)[0]
        raise InputError(f"{message} ({type(error).__name__}: {reason:.200}); save it again", str(place)) from None
