"""The rooms whose tests are tried, and where they lie."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LAST = ROOT / "build" / "mutants"
"""Where results are kept between runs."""


class Room(NamedTuple):
    """Modules under src/nestag, and the tests that should notice their faults, doctests included."""

    modules: str
    tests: str

    def paths(self) -> list[Path]:
        """Every module."""
        found = (ROOT / "src/nestag" / name for name in self.modules.split())
        return sorted(path for one in found for path in (one.rglob("*.py") if one.is_dir() else [one]))


ROOMS = {
    "encodings": Room("encodings", "tests/encodings"),
    "decoding": Room("decoding", "tests/decoding"),
    "evaluation": Room("evaluation", "tests/evaluation"),
    "windows": Room("model/subwords/windows.py", "tests/model/subwords/test_windows.py"),
    "optimizer": Room("training/optimizer.py", "tests/training/test_optimizer.py"),
    "average": Room("training/average.py", "tests/training/test_average.py"),
    "calibration": Room("training/calibration.py", "tests/training/test_calibration.py"),
}
