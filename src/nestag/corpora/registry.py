"""Formats found by name, by suffix or by content, and only where that leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from nestag.arguments import either, named
from nestag.corpora import formats
from nestag.corpora.folders import visible_files
from nestag.corpora.format import Format
from nestag.errors import InputError, UnknownNameError
from nestag.files import is_stream, peek
from nestag.files.paths import refuse_empty

HEADS = (2**16, 2**20, 2**24)
"""Bytes of a file that are looked at to recognise it; more only if less says nothing, as a very long first record."""
_JSON = re.compile(r"\ufeff?\s*\[?\s*{")  # how objects, or a list of them, begin
LOOKED_AT = 100
"""Files of one format in a folder that are looked at."""


@cache
def available() -> dict[str, Format]:
    """Every format by name."""
    modules = (import_module(f"{formats.__name__}.{module.name}") for module in iter_modules(formats.__path__))
    return {module.FORMAT.name: module.FORMAT for module in modules if hasattr(module, "FORMAT")}


def format_named(name: str) -> Format:
    """The format of that name."""
    try:
        return available()[name]
    except KeyError:
        raise UnknownNameError(f"no format is called {name!r}; there are {', '.join(sorted(available()))}") from None


def format_of(path: str | Path, name: str | None = None) -> Format:
    """The format of a file to read: the one named, or the only one that its suffix and beginning allow.

    What a file begins with counts more than its suffix: `x.jsonl` may be JSON Lines of tokens or doccano's.
    """
    if name is not None:
        return format_named(name)
    if not is_stream(path) and Path(path).is_dir():
        return _of_folder(Path(path))
    if not is_stream(path) and not Path(path).exists():
        raise InputError("there is no such file; check the path", str(path))
    return _only(_candidates(path), path, named("format"))


def format_of_pipe(path: str) -> Format:
    """The format of what is piped in to be tagged: JSON of a kind that it looks like, otherwise text.

    Nothing is waited for but its beginning, because whoever writes it may wait for an answer.
    """
    head = _head(path, wait=False).decode("utf-8", "replace")
    seen = _looking_like(head)
    return seen[0] if len(seen) == 1 and _JSON.match(head) else format_named("text")


def format_for(path: str | Path, name: str | None = None) -> Format:
    """The format of a file to write: the one named, or the only one with its suffix."""
    refuse_empty(path)
    if name is not None:
        return format_named(name)
    return _only([entry for entry in _by_suffix(path) if entry.write], path, either("format=...", "--to"))


def _candidates(path: str | Path) -> list[Format]:
    """The formats that a file can be."""
    candidates, seen = _by_suffix(path), _seen(path)
    return [entry for entry in candidates if entry in seen] or seen or candidates


def _by_suffix(path: str | Path) -> list[Format]:
    lower = str(path).lower().removesuffix(".gz")
    matching = [
        (suffix, entry) for entry in available().values() for suffix in entry.suffixes if lower.endswith(suffix)
    ]
    longest = max((len(suffix) for suffix, _ in matching), default=0)
    return [entry for suffix, entry in matching if len(suffix) == longest]


def _only(candidates: list[Format], path: str | Path, argument: str) -> Format:
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(sorted(entry.name for entry in candidates or available().values()))
    reason = "it could be several formats" if candidates else "its format cannot be guessed"
    raise InputError(f"{reason}; name the format ({argument}), one of {names}", str(path))


def _of_folder(path: Path) -> Format:
    """The format of a folder: the only one that its files can be, by what is in them or else by their names."""
    files = visible_files(path)
    by_suffix = {
        entry: [file for file in files if file.name.lower().endswith(entry.folder)]
        for entry in available().values()
        if entry.folder
    }
    by_name = [entry for entry, found in by_suffix.items() if found]
    seen = [entry for entry in by_name if any(_is_like(entry, file) for file in by_suffix[entry][:LOOKED_AT])]
    possible = [entry for entry in by_name if any(entry in _candidates(file) for file in by_suffix[entry][:LOOKED_AT])]
    candidates = seen or _of_all(files) or possible
    if not candidates:
        kinds = ", ".join(f"{entry.name} (*{' *'.join(entry.folder)})" for entry in by_suffix)
        there = ", ".join(file.name for file in files[:3]) or "nothing"
        raise InputError(
            f"a folder can be {kinds}, or files of one format; this one has {there}: name one of its files", str(path)
        )
    return _only(candidates, path, named("format"))


def _of_all(files: Sequence[Path]) -> list[Format]:
    """The formats that every file of a folder can be; texts beside other files are none of the corpus."""
    found = [candidates for file in files[:LOOKED_AT] if (candidates := _candidates(file))]
    telling = [candidates for candidates in found if candidates[0].name != "text"] or found
    return [entry for entry in telling[0] if all(entry in candidates for candidates in telling)] if telling else []


def _is_like(entry: Format, file: Path) -> bool:
    return entry.looks_like is not None and entry.looks_like(_head(file).decode("utf-8", "replace"))


def _seen(path: str | Path) -> list[Format]:
    """The formats that a file looks like."""
    seen: list[Format] = []
    for size in HEADS:
        head = _head(path, size)
        seen = _looking_like(head.decode("utf-8", "replace"))
        if seen or len(head) < size:
            break
    return seen


def _looking_like(text: str) -> list[Format]:
    """The formats that a file may have that begins with a text."""
    return [entry for entry in available().values() if entry.looks_like and entry.looks_like(text)]


def _head(path: str | Path, size: int = HEADS[0], wait: bool = True) -> bytes:
    """The beginning of a file; empty if it cannot be read: reading it will raise the error."""
    try:
        return peek(path, size, wait)
    except InputError:
        return b""
