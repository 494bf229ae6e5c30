"""The splits of a corpus that lies in a folder: which of its files are train, dev and test."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from nestag.arguments import either
from nestag.errors import InputError
from nestag.files import is_stream

Split = Literal["train", "dev", "test"]

SPLITS: tuple[Split, ...] = get_args(Split)

ROLES = {
    "train": ("train", "training"),
    "dev": ("dev", "devel", "development", "valid", "validation", "val"),
    "test": ("test", "testing"),
}
"""What the splits are called, and the names of files that are taken for them."""


def splits_in(path: str, remedy: str = "") -> dict[str, str]:
    """The files of a folder that are called train, dev or test, whatever their suffix; none if it is no folder."""
    if is_stream(path) or not Path(path).is_dir():
        return {}
    found: dict[str, str] = {}
    for child in sorted(Path(path).iterdir()):
        role = role_of(child)
        if role in found:
            which = remedy.format(role=role) or f"say which with {either('its own path', f'--{role}')}"
            raise InputError(f"both {Path(found[role]).name} and {child.name} could be its {role} split; {which}", path)
        if role:
            found[role] = str(child)
    return {role: found[role] for role in ROLES if role in found}


def role_of(path: Path) -> str | None:
    """The split that a file is by its name.

    >>> role_of(Path("genia/dev.jsonl.gz")), role_of(Path("LICENSE"))
    ('dev', None)
    """
    stem = path.name.split(".")[0].lower()
    return next((role for role, names in ROLES.items() if stem in names), None)
