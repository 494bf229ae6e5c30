"""Run the tests of a room against its mutants.

Tests run in a fork of a process that has imported everything they need, so a mutant takes seconds.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from mutation.drawing import Mutant
from mutation.rooms import LAST, ROOMS, ROOT

EXAMPLES = 20
"""Examples of a property test."""
CPU_SECONDS, SECONDS, MEMORY = 90, 600, 12 * 2**30
"""Limits for the tests of one mutant; a mutant over a limit counts as killed."""


class Bench:
    """Copies of the project, one for each job, to test mutants in."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.free = [folder / str(number) for number in range(jobs)]
        self.busy: dict[int, tuple[Path, Mutant]] = {}
        self.killers: dict[str, str] = {}  # which test file killed the last mutant of a module; it is tried first
        self.time = int(datetime.now(UTC).timestamp())
        for copy in self.free:
            for part in ("src", "tests", "pyproject.toml"):
                source = ROOT / part
                copied = shutil.copytree if source.is_dir() else shutil.copy
                copy.mkdir(parents=True, exist_ok=True)
                copied(source, copy / part)

    def run(self, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, bool]]:
        """Yield each mutant, and whether it was killed."""
        for mutant in mutants:
            if not self.free:
                yield self._wait()
            copy = self.free.pop()
            self._put(copy, mutant.module, mutant.code)
            self.busy[forked_tests(copy, mutant, self.killers.get(mutant.module))] = copy, mutant
        while self.busy:
            yield self._wait()

    def _wait(self) -> tuple[Mutant, bool]:
        number, status = os.wait()
        with suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)  # what it may have started
        copy, mutant = self.busy.pop(number)
        self._put(copy, mutant.module, (ROOT / "src" / mutant.module).read_text())
        self.output = (copy / "output").read_text(errors="replace")
        if failed := re.search(r"^FAILED (tests/[^:]+)", self.output, re.MULTILINE):
            self.killers[mutant.module] = failed[1]
        self.free.append(copy)
        return mutant, status != 0

    def _put(self, copy: Path, module: str, code: str) -> None:
        """Write a module with a new modification time, because Python finds compiled modules by time and size."""
        path = copy / "src" / module
        path.write_text(code)
        self.time += 2
        os.utime(path, (self.time, self.time))


def forked_tests(copy: Path, mutant: Mutant, first: str | None) -> int:
    """Start the tests of a room in a copy, the likeliest killer first, and return the process id."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        code = run_tests(copy, mutant, first)
    finally:
        sys.stdout.flush()
        os._exit(code)  # the parent continues


def run_tests(copy: Path, mutant: Mutant, first: str | None) -> int:
    """Run the tests in this process, which ends afterwards."""
    import pytest

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy / "src"), "NESTAG_EXAMPLES": str(EXAMPLES)}
    sys.path.insert(0, str(copy / "src"))
    with open(copy / "output", "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    paths = [*tests_of(copy, mutant, first), copy / "src" / mutant.module]  # doctests last, or it is loaded twice
    ignored = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # hypothesis is there already
    return pytest.main(["-x", "-p", "no:xdist", "-p", "no:cacheprovider", *ignored, *map(str, paths)])


def tests_of(copy: Path, mutant: Mutant, first: str | None) -> list[Path]:
    """Return the test files of a mutant's room: `first`, then those named after the module, then the others."""
    files = [path for name in ROOMS[mutant.room].tests.split() for path in test_files(copy / name)]
    stem = Path(mutant.module).stem
    return sorted(files, key=lambda path: (path != copy / (first or ""), stem not in path.stem, str(path)))


def test_files(path: Path) -> list[Path]:
    """Return one file, or all test files of a folder."""
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]


def preload(rooms: Iterable[str]) -> None:
    """Import the dependencies of the rooms and their tests once for all forks, but none of our modules."""
    import hypothesis
    import pytest

    assert hypothesis.__version__
    assert pytest.__version__
    for room in rooms:
        for path in ROOMS[room].paths():
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    for name in [name for name in sys.modules if name.split(".")[0] == "nestag"]:
        del sys.modules[name]


def check_without_faults(bench: Bench, mutant: Mutant) -> None:
    """Stop if the tests of a room fail without a mutant; repeat this only after something has changed."""
    passed, state = LAST / f"{mutant.room}.passed", fingerprint()
    if passed.exists() and passed.read_text() == state:
        return
    for _, failed in bench.run([mutant._replace(code=(ROOT / "src" / mutant.module).read_text())]):
        if failed:
            raise SystemExit(f"the tests of {mutant.room} fail without any fault:\n{bench.output}")
    LAST.mkdir(parents=True, exist_ok=True)
    passed.write_text(state)


def fingerprint() -> str:
    """Return a hash of all sources and tests."""
    found = hashlib.sha256()
    for path in sorted(path for part in ("src", "tests") for path in (ROOT / part).rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def tested(mutants: Sequence[Mutant], jobs: int, until: float) -> Iterator[tuple[Mutant, bool]]:
    """Test mutants until a time, and yield whether each was killed."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), jobs)
        for one in mutants[: time.monotonic() < until]:
            check_without_faults(bench, one)
        begun = itertools.takewhile(lambda _: time.monotonic() < until, mutants)
        for number, (mutant, killed) in enumerate(bench.run(begun), 1):
            mark = "killed" if killed else "SURVIVED"
            print(f"{number}/{len(mutants)} {mark} {mutant.module}:{mutant.line}: {mutant.after}", flush=True)
            yield mutant, killed
