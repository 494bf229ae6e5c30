"""Writing: a file, a folder, or several files together, whole or not at all.

Pipes and devices, which cannot be replaced, are written as the bytes come. A new folder takes its place by one rename.
Files are replaced in two steps: all old ones are moved away, then all new ones come. A process that dies in between
leaves a missing file, which readers report, and never old files among new ones.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, cast

from nestag.errors import InputError
from nestag.formats.files.parts import REPLACED, new_part, remove_leftovers
from nestag.formats.files.sources import PIPE, descriptor_of, is_packed, packing, refuse_empty

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NEW = "new"


@contextmanager
def writing_folder(path: str | Path) -> Iterator[Path]:
    """A folder to write into that becomes `path` when the block ends well; otherwise nothing changes.

    A folder that has something in it is never replaced. Folders above it are made.
    """
    if str(path) == PIPE or descriptor_of(path) is not None:
        raise InputError("a folder cannot go through a pipe; name one", str(path))
    target = Path(os.path.realpath(path))
    with explained(path):
        if target.is_dir():
            remove_leftovers(target)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InputError("is there already; remove it, or write to a new folder", str(path))
        with _made(target.parent), new_part(target.parent, is_folder=True) as part, _shown_as(part, path):
            yield part
            sync_tree(part)
            if os.name == "nt" and target.exists():  # elsewhere an empty folder is replaced in one step
                target.rmdir()
            part.replace(target)
        sync_folder(target.parent)


@contextmanager
def writing_together(folder: str | Path, stale: Iterable[str] = ()) -> Iterator[Path]:
    """A folder to write into; when the block ends well, all that is in it takes its place in `folder`.

    Files replace files of their names, folders only what is empty or missing. `stale` names files of `folder` that are
    removed, unless they were written again. If anything fails, all old files are put back.
    """
    refuse_empty(folder)
    target = Path(os.path.realpath(folder))
    with explained(folder), _made(target), new_part(target, is_folder=True) as part:
        new, old = part / _NEW, part / REPLACED
        new.mkdir()
        old.mkdir()
        with _shown_as(new, folder):
            yield new
            names = sorted(source.name for source in new.iterdir())
            for name in names:
                _prepare(new / name, target / name)
            sync_tree(part)
            leaving = [name for name in {*names, *stale} if os.path.lexists(target / name)]
            with _moved(leaving, target, old), _moved(names, new, target):
                pass


@contextmanager
def explained(path: str | Path) -> Iterator[None]:
    """Turn write errors into an InputError, except a broken pipe: there the reader wants no more."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", str(path)
        ) from None


def sync_folder(folder: Path) -> None:
    """See that names given or taken away in a folder are on the disk."""
    if os.name == "nt":  # where folders cannot be opened
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_tree(folder: Path) -> None:
    """See that a folder with all that is in it is on the disk."""
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.is_symlink():
            sync_tree(inside)
        elif not inside.is_symlink():
            with open(inside, "rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; if the block fails, those that were made are removed."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for made in missing:
            with suppress(OSError):
                made.rmdir()
        raise


@contextmanager
def _shown_as(part: Path, shown: str | Path) -> Iterator[None]:
    """Let errors name a folder as the user does."""
    try:
        yield
    except InputError as error:
        for hidden, known in ((f"{part}{os.sep}", str(Path(shown, "_"))[:-1]), (str(part), str(shown))):
            error.args = tuple(str(arg).replace(hidden, known) for arg in error.args)
            error.source = error.source.replace(hidden, known)
        raise


def _prepare(source: Path, place: Path) -> None:
    """Give a file the rights of the one it replaces; refuse to replace what is neither a file nor an empty folder."""
    if not os.path.lexists(place):
        return
    if source.is_dir():
        if not place.is_dir() or any(place.iterdir()):
            raise InputError("is there already; remove it, or write to a new folder", str(place))
    elif place.is_file():
        source.chmod(stat.S_IMODE(place.stat().st_mode))
    elif not place.is_symlink():
        raise InputError("is there already and not a file; remove it, or write elsewhere", str(place))


@contextmanager
def _moved(names: Iterable[str], source: Path, target: Path) -> Iterator[None]:
    """Move files from one folder to another; if that or the block fails, move them back."""
    begun: list[str] = []
    try:
        for name in names:
            begun.append(name)
            (source / name).replace(target / name)
        for folder in (source, target):
            sync_folder(folder)
        yield
    except BaseException:
        for name in begun:
            with suppress(FileNotFoundError):  # the move that failed
                (target / name).replace(source / name)
        raise


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 text stream that becomes the file when the block ends well; otherwise nothing changes."""
    with writing_bytes(path) as file:
        text = io.TextIOWrapper(cast(IO[bytes], _Kept(file)), encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.flush()


@contextmanager
def writing_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """The same for bytes; `.gz` packs them."""
    with explained(path), _opened(path) as file, packing(file) if is_packed(str(path)) else nullcontext(file) as stream:
        yield stream


class _Kept(io.BufferedIOBase):
    """A file that stays open when the text over it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        return self.file.write(data)

    def close(self) -> None:
        """Leave that to whoever opened it."""


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    number = descriptor_of(path)
    target = Path(os.path.realpath(path))
    if str(path) == PIPE:
        with _standard_output() as stream:
            yield stream
    elif number is not None:
        with _descriptor(number) as stream:
            yield stream
    elif target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
    else:
        with _replacing(target, path) as stream:
            yield stream


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None or sys.stdout.closed:
        raise OSError(errno.EBADF, "the standard output is closed")
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _descriptor(number: int) -> Iterator[IO[bytes]]:
    """An open file, written from where it stands; what was printed before comes first."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    with os.fdopen(os.dup(number), "wb") as file:
        yield file


@contextmanager
def _replacing(target: Path, shown: str | Path) -> Iterator[IO[bytes]]:
    """A file beside the target that takes its place when the block ends well; the target's rights are kept."""
    with new_part(target.parent) as part:
        with io.BufferedWriter(_Named(part, shown)) as file:
            yield file
            file.flush()
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        part.replace(target)
    sync_folder(target.parent)


class _Named(io.FileIO):
    """A file whose errors name it, whichever other files are being written at the same time."""

    def __init__(self, path: Path, shown: str | Path) -> None:
        super().__init__(path, "wb")
        self.shown = shown

    def write(self, data: ReadableBuffer, /) -> int:
        with explained(self.shown):
            return super().write(data)
