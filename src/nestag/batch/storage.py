"""Storage: input files, and an output folder, on this machine or on object stores.

Paths on this machine go through `nestag.formats.files`. Addresses such as s3://bucket/folder go through fsspec, or
through Arrow's file systems if fsspec has none. A file is written completely or not at all. As in Spark and Hive, names
that begin with a dot or an underscore are not data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader
from pathlib import Path, PurePosixPath
from tempfile import gettempdir
from typing import IO, Any, BinaryIO, Literal, cast

from nestag.errors import InputError, MissingExtraError
from nestag.formats.files import new_part, reading, remove_leftovers, writing_bytes
from nestag.formats.files.sources import SUFFIX, is_packed, read_errors, unpacked
from nestag.formats.files.targets import write_errors

InputKind = Literal["parquet", "jsonl", "text"]
"""Formats of input files."""

KINDS: dict[str, InputKind] = {
    ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "text", ".text": "text",
}  # fmt: skip
READERS = 16
"""Threads that read small files, footers or listings."""

BUFFER = 2**20
"""Bytes that are fetched at once."""

_WILDCARDS = frozenset("*?[")
_VERSIONS = ("ETag", "etag", "md5Hash", "generation", "LastModified", "last_modified", "mtime", "modified", "created")
"""What file systems call the thing that changes when a file does, the best first."""


def library(name: str) -> Any:
    """Import a library of the extra `ray`."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"nestag batch needs {name.partition('.')[0]}", "ray") from None


def is_local(address: str) -> bool:
    """Tell whether an address is a path on this machine.

    >>> is_local("data/a.parquet"), is_local("file:///data"), is_local("s3://bucket/a.parquet")
    (True, True, False)
    """
    return "://" not in address or address.startswith("file://")


def filesystem(address: str) -> tuple[Any, str]:
    """Return the fsspec file system of an address, and the path there."""
    try:
        return cast(tuple[Any, str], library("fsspec.core").url_to_fs(address))
    except (ImportError, ValueError) as error:
        if isinstance(error, MissingExtraError):
            raise
        try:
            inner, path = library("pyarrow.fs").FileSystem.from_uri(address)
        except (OSError, ValueError):  # Arrow does not know it either
            raise InputError(f"unknown address ({error}); check it", address) from None
        return library("fsspec.implementations.arrow").ArrowFSWrapper(inner), path


@contextmanager
def open_stream(root: str, path: str) -> Iterator[BinaryIO]:
    """Open a file on the file system of an address and decompress it; other files can be read from any place on."""
    if is_local(root):
        with reading(path) as stream:
            yield stream
        return
    with read_errors(path), filesystem(root)[0].open(path, "rb") as file:
        yield unpacked(file, path) if is_packed(path) else cast(BinaryIO, BufferedReader(file, BUFFER))


@dataclass(frozen=True)
class InputFile:
    """A file of rows."""

    name: str  # relative to the folder or glob
    root: str  # the address of the folder or glob
    path: str  # on the file system of `root`
    size: int
    version: str  # changes when the file does

    def open(self) -> Any:
        """Open the file, inside a `with`."""
        return open_stream(self.root, self.path)

    def refuse_changed(self) -> None:
        """Raise an error if the file is not the one that was listed."""
        with read_errors(self.path):
            info = filesystem(self.root)[0].info(self.path)
        if (info["size"] or 0, version_of(info)) != (self.size, self.version):
            problem = "it was changed after the run began; write to a new folder and start again"
            raise InputError(problem, self.path)


def version_of(info: dict[str, Any]) -> str:
    """Return the version of a file that fsspec has listed."""
    return next((str(info[key]) for key in _VERSIONS if info.get(key) is not None), "")


@dataclass(frozen=True)
class InputFiles:
    """The files of rows by name, and their format."""

    kind: InputKind
    files: tuple[InputFile, ...]
    ignored: int  # files of other formats


def kind_of(name: str) -> InputKind | None:
    """Return the format of a file by its name.

    >>> kind_of("news/2024.jsonl.gz"), kind_of("a.csv")
    ('jsonl', None)
    """
    return KINDS.get(PurePosixPath(name.lower().removesuffix(SUFFIX)).suffix)


