"""Measure how time and memory grow with unusual inputs, such as sentences of 200,000 tokens.

Each command runs on an input and on one four times as large. The time to start Python is measured with an empty corpus
and subtracted. Linear growth is a ratio of about 4.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import nestag

MEASURED = """
import json, os, sys
answer, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
os.dup2(nowhere, 1)
os.dup2(nowhere, 2)
_, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
found = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)
os.write(answer, json.dumps(found).encode())
"""
"""Runs a command and prints its cost, in a small process because Linux counts the memory of the parent as well."""

FACTOR = 4
SUFFIXES = (".txt", ".jsonl")


class Cost(NamedTuple):
    """The cost and the exit code of a command."""

    seconds: float
    memory: float  # MiB
    code: int


class Growth(NamedTuple):
    """A command on an input and on one four times as large."""

    what: str
    command: str
    small: Cost
    large: Cost

    @property
    def ratio(self) -> float:
        """The ratio of the times."""
        return self.large.seconds / max(self.small.seconds, 0.01)

    def __str__(self) -> str:
        times = f"{self.small.seconds:.1f} s | {self.large.seconds:.1f} s | {self.ratio:.1f}"
        memory = f"{self.small.memory:,.0f} MiB | {self.large.memory:,.0f} MiB"
        return f"| {self.what} | `nestag {self.command}` | {times} | {memory} |"


HEAD = """
## Time and memory

CPU seconds without the start of Python, and peak memory, for a quarter of an input and for all of it. Linear growth is
a ratio near 4; ratios of short times are rough. With nearly empty input the process takes {tokens:,.0f} MiB for tokens
and {text:,.0f} MiB for text, because spaCy is loaded.

| input | command | time, a quarter | time | ratio | memory, a quarter | memory |
|---|---|---|---|---|---|---|
"""


def entities(scale: float) -> list[dict[str, object]]:
    """Return a million entities for a scale of 1, one for each token."""
    one = [{"start": at, "end": at + 1, "type": f"T{at % 5}"} for at in range(20)]
    return [
        {"tokens": [f"w{number % 5000 + at}" for at in range(20)], "entities": one}
        for number in range(round(50_000 * scale))
    ]


def tokens(scale: float) -> list[dict[str, object]]:
    """Return a sentence of 200,000 tokens for a scale of 1, with an entity at every third."""
    size = round(200_000 * scale)
    spans = [{"start": at, "end": at + 2, "type": "PER"} for at in range(0, size - 2, 3)]
    return [{"tokens": ["word"] * size, "entities": spans}]


def repeated(sign: str) -> Callable[[float], str]:
    """Return a function that makes half a million characters without spaces."""
    return lambda scale: sign * round(500_000 * scale / len(sign))


class Input(NamedTuple):
    """A large input: its description, the command to run on it, and its content and file name."""

    what: str
    command: str
    make: Callable[[float], object]
    file: str


CASES = (
    Input("a million entities", "doctor --train", entities, "a.jsonl"),
    Input("a sentence of 200,000 tokens", "show", tokens, "a.jsonl"),
    Input("half a million exclamation marks", "stats", repeated("!"), "a.txt"),
    Input('half a million of `_ * "`', "stats", repeated('_*"'), "a.txt"),
    Input("half a million emoji", "stats", repeated("😀"), "a.txt"),
)


def growth() -> Iterator[str]:
    """Measure all inputs, and yield the lines of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts = [cost("stats", write(folder / f"a{suffix}", "a\n")) for suffix in SUFFIXES]
        yield HEAD.format(text=starts[0].memory, tokens=starts[1].memory)
        for case in CASES:
            yield grown(case, folder, starts[SUFFIXES.index(Path(case.file).suffix)].seconds)
        yield bomb(folder)


def grown(case: Input, folder: Path, begun: float) -> str:
    """Return the line of one input; `begun` is the time to start Python."""
    costs = [cost(case.command, write(folder / case.file, case.make(scale))) for scale in (1 / FACTOR, 1)]
    assert all(one.code in (0, 1) for one in costs), (case.what, costs)  # the doctor may find errors
    small, large = (one._replace(seconds=max(0.0, one.seconds - begun)) for one in costs)
    return f"{Growth(case.what, case.command, small, large)}\n"


def bomb(folder: Path) -> str:
    """Return a line on a small compressed file with a very long sentence."""
    path = folder / "bomb.nested.gz"
    path.write_bytes(gzip.compress(b"a " * (15 * 10**6)))
    found = cost("stats", path)
    return (
        f"\nA `.nested.gz` file of {path.stat().st_size / 1000:.0f} kB that is 30 MB unpacked, one sentence of 15"
        f" million words: `nestag stats` ends with exit code {found.code} after {found.seconds:.1f} s, with at most"
        f" {found.memory:,.0f} MiB of memory.\n"
    )


def write(path: Path, content: object) -> Path:
    """Write text as it is, and records as JSON Lines."""
    if isinstance(content, str) and path.suffix == ".txt":
        path.write_text(content, encoding="utf-8")
    else:
        records = content if isinstance(content, list) else [{"tokens": ["a"], "entities": []}]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def cost(command: str, path: Path) -> Cost:
    """Return the cost of a command on a file."""
    arguments = [sys.executable, "-m", "nestag", *command.split(), str(path)]
    env = {**os.environ, "PYTHONPATH": str(Path(nestag.__file__).parents[1])}  # not the folder of benchmarks
    done = subprocess.run([sys.executable, "-c", MEASURED, *arguments], env=env, stdout=subprocess.PIPE, check=True)
    return Cost(*json.loads(done.stdout))


if __name__ == "__main__":
    for line in growth():
        print(line, end="", flush=True)
