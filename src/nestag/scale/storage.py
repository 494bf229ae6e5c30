"""Storage: files on this machine or on object stores, read in pieces and written whole or not at all.

Paths on this machine go through `nestag.files`. Addresses such as s3://bucket/folder go through fsspec or, where it
has nothing for them, through Arrow's filesystems; a file is uploaded by one call, after which object stores show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import IO, Any, BinaryIO, cast

from nestag.errors import InputError, MissingExtraError
from nestag.files import is_leftover, reading, writing_bytes
from nestag.files.packed import is_packed, unpacked
from nestag.files.sources import explained_reading

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
        with NamedTemporaryFile() as spool:
            yield spool
            spool.flush()
            fs, path = filesystem(self.at(name))
            with writable(self.at(name)):
                fs.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
                fs.put_file(spool.name, path)

    def leftovers(self) -> list[Path]:
        """What killed processes had begun to write; object stores show nothing of such files."""
        folder = local_path(self.address)
        return [] if folder is None else [path for path in Path(folder).rglob(".nestag-*.part") if is_leftover(path)]


@contextmanager
def writable(address: str) -> Iterator[None]:
    """What keeps a file from being written, as an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", address
        ) from None