def find_input_files(address: str, kind: InputKind | None = None, out: str = "") -> InputFiles:
    """Return the files of one format at an address, except those in the folder `out`, which a run has written.

    If you give `kind` and no name tells a format, all files have that format.
    """
    files = _list_files(address, out)
    kinds = Counter(kind_of(file.name) for file in files)
    del kinds[None]
    if not files or not (kind or kinds):
        raise InputError("no input files; give a file, a folder or a glob of Parquet, JSON Lines or text files,"
                         " and --from if their names do not tell the format", address)  # fmt: skip
    if kind is None and len(kinds) > 1:
        raise InputError(f"there are files of {' and '.join(sorted(map(str, kinds)))}; choose one format with --from"
                         " or a glob", address)  # fmt: skip
    if kind and not kinds:
        return InputFiles(kind, tuple(files), 0)
    kind = kind or next(iter(kinds))
    assert kind
    matching = tuple(file for file in files if kind_of(file.name) == kind)
    if not matching:
        raise InputError(f"there are no {kind} files; drop --from or give another address", address)
    return InputFiles(kind, matching, len(files) - len(matching))


def is_inside(address: str, folder: str) -> bool:
    """Tell whether an address is a folder, or lies in it.

    >>> is_inside("/data/out/a.parquet", "/data/out"), is_inside("/data/outside", "/data/out")
    (True, False)
    """
    if is_local(address) != is_local(folder):
        return False
    return PurePosixPath(filesystem(address)[1]).is_relative_to(filesystem(folder)[1])


def _list_files(address: str, out: str) -> list[InputFile]:
    """Return every visible file at an address that is not in the folder `out`, by name."""
    fs, path = filesystem(address)
    with read_errors(address):
        root = path
        if _WILDCARDS.intersection(path):
            root = path[: min(path.index(sign) for sign in _WILDCARDS.intersection(path))].rpartition("/")[0]
            paths = fs.glob(path)
        elif fs.isfile(path):
            root, paths = str(PurePosixPath(path).parent), [path]
        else:
            paths = fs.find(path)
        if out and is_local(address) == is_local(out):
            written = filesystem(out)[1]
            paths = [path for path in paths if not PurePosixPath(path).is_relative_to(written)]
        with ThreadPoolExecutor(READERS) as pool:  # listings may lack what `info` returns
            infos = [info for info in pool.map(fs.info, paths) if info["type"] == "file"]
    files: list[InputFile] = []
    for info in infos:
        name = info["name"].removeprefix(root).lstrip("/")
        if not any(part.startswith((".", "_")) for part in PurePosixPath(name).parts):
            files.append(InputFile(name, address, info["name"], info["size"] or 0, version_of(info)))
    return sorted(files, key=lambda file: file.name)


@dataclass(frozen=True)
class Folder:
    """The output folder."""

    address: str

    def path(self, name: str) -> str:
        """Return the path of a file on the file system of the folder."""
        return f"{filesystem(self.address)[1].rstrip('/')}/{name}".rstrip("/")

    def sizes(self, inside: str = "") -> dict[str, int]:
        """Return the sizes of the files directly in the folder, or in one of its folders."""
        fs = filesystem(self.address)[0]
        fs.invalidate_cache()
        try:
            infos = fs.ls(self.path(inside), detail=True)
        except FileNotFoundError:
            return {}
        return {PurePosixPath(info["name"]).name: int(info["size"]) for info in infos if info["type"] == "file"}

    def open(self, name: str) -> Any:
        """Open a file, inside a `with`."""
        return open_stream(self.address, self.path(name))

    def remove_leftovers(self, *folders: str) -> None:
        """Remove the hidden files that killed workers of this machine left in some of its folders."""
        for inside in folders if is_local(self.address) else ():
            remove_leftovers(Path(self.path(inside)))

    def read(self, name: str) -> bytes:
        """Return the content of a small file."""
        with self.open(name) as stream:
            return cast(bytes, stream.read())

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        with self.writing(name) as stream:
            stream.write(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a stream that becomes the file when the block ends without an error."""
        path = self.path(name)
        if is_local(self.address):
            with write_errors(path):
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            with writing_bytes(Path(path)) as stream:
                yield stream
            return
        with new_part(Path(gettempdir())) as part:
            with part.open("wb") as stream:
                yield stream
            with write_errors(path):
                fs = filesystem(self.address)[0]
                fs.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
                fs.put_file(str(part), path)  # one call, so that the file becomes visible as a whole
