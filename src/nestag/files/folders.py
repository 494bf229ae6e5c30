"""Folders written whole or not at all, and several files that take their places together.

    .nestag-1f2e3d4c.part/   what is being written; if the process dies it counts for nothing
    .nestag.moving/          whole and on the disk: its files are about to take their places

The one rename from the first name to the second decides. If the process dies after it, whoever next opens a file of the
folder moves the rest (`finish_moves`), so that everybody finds all of the old files or all of the new ones. Only names
directly in the folder are moved or removed: a folder from a stranger can change nothing outside itself.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nestag.errors import InputError
from nestag.files.paths import PIPE, descriptor_of, refuse_empty

MOVING = ".nestag.moving"
_NEW = "new"
_STALE = "stale.json"
_ATTEMPTS = 10


@contextmanager
def writing_folder(path: str | Path) -> Iterator[Path]:
    """A folder to write into that becomes `path` when the block ends well; otherwise nothing changes.

    A folder that has something in it is never replaced. Folders above it are made.
    """
    if str(path) == PIPE or descriptor_of(path) is not None:
        raise InputError("a folder cannot go through a pipe; name one", str(path))
    target = Path(os.path.realpath(path))
    with explained(path):
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InputError("is there already; remove it, or write to a new folder", str(path))
        with _made(target.parent), _staged(target.parent, path) as part:
            yield part
            sync_tree(part)
            if os.name == "nt" and target.exists():  # elsewhere an empty folder is replaced in one step
                target.rmdir()
            part.replace(target)
        sync_folder(target.parent)


@contextmanager
def writing_together(folder: str | Path, stale: Iterable[str] = ()) -> Iterator[Path]:
    """A folder to write into; when the block ends well, all that is in it takes its place in `folder` together.

    Files replace files of their names, folders only what is empty or missing. `stale` names files of `folder` that go
    away at the same moment, unless they were written again.
    """
    refuse_empty(folder)
    target = Path(os.path.realpath(folder))
    with explained(folder), _made(target):
        finish_moves(target)
        with _staged(target, folder) as part:
            (part / _NEW).mkdir()
            yield part / _NEW
            written = sorted((part / _NEW).iterdir())
            for source in written:
                _prepare(source, target / source.name)
            gone = sorted(set(stale) - {source.name for source in written})
            (part / _STALE).write_text(json.dumps(gone), encoding="utf-8")
            sync_tree(part)
            _decide(part, target)
        finish_moves(target)


def finish_moves(folder: Path) -> None:
    """Complete the moves into a folder that a killed process had committed to; usually there are none."""
    moving = folder / MOVING
    if not moving.is_dir() or moving.is_symlink() or (moving / _NEW).is_symlink():  # a link may lead to other people's
        return
    try:
        for source in sorted((moving / _NEW).iterdir()) if (moving / _NEW).exists() else ():
            with suppress(FileNotFoundError):  # another process may be finishing it too
                source.replace(folder / source.name)
        for name in _stale_names(moving):
            (folder / name).unlink(missing_ok=True)
        sync_folder(folder)
        (moving / _STALE).unlink(missing_ok=True)
        for left in (moving / _NEW, moving):
            with suppress(OSError):  # another process may have removed it, or decided on something new
                left.rmdir()
        sync_folder(folder)
    except OSError as error:
        raise InputError(
            "files were being replaced here when a process died, and that cannot be finished"
            f" ({error.strerror or error}); move the files in {MOVING}/{_NEW} up and remove {MOVING}",
            str(folder),
        ) from None


def is_leftover(path: Path) -> bool:
    """Whether this is what a killed process had begun to write, or what another one is writing."""
    return path.match(".nestag-*.part")


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes had begun to write into a folder; only for who knows that nobody else writes there.

    Processes that end in any other way, also by SIGTERM, leave nothing behind.
    """
    for part in filter(is_leftover, folder.iterdir()):
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


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


def new_name() -> str:
    """A hidden name for something that is being written."""
    return f".nestag-{secrets.token_hex(4)}.part"


def sync_folder(folder: Path) -> None:
    """See that names given or taken away in a folder are on the disk."""
    if os.name == "nt":  # where folders cannot be opened
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


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
def _staged(parent: Path, shown: str | Path) -> Iterator[Path]:
    """A new folder in another, removed if the block fails; errors name the folder that the user knows."""
    part = parent / new_name()
    try:
        part.mkdir()
        yield part
    except InputError as error:
        for name in (part / _NEW, part):
            error.args = tuple(str(arg).replace(str(name), str(shown)) for arg in error.args)
            error.source = error.source.replace(str(name), str(shown))
        raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


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


def _decide(part: Path, target: Path) -> None:
    """The one rename after which the new files count; what others decided before is finished first."""
    for attempts_left in reversed(range(_ATTEMPTS)):
        finish_moves(target)
        try:
            part.rename(target / MOVING)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY) or not attempts_left:
                raise
        else:
            sync_folder(target)
            return


def _stale_names(moving: Path) -> list[str]:
    """The files to remove; only plain names count, whoever wrote the list."""
    try:
        names = json.loads((moving / _STALE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return []
    names = names if isinstance(names, list) else []
    return [name for name in names if isinstance(name, str) and name == Path(name).name and name not in ("", "..")]


def sync_tree(folder: Path) -> None:
    """See that a folder with all that is in it is on the disk."""
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.is_symlink():
            sync_tree(inside)
        elif not inside.is_symlink():
            with open(inside, "rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)
