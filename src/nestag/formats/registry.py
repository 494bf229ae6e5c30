"""Formats: how to read, write and recognise each; and the format of a file, by its name, its suffix or its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

from nestag import formats
from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Sentence, refuse_half_characters
from nestag.errors import DataError, InputError, UnknownNameError, either, named
from nestag.formats.files import PIPE, is_stream, peek
from nestag.formats.files.sources import read_errors, refuse_empty, refuse_impossible
from nestag.formats.folders import files_of_one_format, has_suffix, visible_files

JSON = (".json", ".jsonl")  # suffixes that JSON formats share
HEADS = (2**16, 2**20, 2**24)
"""Bytes of a file that are inspected to recognise it; more only if less is not enough, as with a very long record."""
LOOKED_AT = 100  # files of a folder whose content is inspected
_JSON = re.compile(r"\ufeff?\s*\[?\s*{")  # how objects, or a list of them, begin

Read = Callable[[str | Path, Options, Report], Iterable[Sentence]]
"""Reads a file or folder as a stream; an InputError names the file and line that is invalid."""
Write = Callable[[Iterable[Sentence], str | Path, Options, Report], None]
"""Writes sentences, all or nothing, and reports what the format cannot hold."""


class Remedy(NamedTuple):
    """An argument of reading that may help, and its effect."""

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
    looks_like: Callable[[str], bool] | None = None  # inspects the beginning of a file
    raw_text: bool = False  # whether it has texts and characters, not tokens
    folder: tuple[str, ...] = ()  # endings of its files in a folder, if it can be a folder
    remedy: Remedy | None = None  # to try if no entities are found
    shared: tuple[str, ...] = ()  # suffixes of its files that other formats have as well
    hint: str = field(default="", compare=False)  # which other format a file looks like

    def read(
        self, path: str | Path, options: Options = DEFAULT, report: Report | None = None, annotated: bool = True
    ) -> Iterator[Sentence]:
        """Yield the sentences of a file or folder, and report how it was read.

        The report warns if there are few entities, unless the text is not `annotated`.
        """
        report = Report() if report is None else report
        if not has_suffix(path, *self.suffixes):
            report.note(f"{path}: read as {self.name} ({self.summary})")
        if self.hint:
            report.note(f"warning: read as {self.name}, but {self.hint}")
        sentences = self._sentences(path, options, report)
        return self._watch(sentences, str(path), report) if annotated else sentences

    def write(
        self, sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
    ) -> None:
        """Write sentences, all or nothing, and report what the format cannot hold."""
        refuse_impossible(path)
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
def library_errors(message: str, place: str | Path, *errors: type[Exception]) -> Iterator[None]:
    """Turn the errors of a library on a broken file into an InputError."""
    try:
        yield
    except UnknownNameError:  # nestag's own, and a LookupError too
        raise
    except errors as error:
        reason = str(error).split("\n", 1)[0]
        raise InputError(f"{message} ({type(error).__name__}: {reason:.200}); save it again", str(place)) from None


@cache
def available() -> dict[str, Format]:
    """Return every format by name."""
    modules = [import_module(f"{formats.__name__}.{module.name}") for module in iter_modules(formats.__path__)]
    entries = [entry for module in modules for entry in getattr(module, "FORMATS", ())]
    entries += [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}


def format_named(name: str) -> Format:
    """Return the format of that name."""
    known = available()
    if name not in known:
        meant = [entry.name for entry in known.values() if f".{name}" in entry.suffixes]
        hint = f"did you mean {' or '.join(meant)}? " if meant else ""
        raise UnknownNameError(f"no format is called {name!r}; {hint}there are {', '.join(sorted(known))}")
    return known[name]


def format_of(path: str | Path, name: str | None = None) -> Format:
    """Return the format of a file or folder to read.

    A name wins, then the suffix. Content decides between formats that share a suffix, and alone for pipes and unknown
    suffixes. A file that looks like another format than its suffix says is read by its suffix, with a hint.
    """
    if name is not None:
        return format_named(name)
    if not is_stream(path):
        with read_errors(str(path)):
            if Path(path).is_dir():
                return _of_folder(Path(path))
            if not Path(path).exists():
                raise FileNotFoundError
    return _with_hint(_only(_candidates(path), path, named("format")), [path])


def format_of_pipe(path: str) -> Format:
    """Return the format of piped input to be tagged: one of JSON if it looks like that, otherwise text.

    It inspects what has been written so far, because the writer may wait for an answer.
    """
    head = _head(path, wait=False).decode("utf-8", "replace")
    similar = _resembling(head)
    return similar[0] if len(similar) == 1 and _JSON.match(head) else format_named("text")


def format_for(path: str | Path, name: str | None = None) -> Format:
    """Return the format of a file to write: by name, or the only one with its suffix; JSON Lines for a pipe."""
    refuse_empty(path)
    if name is not None or str(path) == PIPE:
        return format_named(name or "jsonl")
    return _only(_with_suffix(path, shared=False), path, either("format=...", "--to"))


def _candidates(path: str | Path) -> list[Format]:
    """Return the formats with the suffix of a file, and among several those that it looks like."""
    by_suffix = _with_suffix(path)
    if len(by_suffix) == 1:
        return by_suffix
    similar = _similar_to(path)
    if not by_suffix:
        return similar
    return [entry for entry in by_suffix if entry in similar] or _with_suffix(path, shared=False) or by_suffix


def _with_suffix(path: str | Path, shared: bool = True) -> list[Format]:
    """Return the formats with the longest suffix of a file's name; those that formats share count if `shared`."""
    suffixes = ((suffix, e) for e in available().values() for suffix in e.suffixes + (e.shared if shared else ()))
    matching = [(len(suffix), entry) for suffix, entry in suffixes if has_suffix(path, suffix)]
    longest = max((length for length, _ in matching), default=0)
    return [entry for length, entry in matching if length == longest]


