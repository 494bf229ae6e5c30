"""Storage: input files, and files on this machine or on object stores, read in pieces and written whole or not at all.

Paths on this machine go through `nestag.formats.files`. Addresses such as s3://bucket/folder go through fsspec or,
where it has nothing for them, through Arrow's filesystems. A file is uploaded by one call and visible after it.
Inputs are a file, a folder with everything below it, or a glob. Names that begin with a dot or an underscore are not
data, as in Spark and Hive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader
from pathlib import Path, PurePosixPath
from tempfile import gettempdir
from typing import IO, Any, BinaryIO, Literal, cast

from nestag.errors import InputError, MissingExtraError
from nestag.formats.files import is_part, new_part, reading, remove_if_dead, writing_bytes
from nestag.formats.files.sources import SUFFIX, explained_reading, is_packed, unpacked

InputKind = Literal["parquet", "jsonl", "text"]
"""Formats of input files."""

BUFFER = 2**20
"""Bytes that are fetched at once."""

_LOCAL = "file://"
_VERSIONS = ("ETag", "etag", "md5Hash", "generation", "LastModified", "last_modified", "mtime", "modified", "created")
"""What filesystems call the thing that changes when a file does, the best first."""


@dataclass(frozen=True)
class Stored:
    """A file as a listing shows it."""

    path: str  # without the protocol
    size: int
    version: str  # changes when the file does


def library(name: str) -> Any:
    """A library of the extra `ray`, imported when it is needed."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"tagging on a cluster needs {name.partition('.')[0]}", "ray") from None


def local_path(address: str) -> str | None:
    """The path on this machine that an address means, None if it is elsewhere.

    >>> local_path("data/a.parquet"), local_path("file:///data"), local_path("s3://bucket/a.parquet")
    ('data/a.parquet', '/data', None)
    """
    if address.startswith(_LOCAL):
        return address.removeprefix(_LOCAL)
    return None if "://" in address else address


def filesystem(address: str) -> tuple[Any, str]:
    """The fsspec filesystem of an address, and the path there."""
    try:
        return cast(tuple[Any, str], library("fsspec.core").url_to_fs(address))
    except (ImportError, ValueError) as error:
        if isinstance(error, MissingExtraError):
            raise
        try:
            inner, path = library("pyarrow.fs").FileSystem.from_uri(address)
        except (OSError, ValueError):  # Arrow does not know it either
            raise InputError(f"cannot be reached ({error}); check the address", address) from None
        return library("fsspec.implementations.arrow").ArrowFSWrapper(inner), path


def address_at(path: str, like: str, fs: Any, known: str) -> str:
    """The address of a path on the filesystem of another address, whose own path there is known.

    Arrow's addresses say more than a path: a host, or after a question mark where an object store is.

    >>> address_at("/in/a.txt", "hdfs://host:9000/in", None, "/in")
    'hdfs://host:9000/in/a.txt'
    >>> address_at("bucket/in/a.txt", "s3://bucket/in/?region=here", None, "bucket/in")
    's3://bucket/in/a.txt?region=here'
    """
    if local_path(like) is not None:
        return path
    for base, mark, query in ((like, "", ""), like.partition("?")):
        if base.rstrip("/").endswith(known.rstrip("/")):
            return base.rstrip("/").removesuffix(known.rstrip("/")) + path + mark + query
    return str(fs.unstrip_protocol(path))


def stored(info: dict[str, Any]) -> Stored:
    """A file of a listing of fsspec."""
    version = next((str(info[key]) for key in _VERSIONS if info.get(key) is not None), "")
    return Stored(str(info["name"]), int(info["size"] or 0), version)


def status(address: str) -> Stored:
    """A file as it is now."""
    fs, path = filesystem(address)
    with explained_reading(address):
        return stored(fs.info(path))


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked; one that is not packed can be read from any place on."""
    if (path := local_path(address)) is not None:
        with reading(path) as stream:
            yield stream
        return
    fs, path = filesystem(address)
    with explained_reading(address), fs.open(path, "rb") as file:
        yield unpacked(file, address) if is_packed(path) else cast(BinaryIO, BufferedReader(file, BUFFER))


@dataclass(frozen=True)
class Folder:
    """A folder that is written to."""

    address: str

    def at(self, name: str) -> str:
        """The address of a file in it."""
        base, mark, query = (self.address, "", "") if local_path(self.address) else self.address.partition("?")
        return f"{base.rstrip('/')}/{name}{mark}{query}"

    def sizes(self, inside: str = "") -> dict[str, int]:
        """The files directly in it, or in a folder of it, with their sizes."""
        fs, path = filesystem(self.at(inside) if inside else self.address)
        fs.invalidate_cache()
        try:
            listed = fs.ls(path, detail=True)
        except FileNotFoundError:
            return {}
        files = (stored(info) for info in listed if info["type"] == "file")
        return {PurePosixPath(file.path).name: file.size for file in files}

    def read(self, name: str) -> bytes:
        """The content of a small file."""
        with opened(self.at(name)) as stream:
            return stream.read()

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        with self.writing(name) as stream:
            stream.write(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A stream that becomes the file when the block ends well; otherwise nothing changes."""
        if (folder := local_path(self.address)) is not None:
            place = Path(folder, name)
            with writable(str(place)):
                place.parent.mkdir(parents=True, exist_ok=True)
            with writing_bytes(place) as stream:
                yield stream
            return
        with new_part(Path(gettempdir())) as part:
            with part.open("wb") as spool:
                yield spool
            fs, path = filesystem(self.at(name))
            with writable(self.at(name)):
                fs.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
                fs.put_file(str(part), path)

    def parts(self) -> list[Path]:
        """What is being written, or was when its process was killed; object stores show nothing of such files."""
        folder = local_path(self.address)
        return [] if folder is None else [path for path in Path(folder).rglob(".nestag-*") if is_part(path)]

    def remove_leftovers(self, before: Sequence[Path]) -> None:
        """Remove what killed processes had begun to write; of those on other machines, what was there `before`."""
        for part in self.parts():
            remove_if_dead(part, elsewhere=part in before)


@contextmanager
def writable(address: str) -> Iterator[None]:
    """What keeps a file from being written, as an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", address
        ) from None


KINDS: dict[str, InputKind] = {
    ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "text", ".text": "text",
}  # fmt: skip
READERS = 16
"""Threads that read small files, footers or listings."""

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
