"""The processes of a local cluster of Ray, as tests find and kill them."""

from __future__ import annotations

from pathlib import Path


class Workers:
    """The processes of a cluster that tag."""

    def __init__(self, address: str, mark: str) -> None:
        self.address, self.mark = address, mark.encode()

    def pids(self) -> list[int]:
        """The processes of its workers that are alive now."""
        return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and self._is_worker(path)]

    def _is_worker(self, path: Path) -> bool:
        try:
            return b"MapWorker" in (path / "cmdline").read_bytes() and self.mark in (path / "environ").read_bytes()
        except OSError:  # gone already
            return False
