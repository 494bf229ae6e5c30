"""Find the format of a file: by name, then by suffix, then by content, and only if that is unambiguous."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from nestag import formats
from nestag.errors import InputError, UnknownNameError, either, named
from nestag.formats.files import PIPE, is_stream, peek
from nestag.formats.files.sources import refuse_empty
from nestag.formats.folders import visible_files
from nestag.formats.format import Format, Writer

HEADS = (2**16, 2**20, 2**24)
"""Bytes of a file that are inspected to recognise it; more only if less is not enough, as with a very long record."""
LOOKED_AT = 100  # files of a folder whose content is inspected
_JSON = re.compile(r"\ufeff?\s*\[?\s*{")  # how objects, or a list of them, begin


@cache
def available() -> dict[str, Format]:
    """Return every format by name."""
    modules = [import_module(f"{formats.__name__}.{module.name}") for module in iter_modules(formats.__path__)]
    entries = [entry for module in modules for entry in getattr(module, "FORMATS", ())]
    entries += [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}


def format_named(name: str) -> Format:
    """Return the format of that name."""
    try:
        return available()[name]
    except KeyError:
        raise UnknownNameError(f"no format is called {name!r}; there are {', '.join(sorted(available()))}") from None


def format_of(path: str | Path, name: str | None = None) -> Format:
    """Return the format of a file or folder to read.

    A name wins, then the suffix. Content decides between formats that share a suffix, and alone for pipes and unknown
    suffixes. A file that looks like another format than its suffix says is read by its suffix, with a hint.
    """
    if name is not None:
        return format_named(name)
    if not is_stream(path) and Path(path).is_dir():
        return _of_folder(Path(path))
    if not is_stream(path) and not Path(path).exists():
        raise InputError("there is no such file; check the path", str(path))
    return _with_hint(_only(_candidates(path), path, named("format")), [path])


def format_of_pipe(path: str) -> Format:
    """Return the format of what is piped in to be tagged: JSON of a kind that it looks like, otherwise text.

    It inspects what has been written so far, because the writer may wait for an answer.
    """
    head = _head(path, wait=False).decode("utf-8", "replace")
    seen = _looking_like(head)
    return seen[0] if len(seen) == 1 and _JSON.match(head) else format_named("text")


def format_for(path: str | Path, name: str | None = None) -> Format:
    """Return the format of a file to write: by name, or the only one with its suffix."""
    refuse_empty(path)
    if name is not None:
        return format_named(name)
    return _only(_with_suffix(path, lambda entry: entry.suffixes), path, either("format=...", "--to"))


def writer_for(path: str | Path, name: str | None = None) -> Writer:
    """Return how to write a file; a pipe gets JSON Lines unless another format is named."""
    return format_for(path, "jsonl" if path == PIPE and name is None else name).write


def _candidates(path: str | Path) -> list[Format]:
    """Return the formats with the suffix of a file, and among several those that it looks like."""
    by_suffix = _with_suffix(path)
    if len(by_suffix) == 1:
        return by_suffix
    seen = _seen(path)
    if not by_suffix:
        return seen
    return [entry for entry in by_suffix if entry in seen] or _with_suffix(path, lambda e: e.suffixes) or by_suffix


def _with_suffix(
    path: str | Path, suffixes: Callable[[Format], tuple[str, ...]] = lambda entry: entry.suffixes + entry.shared
) -> list[Format]:
    """Return the formats with the longest suffix of a file's name."""
    lower = str(path).lower().removesuffix(".gz")
    matching = [
        (len(suffix), entry) for entry in available().values() for suffix in suffixes(entry) if lower.endswith(suffix)
    ]
    longest = max((length for length, _ in matching), default=0)
    return [entry for length, entry in matching if length == longest]


def _with_hint(entry: Format, paths: Sequence[str | Path]) -> Format:
    """Add a hint if a file does not look like its format but like others."""
    for path in paths:
        seen = [] if is_stream(path) else _seen(path)
        if seen and entry not in seen:
            options = " or ".join(named("format", other.name) for other in seen)
            return replace(entry, hint=f"{path} looks like {' or '.join(other.name for other in seen)}; try {options}")
    return entry


def _only(candidates: list[Format], path: str | Path, argument: str) -> Format:
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(sorted(entry.name for entry in candidates or available().values()))
    reason = "it could be several formats" if candidates else "its format cannot be guessed"
    raise InputError(f"{reason}; name the format ({argument}), one of {names}", str(path))


def _of_folder(path: Path) -> Format:
    """Return the format that all files of a folder can be, or else the only one that is a folder and has a file there.

    Files that could be several formats, and texts such as a README, count only if there are no others.
    """
    files = visible_files(path)
    known = dict(_of_files(files))
    sure = {file: formats for file, formats in known.items() if len(formats) == 1 and formats[0].name != "text"}
    known = sure or {file: formats for file, formats in known.items() if len(formats) > 1} or known
    candidates = [entry for entry in available().values() if known and all(entry in each for each in known.values())]
    if not candidates:
        candidates = [entry for entry in available().values() if entry.folder and [entry] in known.values()]
    if not candidates:
        kinds = ", ".join(
            f"{entry.name} (*{' *'.join(entry.folder)})" for entry in available().values() if entry.folder
        )
        there = ", ".join(file.name for file in files[:3]) or "nothing"
        raise InputError(
            f"a folder can be {kinds}, or files of one format; this one has {there}: name one of its files", str(path)
        )
    return _with_hint(_only(candidates, path, named("format")), list(known)[:LOOKED_AT])


def _of_files(files: Iterable[Path]) -> Iterator[tuple[Path, list[Format]]]:
    """Yield the formats that files can be; of those without a clear suffix, only some are inspected."""
    looked_at = 0
    for file in files:
        looked_at += len(_with_suffix(file)) != 1
        if (looked_at <= LOOKED_AT or len(_with_suffix(file)) == 1) and (formats := _candidates(file)):
            yield file, formats


def _seen(path: str | Path) -> list[Format]:
    """Return the formats that a file looks like."""
    seen: list[Format] = []
    for size in HEADS:
        head = _head(path, size)
        seen = _looking_like(head.decode("utf-8", "replace"))
        if seen or len(head) < size:
            break
    return seen


def _looking_like(head: str) -> list[Format]:
    return [entry for entry in available().values() if entry.looks_like and entry.looks_like(head)]


def _head(path: str | Path, size: int = HEADS[0], wait: bool = True) -> bytes:
    """Return the beginning of a file, or nothing if it cannot be read: reading it will raise the error."""
    try:
        return peek(path, size, wait)
    except InputError:
        return b""
