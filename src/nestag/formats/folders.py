"""Folders: which files of a corpus are train, dev and test, and which are read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from nestag.data.report import Report
from nestag.errors import InputError, either
from nestag.formats.files import is_stream

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
ROLES = {
    "train": ("train", "training"),
    "dev": ("dev", "devel", "development", "valid", "validation", "val"),
    "test": ("test", "testing"),
}
"""The splits and the names of their files."""


def splits_in(path: str, remedy: str = "") -> dict[str, str]:
    """Return the files of a folder that are called train, dev or test, with any suffix."""
    if is_stream(path) or not Path(path).is_dir():
        return {}
    splits: dict[str, str] = {}
    for child in sorted(Path(path).iterdir()):
        role = role_of(child)
        if role in splits:
            which = remedy.format(role=role) or f"say which with {either('its own path', f'--{role}')}"
            raise InputError(
                f"both {Path(splits[role]).name} and {child.name} could be its {role} split; {which}", path
            )
        if role:
            splits[role] = str(child)
    return {role: splits[role] for role in ROLES if role in splits}


def role_of(path: Path) -> str | None:
    """Return the split that a file is by its name.

    >>> role_of(Path("genia/dev.jsonl.gz")), role_of(Path("LICENSE"))
    ('dev', None)
    """
    return next((role for role, names in ROLES.items() if path.name.split(".")[0].lower() in names), None)


def stem_of(path: str | Path) -> str:
    """Return the name of a file up to its first dot.

    >>> stem_of("news/a.jsonl.gz")
    'a'
    """
    return as_text(Path(path).name.split(".")[0])


def as_text(name: str) -> str:
    """Return a file's name, whose bytes need not be UTF-8, as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def visible_files(folder: Path) -> list[Path]:
    """Return every file in a folder, at any depth, except hidden ones, such as temporary files."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def files_of_one_format(folder: Path, suffixes: tuple[str, ...], report: Report) -> list[Path]:
    """Return the files of a folder with a suffix of their format, or else all, and note which are read."""
    there = visible_files(folder)
    files = [file for file in there if file.name.lower().removesuffix(".gz").endswith(suffixes or "/")] or there
    if not files:
        raise InputError("there is no file in the folder; check the path", str(folder))
    splits = {role: file for file in files if (role := role_of(file))}
    if len(splits) > 1:
        names = ", ".join(str(file) for file in splits.values())
        raise InputError(f"it holds several splits; name one, such as {names}", str(folder))
    ignored = [file.name for file in there if file not in files]
    report.note(f"{folder}: {len(files):,} files read" + (f"; ignored: {', '.join(ignored[:3])}" if ignored else ""))
    return files
