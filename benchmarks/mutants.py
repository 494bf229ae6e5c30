"""Whether the tests notice small faults: mutants of the rooms that compute, and how many of them the tests kill.

    make mutants
    python benchmarks/mutants.py [--rooms encodings windows] [--most 60] [--jobs 2] [--again] [--write FILE]

A mutant is a module with one small change (`+` for `-`, `<=` for `<`, 2 for 1, a loop that never runs, ...), made by
cosmic-ray's operators. It is killed if a test of its own room fails. A room's mutants are drawn with a fixed seed:
first one change for each place in the code, then further changes of the same places, up to `--most`; what is drawn
depends on each line alone, so that other lines may change. `--again` leaves
out those killed last time, which is enough after a test was added, and goes on where `--minutes` ended a run. The page
also shows the rooms that are not run this time, as they were last found here.

The tests run in a fork of a process that has imported what they need, so a mutant takes seconds.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import importlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
LAST = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_suffix(".toml")
SEED = 1
EXAMPLES = 20
"""Examples that a property test draws."""
CPU_SECONDS, SECONDS, MEMORY = 90, 600, 12 * 2**30
"""What the tests of one mutant may take; one that takes more is killed."""


class Room(NamedTuple):
    """Modules under src/nestag, and the tests that should notice their faults, doctests included."""

    modules: str
    tests: str

    def paths(self) -> list[Path]:
        """Every module."""
        found = (ROOT / "src/nestag" / name for name in self.modules.split())
        return sorted(path for one in found for path in (one.rglob("*.py") if one.is_dir() else [one]))


ROOMS = {
    "encodings": Room("encodings", "tests/test_encodings.py tests/test_notation.py"),
    "decoding": Room("decoding", "tests/decoding"),
    "evaluation": Room("evaluation", "tests/evaluation"),
    "windows": Room("subwords/windows.py", "tests/subwords/test_windows.py"),
    "optimizer": Room("training/optimizer.py", "tests/training/test_optimizer.py"),
    "average": Room("training/average.py", "tests/training/test_average.py"),
    "calibration": Room("training/calibration.py", "tests/training/test_calibration.py"),
}


class Mutant(NamedTuple):
    """A module with one change."""

    room: str
    module: str
    line: int
    before: str
    after: str
    code: str

    @property
    def change(self) -> tuple[str, str, str]:
        """What names it in the list of equivalent ones, wherever its line moves."""
        return self.module, self.before, self.after


class Place(NamedTuple):
    """A place in a module that can be changed, and how: an operator, and which of its changes."""

    path: Path
    line: str
    choices: list[tuple[Any, int]]


Results = dict[tuple[str, ...], bool]
"""Which changes were killed."""


def drawn(name: str, most: int, known: Results) -> list[Mutant]:
    """A room's mutants, up to `most`: those known that can still be made, one for each place, then further ones."""
    order = places_of(name)
    found = {mutant.change: mutant for mutant in made_again(name, order, known)}
    while order and len(found) < most:
        for place in order:
            if len(found) < most and (mutant := next_of(name, place)):
                found.setdefault(mutant.change, mutant)
        order = [place for place in order if place.choices]
    return list(found.values())


def places_of(name: str) -> list[Place]:
    """Where a room can be changed, in an order that depends on each line alone: other lines may change."""
    found: dict[str, Place] = {}
    for path in ROOMS[name].paths():
        source = path.read_text()
        lines = source.splitlines()
        for (start, end), operator, occurrence in changes(source):
            line = lines[start[0] - 1]
            alike = lines[: start[0]].count(line)
            key = f"{SEED} {path.name} {alike} {line} {start[1]} {end[1]}"
            found.setdefault(hashed(key), Place(path, line, [])).choices.append((operator, occurrence))
    for key, place in found.items():
        place.choices.sort(key=lambda choice: hashed(f"{key} {type(choice[0]).__name__}"))
    return [found[key] for key in sorted(found)]


def hashed(text: str) -> str:
    """A number for a text, the same in every run."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def made_again(name: str, places: Iterable[Place], known: Results) -> Iterator[Mutant]:
    """The mutants of changes that are known."""
    lines = {before for _, before, _ in known}
    for place in places:
        line = " ".join(place.line.split())
        if line and any(before.startswith(line) for before in lines):
            copy = place._replace(choices=[*place.choices])
            yield from (mutant for mutant in iter(lambda: next_of(name, copy), None) if mutant.change in known)  # noqa: B023


def next_of(name: str, place: Place) -> Mutant | None:
    """The next change of a place that changes what the program does."""
    from cosmic_ray.mutating import mutate_code

    source = place.path.read_text()
    while place.choices:
        code = mutate_code(source, *place.choices.pop())
        if code and program(code) not in (None, program(source)):
            return mutant_of(name, place.path.relative_to(ROOT / "src").as_posix(), source, code)
    return None


def changes(source: str) -> Iterator[tuple[Any, Any, int]]:
    """Each change that an operator can make: its place, the operator, and which of the operator's changes it is."""
    importlib.import_module("parso")  # cosmic-ray finds its operators only after it
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if "Variable" in name:  # these need settings of their own
            continue
        operator = get_operator(name)()
        positions = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, position in enumerate(positions):
            yield position, operator, occurrence