def _with_hint(entry: Format, paths: Sequence[str | Path]) -> Format:
    """Add a hint if a file does not look like its format but like others."""
    for path in paths:
        similar = [] if is_stream(path) else _similar_to(path)
        if similar and entry not in similar:
            options = " or ".join(named("format", other.name) for other in similar)
            names = " or ".join(other.name for other in similar)
            return replace(entry, hint=f"{path} looks like {names}; try {options}")
    return entry


def _only(candidates: list[Format], path: str | Path, argument: str) -> Format:
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(sorted(entry.name for entry in candidates or available().values()))
    reason = "it could be several formats" if candidates else "its format cannot be detected"
    raise InputError(f"{reason}; name the format ({argument}), one of {names}", str(path))


def _of_folder(path: Path) -> Format:
    """Return the format that all files of a folder can be, or else the only one that is a folder and has a file there.

    Files that could be several formats, and texts such as a README, count only if there are no others.
    """
    files = visible_files(path)
    by_file = dict(_of_files(files))
    sure = {file: formats for file, formats in by_file.items() if len(formats) == 1 and formats[0].name != "text"}
    by_file = sure or {file: formats for file, formats in by_file.items() if len(formats) > 1} or by_file
    entries = available().values()
    candidates = [e for e in entries if by_file and all(e in formats for formats in by_file.values())]
    candidates = candidates or [e for e in entries if e.folder and [e] in by_file.values()]
    if not candidates:
        kinds = ", ".join(f"{e.name} (*{' *'.join(e.folder)})" for e in entries if e.folder)
        names = ", ".join(file.name for file in files[:3]) or "nothing"
        raise InputError(
            f"a folder can be {kinds}, or files of one format; this one has {names}: name one of its files", str(path)
        )
    return _with_hint(_only(candidates, path, named("format")), list(by_file)[:LOOKED_AT])


def _of_files(files: Iterable[Path]) -> Iterator[tuple[Path, list[Format]]]:
    """Yield the formats that files can be; of those without a clear suffix, only some are inspected."""
    looked_at = 0
    for file in files:
        looked_at += len(_with_suffix(file)) != 1
        if (looked_at <= LOOKED_AT or len(_with_suffix(file)) == 1) and (formats := _candidates(file)):
            yield file, formats


def _similar_to(path: str | Path) -> list[Format]:
    """Return the formats that a file looks like."""
    similar: list[Format] = []
    for size in HEADS:
        head = _head(path, size)
        similar = _resembling(head.decode("utf-8", "replace"))
        if similar or len(head) < size:
            break
    return similar


def _resembling(head: str) -> list[Format]:
    return [entry for entry in available().values() if entry.looks_like and entry.looks_like(head)]


def _head(path: str | Path, size: int = HEADS[0], wait: bool = True) -> bytes:
    """Return the beginning of a file, or nothing if it cannot be read: reading it will raise the error."""
    try:
        return peek(path, size, wait)
    except InputError:
        return b""
