"""Inputs of a command: files, patterns such as `notes/*.txt`, and folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

from nestag.cli.terminal import log
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats import text
from nestag.formats.corpus import join_corpora
from nestag.formats.files import PIPE, is_stream
from nestag.formats.folders import visible_files
from nestag.formats.registry import Format, format_named, format_of, format_of_pipe

MARK = ".entities"  # before the suffix of an output next to its input; folders and patterns skip such files


class Input(NamedTuple):
    """A file or folder to read, and its format."""

    path: str
    format: Format

    def read(self, options: Options, report: Report) -> Iterator[Sentence]:
        """Read its sentences, with or without entities."""
        return self.format.read(self.path, options, report, annotated=False)

    def beside(self, suffix: str) -> str:
        """Return the path of an output next to this input.

        >>> Input("notes/a.txt.gz", format_named("text")).beside(".jsonl")
        'notes/a.entities.jsonl'
        """
        path = Path(self.path.removesuffix(".gz"))
        stem = path.name if path.is_dir() else path.stem
        return str(path.with_name(f"{stem}{MARK}{suffix}"))


def find_inputs(paths: Sequence[str], format: str | None, output: str | None = None) -> list[Input]:
    """Return the inputs to read, in order; the file `output` is skipped unless it is named itself."""
    inputs = [
        entry
        for path in paths
        for entry in _inputs(path, format)
        if path == entry.path or not (output and _is_same_file(entry.path, output))
    ]
    if paths.count(PIPE) > 1:
        raise InputError("the pipe is given more than once; it can be read once", PIPE)
    return list(dict.fromkeys(inputs))


def _inputs(path: str, format: str | None) -> Iterator[Input]:
    if path == PIPE:
        yield Input(path, format_named(format) if format else format_of_pipe(path))
    elif not is_stream(path) and Path(path).is_dir():
        yield from _in_folder(path, format)
    elif has_magic(path) and not Path(path).exists():
        paths = sorted(glob(path, recursive=True))  # noqa: PTH207 - a pattern may be absolute
        matching = [match for match in paths if MARK in path or not _is_output(Path(match))]
        if not matching:
            raise InputError("no file matches; check the pattern", path)
        for match in matching:
            yield from _inputs(match, format)
    else:
        yield Input(path, format_of(path, format))


def _in_folder(path: str, format: str | None) -> Iterator[Input]:
    """Yield a folder that is one corpus, as in brat, or every file in it that can be read."""
    with suppress(InputError):
        whole = format_of(path, format)
        if whole.folder and whole is not text.FORMAT:  # a folder of texts is a folder of files
            yield Input(path, whole)
            return
    has_input = False
    for file in visible_files(Path(path)):
        if _is_output(file):
            continue
        try:
            yield Input(str(file), format_of(file, format))
            has_input = True
        except InputError as error:
            log(f"{file}: skipped ({error.message})")
    if not has_input:
        raise InputError("there is no file in it that can be read; name one, with its format as --from", path)


def _is_same_file(path: str, output: str) -> bool:
    if not Path(path).exists() or not Path(output).exists() or not Path(path).samefile(output):
        return False
    log(f"{path}: skipped, it is the output")
    return True


def _is_output(file: Path) -> bool:
    if f"{MARK}." not in file.name:
        return False
    log(f"{file}: skipped, it is the output of another run")
    return True


def read_inputs(inputs: Sequence[Input], options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of all inputs."""
    return join_corpora((source.read(options, report) for source in inputs), report)
