"""Inputs: the files of rows that an address stands for.

An address is a file, a folder with all that is below it, or a glob. Names that begin with a dot or an underscore are
not data, as everywhere in this trade.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

from nestag.errors import InputError
from nestag.files.packed import SUFFIX
from nestag.files.sources import explained_reading
from nestag.scale.job import InputKind
from nestag.scale.storage import address_at, filesystem, local_path, stored

KINDS: dict[str, InputKind] = {
    ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "text", ".text": "text",
}  # fmt: skip
READERS = 16
"""Files that are asked about at the same time."""

_MAGIC = "*?["


@dataclass(frozen=True)
class InputFile:
    """A file of rows; size and version say whether it is still the same."""

    name: str  # below the folder or glob it was found by
    address: str
    size: int
    version: str


@dataclass(frozen=True)
class InputFiles:
    """The files of rows, by name, and what they all are."""

    kind: InputKind
    files: tuple[InputFile, ...]
    left: int  # files of other kinds that were found too


def kind_of(name: str) -> InputKind | None:
    """What a file is by its name.

    >>> kind_of("news/2024.jsonl.gz"), kind_of("a.csv")
    ('jsonl', None)
    """
    return KINDS.get(PurePosixPath(name.lower().removesuffix(SUFFIX)).suffix)


def find_input_files(address: str, kind: InputKind | None = None, out: str = "") -> InputFiles:
    """The files of rows at an address, all of one kind; those of a kind that is named may have any name.

    What lies in the folder `out` was written by a run before, and is no input.
    """
    found = _listed(address, out)
    kinds = Counter(kind_of(file.name) for file in found)
    del kinds[None]
    if not found or not (kind or kinds):
        raise InputError("there are no files of rows; give a file, a folder or a glob of Parquet, JSON Lines or text"
                         " files, and --from if their names do not say what they are", address)  # fmt: skip
    if kind is None and len(kinds) > 1:
        raise InputError(f"there are files of {' and '.join(sorted(map(str, kinds)))}; choose one kind with --from or"
                         " a glob", address)  # fmt: skip
    chosen: InputKind = kind or next(iter(kinds))  # type: ignore[assignment]
    if kind and not kinds:  # names that say nothing
        return InputFiles(kind, tuple(found), 0)
    files = tuple(file for file in found if kind_of(file.name) == chosen)
    if not files:
        raise InputError(f"there are no files of {chosen}; drop --from or give another address", address)
    return InputFiles(chosen, files, len(found) - len(files))


def is_inside(address: str, folder: str) -> bool:
    """Whether an address is a folder, or lies in it.

    >>> is_inside("/data/out/a.parquet", "/data/out"), is_inside("/data/outside", "/data/out")
    (True, False)
    """
    return _same_storage(address, folder) and _is_below(filesystem(address)[1], filesystem(folder)[1])


def _same_storage(one: str, other: str) -> bool:
    return (local_path(one) is None) == (local_path(other) is None)


def _is_below(path: str, folder: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")


def _listed(address: str, out: str) -> list[InputFile]:
    """Every file at an address that is not in the output, by name."""
    fs, path = filesystem(address)
    with explained_reading(address):
        if any(sign in path for sign in _MAGIC):
            root = _fixed(path)
            paths = fs.glob(path)
        else:
            alone = fs.isfile(path)
            root = str(PurePosixPath(path).parent) if alone else path
            paths = [path] if alone else fs.find(path)
        if out and _same_storage(address, out):
            written = filesystem(out)[1]
            paths = [one for one in paths if not _is_below(one, written)]
        with ThreadPoolExecutor(READERS) as pool:  # listings do not always tell what `info` tells
            infos = list(pool.map(fs.info, paths))
    files = [
        InputFile(
            file.path.removeprefix(root).lstrip("/"), address_at(file.path, address, fs, path), file.size, file.version
        )
        for file in (stored(info) for info in infos if info["type"] == "file")
    ]
    return sorted((file for file in files if not _is_hidden(file.name)), key=lambda file: file.name)


def _fixed(path: str) -> str:
    """The folder above the first part of a path with a wildcard.

    >>> _fixed("/data/2024-*/part-?.parquet")
    '/data'
    """
    parts = PurePosixPath(path).parts
    first = next(place for place, part in enumerate(parts) if any(sign in part for sign in _MAGIC))
    return str(PurePosixPath(*parts[:first]))


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in PurePosixPath(name).parts)
