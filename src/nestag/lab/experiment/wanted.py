"""What a grid asks for: its runs by name, kept in the folder of its experiment.

Missing runs are thus known even where the corpora of the grid are not available.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nestag.lab.experiment.records import read_json, record_from, write_json
from nestag.lab.experiment.result import Key

WANTED = "wanted.json"


@dataclass(frozen=True)
class _GridFile:
    """The file."""

    runs: tuple[Key, ...]


def write_wanted(keys: Iterable[Key], root: Path) -> None:
    """Save the runs of a grid, replacing those of the previous one."""
    write_json([key._asdict() for key in keys], root / WANTED, indent=1)


def read_wanted(root: Path) -> list[Key]:
    """The runs of the last grid, or none if there is no such file."""
    file = root / WANTED
    if not file.exists():
        return []
    what, remedy = "a list of runs", "delete it and run the experiment again"
    return list(record_from(_GridFile, {"runs": read_json(file, what, remedy)}, file, what, remedy).runs)
