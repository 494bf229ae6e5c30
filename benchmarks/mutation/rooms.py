"""The rooms: groups of modules and their tests."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LAST = ROOT / "build" / "mutants"
"""The folder for results between runs."""


class Room(NamedTuple):
    """Modules under src/nestag, and the tests that should find their faults, in addition to doctests."""

    modules: str
    tests: str

    def paths(self) -> list[Path]:
        """Return every module."""
        found = (ROOT / "src/nestag" / name for name in self.modules.split())
        return sorted(path for one in found for path in (one.rglob("*.py") if one.is_dir() else [one]))


ROOMS = {
    "encodings": Room("encodings", "tests/encodings"),
    "decoding": Room("decoding", "tests/decoding"),
    "evaluation": Room("evaluation", "tests/evaluation"),
    "windows": Room("model/windows.py", "tests/model/test_windows.py"),
    "optimization": Room("training/optimization.py", "tests/training/test_optimizer.py"),
    "calibration": Room("training/calibration.py", "tests/training/test_calibration.py"),
}
