"""The splits of a corpus that lies in a folder: which of its files are train, dev and test."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from nestag.errors import InputError
from nestag.files import PIPE

Split = Literal["train", "dev", "test"]

SPLITS: tuple[Split, ...] = get_args(Split)

ROLES = {
    "train": ("train", "training"),
    "dev": ("dev", "devel", "development", "valid", "validation", "val"),
    "test": ("test", "testing"),
}
"""What the splits are called, and the names of files that are taken for them."""


def splits_in(path: str, remedy: str = "say which with --{role}") -> dict[str, str]:
    """The files of a folder that are called train, dev or test, whatever their suffix; none if it is no folder."""
    if path == PIPE or not Path(path).is_dir():
        return {}
    found: dict[str, str] = {}
    for child in sorted(Path(path).iterdir()):
        role = role_of(child)
        if role in found:
            raise InputError(
                f"both {Path(found[role]).name} and {child.name} could be its {role} split; {remedy.format(role=role)}",
                path,
            )
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