def program(code: str) -> str | None:
    """What runs of a module: its tree without annotations; None if it is no Python."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def mutant_of(room: str, module: str, source: str, code: str) -> Mutant:
    """The lines that differ, side by side."""
    one, two = source.splitlines(), code.splitlines()
    _, first, last, start, end = next(
        step for step in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes() if step[0] != "equal"
    )
    before, after = (" ".join(" ".join(lines).split()) for lines in (one[first:last], two[start:end]))
    return Mutant(room, module, first + 1, before, re.sub(r"(?<=[(\[:]) +", "", after), code)


class Bench:
    """Copies of the project, one for each job, in which mutants stand while they are tested."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.free = [folder / str(number) for number in range(jobs)]
        self.busy: dict[int, tuple[Path, Mutant]] = {}
        self.time = int(datetime.now(UTC).timestamp())
        for copy in self.free:
            for part in ("src", "tests", "pyproject.toml"):
                source = ROOT / part
                copied = shutil.copytree if source.is_dir() else shutil.copy
                copy.mkdir(parents=True, exist_ok=True)
                copied(source, copy / part)

    def run(self, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, bool]]:
        """Each mutant, and whether it was killed."""
        for mutant in mutants:
            if not self.free:
                yield self._wait()
            copy = self.free.pop()
            self._put(copy, mutant.module, mutant.code)
            self.busy[forked_tests(copy, mutant)] = copy, mutant
        while self.busy:
            yield self._wait()

    def _wait(self) -> tuple[Mutant, bool]:
        number, status = os.wait()
        with suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)  # what it may have started
        copy, mutant = self.busy.pop(number)
        self._put(copy, mutant.module, (ROOT / "src" / mutant.module).read_text())
        self.output = (copy / "output").read_text(errors="replace")
        self.free.append(copy)
        return mutant, status != 0

    def _put(self, copy: Path, module: str, code: str) -> None:
        """Write a module with a time of its own, for compiled ones are found again by time and size."""
        path = copy / "src" / module
        path.write_text(code)
        self.time += 2
        os.utime(path, (self.time, self.time))


def forked_tests(copy: Path, mutant: Mutant) -> int:
    """Start the tests of a room in a copy, those that carry the module's name first; the process's number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        code = run_tests(copy, mutant)
    finally:
        sys.stdout.flush()
        os._exit(code)  # whatever happened, this process is not the one that goes on


def run_tests(copy: Path, mutant: Mutant) -> int:
    """Run them in this process, which ends afterwards."""
    import pytest

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy / "src"), "NESTAG_EXAMPLES": str(EXAMPLES), "NESTAG_SAME_EXAMPLES": "1"}
    sys.path.insert(0, str(copy / "src"))
    with open(copy / "output", "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    tests = [path for name in ROOMS[mutant.room].tests.split() for path in test_files(copy / name)]
    stem = Path(mutant.module).stem
    tests.sort(key=lambda path: (stem not in path.stem, str(path)))
    paths = [*tests, copy / "src" / mutant.module]  # its doctests last, or pytest would load it a second time
    ignored = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # hypothesis is there already
    return pytest.main(["-x", "-p", "no:xdist", "-p", "no:cacheprovider", *ignored, *map(str, paths)])


def test_files(path: Path) -> list[Path]:
    """One file, or all of a folder."""
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]


def preload(rooms: Iterable[str]) -> None:
    """Import, once for all forks, what the rooms and their tests import; our own modules are forgotten again."""
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


def tested(mutants: Sequence[Mutant], jobs: int, until: float) -> Iterator[tuple[Mutant, bool]]:
    """Whether each mutant is killed, of those that are begun in time; the tests must pass without them."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), jobs)
        for one in mutants[: time.monotonic() < until]:
            for _, failed in bench.run([one._replace(code=(ROOT / "src" / one.module).read_text())]):
                if failed:
                    raise SystemExit(f"the tests of {one.room} fail without any fault:\n{bench.output}")
        begun = itertools.takewhile(lambda _: time.monotonic() < until, mutants)
        for number, (mutant, killed) in enumerate(bench.run(begun), 1):
            mark = "killed" if killed else "SURVIVED"
            print(f"{number}/{len(mutants)} {mark} {mutant.module}:{mutant.line}: {mutant.after}", flush=True)
            yield mutant, killed


