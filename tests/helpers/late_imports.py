"""Libraries that few tests need and that take a second to import; each is imported on first use.

Every process collects all tests, and most processes run none of these.
"""

from importlib import import_module
from typing import Any

import pytest


class Late:
    """A module by its name; tests that use it are skipped if its library is not installed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith(("_", "pytest")):  # which pytest asks of everything that it finds in a module
            raise AttributeError(attribute)
        pytest.importorskip(self.name.partition(".")[0])
        return getattr(import_module(self.name), attribute)


datasets = Late("datasets")
schemathesis = Late("schemathesis")
