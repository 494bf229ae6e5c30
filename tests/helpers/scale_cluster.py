"""Find and kill the processes of a local Ray cluster."""

from __future__ import annotations

from pathlib import Path


class Workers:
    """The processes of a cluster that tag."""

    def __init__(self, address: str, mark: str) -> None:
        self.address, self.mark = address, mark.encode()

    def pids(self, method: str = "") -> list[int]:
        """Return the worker processes that are alive now, or only those in a method."""
        title = f"PartTagger.{method}" if method else "PartTagger"
        paths = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [int(path.name) for path in paths if self._is_worker(path, title.encode())]

    def _is_worker(self, path: Path, title: bytes) -> bool:
        try:
            return title in (path / "cmdline").read_bytes() and self.mark in (path / "environ").read_bytes()
        except OSError:  # gone already
            return False
