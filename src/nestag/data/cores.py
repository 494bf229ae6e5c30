"""How many cores this process may use: its affinity, and the CPU limit of its container."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""Where Linux keeps the limits of a container."""


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(own, cpu_limit(CGROUP) or own))


def cpu_limit(cgroup: Path) -> int | None:
    """Return the cores that a container may use, None without a limit; both versions of cgroups have a file for it."""
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota, period = ((cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        except OSError:
            return None
    try:
        return ceil(int(quota) / int(period)) if int(quota) > 0 else None
    except (ValueError, ZeroDivisionError):  # "max"
        return None
