"""Inputs of a command: files, patterns such as `notes/*.txt`, and folders, each as something to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

from nestag.cli.terminal import tell
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats import text
from nestag.formats.corpus import Apart
from nestag.formats.files import PIPE, is_stream
from nestag.formats.format import Format
from nestag.formats.registry import format_named, format_of, format_of_pipe

MARK = ".entities"
"""What stands before the suffix of an output that lies beside its input; no folder or pattern finds such files."""


class Input(NamedTuple):
    """A file or folder to read, and its format."""

    path: str
    format: Format

    def read(self, options: Options, report: Report) -> Iterator[Sentence]:
        """Its sentences; nothing is said if they have no entities."""
        return self.format.read(self.path, options, report, annotated=False)

    def beside(self, suffix: str) -> str:
        """Where the output of this input goes if it is to lie beside it.

        >>> Input("notes/a.txt.gz", format_named("text")).beside(".jsonl")
        'notes/a.entities.jsonl'
        """
        path = Path(self.path.removesuffix(".gz"))
        stem = path.name if path.is_dir() else path.stem
        return str(path.with_name(f"{stem}{MARK}{suffix}"))


def inputs_from(given: Sequence[str], name: str | None, output: str | None = None) -> list[Input]:
    """The inputs to read, in the order given; `name` is the format, if one was given.

    What the last run wrote to `output` is not read unless it is named itself, though it may lie in a folder that is.
    """
    found = [one for path in given for one in _inputs(path, name) if path == one.path or not _is_same(one.path, output)]
    if given.count(PIPE) > 1:
        raise InputError("the pipe is given more than once; it can be read once", PIPE)
    return list(dict.fromkeys(found))


def _inputs(path: str, name: str | None) -> Iterator[Input]:
    if path == PIPE:
        yield Input(path, format_named(name) if name else format_of_pipe(path))
    elif is_stream(path) or Path(path).is_file():
        yield Input(path, format_of(path, name))
    elif Path(path).is_dir():
        yield from _in_folder(path, name)
    elif has_magic(path):
        found = sorted(glob(path, recursive=True))  # noqa: PTH207 - a pattern may be absolute
        matching = [one for one in found if MARK in path or not _is_output(Path(one))]  # a pattern may ask for them
        if not matching:
            raise InputError("no file matches; check the pattern", path)
        for one in matching:
            yield from _inputs(one, name)
    else:
        yield Input(path, format_of(path, name))  # which says that there is none


def _is_same(path: str, output: str | None) -> bool:
    if output is None or not Path(path).exists() or not Path(output).exists() or not Path(path).samefile(output):
        return False
    tell(f"{path}: left out, it is the output")
    return True


def _in_folder(path: str, name: str | None) -> Iterator[Input]:
    """A folder that is one corpus, as brat's are, or else every file in it that can be read."""
    whole = _whole(path, name)
    if whole:
        yield Input(path, whole)
        return
    files = [file for file in sorted(Path(path).rglob("*")) if file.is_file() and not _hidden(file, Path(path))]
    found = 0
    for file in files:
        if _is_output(file):
            continue
        try:
            yield Input(str(file), format_of(file, name))
            found += 1
        except InputError as error:
            tell(f"{file}: left out ({error.message})")
    if not found:
        raise InputError("there is no file in it that can be read; name one, with its format as --from", path)


def _is_output(file: Path) -> bool:
    if f"{MARK}." not in file.name:
        return False
    tell(f"{file}: left out, it is the output of another run")
    return True


def _whole(path: str, name: str | None) -> Format | None:
    """The format of a folder that is one corpus, None if it is a folder of files."""
    try:
        found = format_of(path, name)
    except InputError:
        return None
    return found if found.folder and found is not text.FORMAT else None  # a folder of texts is a folder of files


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def together(given: Sequence[Input], options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of all inputs as one stream."""
    apart = Apart(report)
    for one in given:
        yield from apart.read(one.read(options, report))
