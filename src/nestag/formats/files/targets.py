"""Writing: a file, a folder, or several files together, all or nothing.

Pipes and devices, which cannot be replaced, are written directly. A new folder takes its place by one rename. Several
files are replaced in two steps: first all old ones are moved away, then all new ones come. A process that dies in
between leaves missing files, which readers report, and never a mixture of old and new files.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from encodings import utf_8
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, cast

from nestag.errors import InputError
from nestag.formats.files.parts import REPLACED, new_part, remove_leftovers
from nestag.formats.files.sources import PIPE, descriptor_of, is_packed, refuse_impossible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_EXISTS = "is there already; remove it, or write elsewhere"


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 text stream that becomes the file if the block succeeds; otherwise nothing changes."""
    with writing_bytes(path) as file:
        yield cast(TextIO, _Utf8Writer(file))


@contextmanager
def writing_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Do the same for bytes; `.gz` packs them, without the time, so that equal content gives equal bytes."""
    with write_errors(path), _open_bytes(path) as file:
        if not is_packed(str(path)):
            yield file
            return
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as stream:
            yield cast(IO[bytes], stream)


@contextmanager
def writing_folder(path: str | Path) -> Iterator[Path]:
    """Open a folder that becomes `path` if the block succeeds; otherwise nothing changes.

    Missing folders above it are made. A folder that is not empty is never replaced.
    """
    if str(path) == PIPE or descriptor_of(path) is not None:
        raise InputError("a folder cannot go through a pipe; name one", str(path))
    target = Path(os.path.realpath(path))
    with write_errors(path):
        if target.is_dir():
            remove_leftovers(target)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InputError(_EXISTS, str(path))
        with _make_folder(target.parent), new_part(target.parent, is_folder=True) as part, _name_in_errors(part, path):
            yield part
            sync_tree(part)
            if os.name == "nt" and target.exists():  # elsewhere an empty folder is replaced in one step
                target.rmdir()
            part.replace(target)
        _sync_folder(target.parent)


@contextmanager
def writing_together(folder: str | Path, stale: Iterable[str] = ()) -> Iterator[Path]:
    """Open a folder; its files move to `folder` if the block succeeds.

    Files replace files of the same name, folders only what is empty or missing. `stale` names files of `folder` to
    remove unless they were written again. If anything fails, all old files are put back.
    """
    refuse_impossible(folder)
    target = Path(os.path.realpath(folder))
    with write_errors(folder), _make_folder(target), new_part(target, is_folder=True) as part:
        new, old = part / "new", part / REPLACED
        new.mkdir()
        old.mkdir()
        with _name_in_errors(new, folder):
            yield new
            names = sorted(source.name for source in new.iterdir())
            for name in names:
                _prepare(new / name, target / name)
            sync_tree(part)
            replaced = [name for name in {*names, *stale} if os.path.lexists(target / name)]
            with _move(replaced, target, old), _move(names, new, target):
                pass


@contextmanager
def temporary_text() -> Iterator[TextIO]:
    """Open a text file to write and read again; it has no name, so it is gone at the end of the block."""
    with write_errors(tempfile.gettempdir()), tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def write_errors(path: str | Path) -> Iterator[None]:
    """Turn write errors into an InputError, except a broken pipe: its reader wants no more."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", str(path)
        ) from None


def sync_tree(folder: Path) -> None:
    """Flush a folder and everything in it to the disk."""
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.is_symlink():
            sync_tree(inside)
        elif not inside.is_symlink():
            with open(inside, "rb") as file:
                os.fsync(file.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # where folders cannot be opened
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def _make_folder(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; if the block fails, remove those that were made."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in new:
            with suppress(OSError):
                path.rmdir()
        raise


@contextmanager
def _name_in_errors(part: Path, name: str | Path) -> Iterator[None]:
    """Make errors name a folder as the user does."""
    try:
        yield
    except InputError as error:
        for hidden, visible in ((f"{part}{os.sep}", str(Path(name, "_"))[:-1]), (str(part), str(name))):
            error.args = tuple(str(arg).replace(hidden, visible) for arg in error.args)
            error.source = error.source.replace(hidden, visible)
        raise


def _prepare(source: Path, place: Path) -> None:
    """Give a file the rights of the one it replaces; refuse to replace anything but files and empty folders."""
    if not os.path.lexists(place):
        return
    if source.is_dir():
        if not place.is_dir() or any(place.iterdir()):
            raise InputError(_EXISTS, str(place))
    elif place.is_file():
        source.chmod(stat.S_IMODE(place.stat().st_mode))
    elif not place.is_symlink():
        raise InputError(_EXISTS, str(place))


@contextmanager
def _move(names: Iterable[str], source: Path, target: Path) -> Iterator[None]:
    """Move files from one folder to another; if that or the block fails, move them back."""
    started: list[str] = []
    try:
        for name in names:
            started.append(name)
            (source / name).replace(target / name)
        for folder in (source, target):
            _sync_folder(folder)
        yield
    except BaseException:
        for name in started:
            with suppress(FileNotFoundError):  # the move that failed
                (target / name).replace(source / name)
        raise


@contextmanager
def _open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    number = descriptor_of(path)
    target = Path(os.path.realpath(path))
    if str(path) == PIPE:
        if sys.stdout is None or sys.stdout.closed:
            raise OSError(errno.EBADF, "the standard output is closed")
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif number is not None:
        for standard in (sys.stdout, sys.stderr):  # earlier output comes first
            if standard is not None and not standard.closed:
                standard.flush()
        with os.fdopen(os.dup(number), "wb") as stream:
            yield stream
    elif target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
    else:
        with _replace_file(target, path) as stream:
            yield stream


@contextmanager
def _replace_file(target: Path, name: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the target's place and rights if the block succeeds."""
    with new_part(target.parent) as part:
        with io.BufferedWriter(_NamedFile(part, name)) as file:
            yield file
            file.flush()
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        part.replace(target)
    _sync_folder(target.parent)


class _NamedFile(io.FileIO):
    """A file with its name in its errors, even if other files are being written at the same time."""

    def __init__(self, path: Path, name: str | Path) -> None:
        super().__init__(path, "wb")
        self.name_in_errors = name

    def write(self, data: ReadableBuffer, /) -> int:
        with write_errors(self.name_in_errors):
            return super().write(data)


class _Utf8Writer(utf_8.StreamWriter):
    """Text as UTF-8 in a stream of bytes, which stays open."""

    def writelines(self, texts: Iterable[str]) -> None:
        """Write one text after the other; the inherited method would keep all of them in memory."""
        for text in texts:
            self.write(text)
