"""Virtual environments with nestag's wheel and some of its extras, made without a network.

A wheel is built and unpacked into an empty virtual environment. The distributions that it asks for are linked from the
environment of the tests, so that making one takes a fraction of a second.

    python tests/bare_environments.py < LINES.jsonl > OUTCOMES.jsonl      # by the Python of such an environment
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

TOP = Path(__file__).parents[2]


class End(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    error: str


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of a package with what is installed here."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def make_environment(folder: Path, wheels: Iterable[Path], extras: Sequence[str] = ()) -> Path:
    """Make a virtual environment with wheels and some extras of nestag; its Python."""
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(packages)
    ours = {found.name: found for found in distributions(path=[str(packages)])}
    for needed in requirements(ours, extras):
        link(needed, packages)
    return folder / "bin" / "python"


def requirements(ours: Mapping[str, Distribution], extras: Sequence[str]) -> Iterator[Distribution]:
    """All distributions that ours need, nestag with some extras."""
    from packaging.requirements import Requirement

    waiting = [(name, "") for name in ours] + [("nestag", extra) for extra in extras]
    seen = set(waiting)
    while waiting:
        name, extra = waiting.pop()
        found = ours.get(name) or distribution(name)
        if name not in ours and not extra:
            yield found
        for needed in map(Requirement, found.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                new = {(needed.name, more) for more in ("", *needed.extras)} - seen
                seen |= new
                waiting += new


def link(one: Distribution, packages: Path) -> None:
    """Link the files of a distribution and its metadata."""
    for top in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
        target = packages / top
        if not target.exists():
            target.symlink_to(Path(str(one.locate_file(top))))


def outcomes(python: Path, lines: Iterable[Sequence[str]], folder: Path) -> list[End]:
    """Run commands of nestag in a folder, each in a process forked from one of that Python."""
    done = subprocess.run(
        [python, __file__], input="".join(json.dumps(line) + "\n" for line in lines), cwd=folder, text=True,
        capture_output=True, check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [End(*json.loads(line)) for line in done.stdout.splitlines()]


def run(words: Sequence[str]) -> End:
    """Run one command in a process forked from this one."""
    from nestag.cli import app, boundary

    with TemporaryFile() as out, TemporaryFile() as error:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(error.fileno(), 2)
            sys.argv = ["nestag", *words]
            os._exit(boundary.run(app))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        error.seek(0)
        return End(code, out.read().decode(), error.read().decode())


def main() -> None:
    """Run the commands of the standard input."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()  # before the next fork


if __name__ == "__main__":
    main()
