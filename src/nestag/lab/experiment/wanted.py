"""What a grid asks for: its runs by name, kept in the folder of its experiment.

So what is missing is known wherever the folder is, also where the files that the grid names are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from nestag.errors import InputError
from nestag.files import writing
from nestag.lab.experiment.result import Key

WANTED = "wanted.json"


def write_wanted(keys: Iterable[Key], root: Path) -> None:
    """Save the runs of a grid; those of the grid before are forgotten."""
    with writing(root / WANTED) as stream:
        stream.write(json.dumps([key._asdict() for key in keys], indent=1) + "\n")


def read_wanted(root: Path) -> list[Key]:
    """The runs of the last grid, or none if nobody wrote them down."""
    file = root / WANTED
    if not file.exists():
        return []
    try:
        return [Key(**record) for record in json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"not a list of runs ({error}); delete it and run the experiment again", str(file)) from None