def equivalents() -> dict[tuple[str, str, str], str]:
    """Changes that no test can notice, and why."""
    entries = tomllib.loads(EQUIVALENT.read_text())["equivalent"] if EQUIVALENT.exists() else []
    return {(entry["module"], entry["before"], entry["after"]): entry["why"] for entry in entries}


def table(results: dict[Mutant, bool], most: int) -> str:
    """The results as a page."""
    why = equivalents()
    lines = [
        "# Whether the tests notice small faults",
        "",
        f"Written by `make mutants` ({datetime.now(UTC):%Y-%m-%d}). A mutant is a module with one small change made by",
        "[cosmic-ray](https://cosmic-ray.readthedocs.io); it is killed if a test of its own room fails. This is",
        f"a sample: up to {most} mutants a room, drawn with seed {SEED}, one for each place in the code before any",
        f"has a second. Property tests draw {EXAMPLES} examples here, 50 in `make test` and 100 in CI. An equivalent",
        "mutant does what the module does, so no test can kill it; the share killed leaves these out. A room has fewer",
        "mutants where the time given for it ended first.",
        "",
        "| room | mutants | killed | equivalent | survived | killed of those that could be |",
        "|---|---|---|---|---|---|",
    ]
    for room in ROOMS:
        mine = [mutant for mutant in results if mutant.room == room]
        if not mine:
            continue
        killed = sum(results[mutant] for mutant in mine)
        same = sum(not results[mutant] and mutant.change in why for mutant in mine)
        share = killed / max(1, len(mine) - same)
        lines.append(f"| {room} | {len(mine)} | {killed} | {same} | {len(mine) - killed - same} | {share:.1%} |")
    if missing := [room for room in ROOMS if room not in {mutant.room for mutant in results}]:
        lines += ["", f"Not run yet: {', '.join(missing)}."]
    alive = [mutant for mutant, killed in results.items() if not killed]
    for title, chosen in (("Equivalent", True), ("Survived", False)):
        rows = sorted(mutant for mutant in alive if (mutant.change in why) is chosen)
        if rows:
            lines += ["", f"## {title}", "", "| where | line | mutant | why |", "|---|---|---|---|"]
            lines += [
                f"| {row.module}:{row.line} | {cell(row.before)} | {cell(row.after)} | {why.get(row.change, '')} |"
                for row in rows
            ]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Code in a table."""
    return f"`{text}`".replace("|", "\\|") if text else "(left out)"


def main() -> None:
    """Draw, test, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), choices=ROOMS)
    parser.add_argument("--most", type=int, default=60, help="mutants a room")
    parser.add_argument("--minutes", type=float, default=60, help="no mutant of a room is begun later")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="leave out those killed last time")
    parser.add_argument("--write", type=Path, help="the page to write")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    preload(options.rooms)
    results: dict[Mutant, bool] = {}
    for room in options.rooms:
        mutants, found = tested_before(room, options.most) if options.again else (drawn(room, options.most, {}), {})
        until = time.monotonic() + 60 * options.minutes
        for mutant, killed in tested([one for one in mutants if not found.get(one)], options.jobs, until):
            found[mutant] = killed
            keep(room, found)  # at once: a run may be interrupted
        results |= found
    for room in (room for room in ROOMS if room not in options.rooms):
        results |= tested_before(room, 0)[1]
    text = table(results, options.most)
    print(text)
    if options.write:
        options.write.write_text(text)


def keep(room: str, found: dict[Mutant, bool]) -> None:
    """Write down which changes were killed."""
    LAST.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps([*mutant.change, killed]) + "\n" for mutant, killed in found.items()]
    (LAST / f"{room}.jsonl").write_text("".join(lines))


def tested_before(room: str, most: int) -> tuple[list[Mutant], dict[Mutant, bool]]:
    """A room's mutants, and of those that were tested last time whether they were killed."""
    last = last_results(room)
    mutants = drawn(room, most, last) if most or last else []
    return mutants, {mutant: last[mutant.change] for mutant in mutants if mutant.change in last}


def last_results(room: str) -> Results:
    """Which changes were killed last time, and which were not."""
    path = LAST / f"{room}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {tuple(change): killed for *change, killed in rows}


if __name__ == "__main__":
    main()
