"""Modules are searched for doctests only if they hold any: importing the others would take seconds."""

from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules without doctests."""
    return True if collection_path.suffix == ".py" and ">>>" not in collection_path.read_text() else None
