"""The faults that were tried and what held, as a table.

    python benchmarks/faults.py [--stride 1] [--skip-tests] [--write docs/reliability.md]

First training with a fault at each of its file operations (tests/faulty_runs.py); a stride above 1 leaves operations
out. Then the tests of everything else that can go wrong, counted by what they try.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from defusedxml import ElementTree

from nestag.files import writing

TESTS = Path(__file__).parents[1] / "tests"
HEAD = """# Reliability: the faults tried, and what held

Written by `{command}`; `make faults` tries every operation and all tests.

After a fault the same command is given again, without one. Training held if that ends with the same weights,
vocabulary, settings and tokenizer as a run without faults, byte for byte, and leaves nothing else behind.
[SECURITY.md](../SECURITY.md) says what is promised about models and files from strangers.

| fault | tried | held | by |
|---|---|---|---|
"""
GROUPS = {
    "a model folder with files missing, changed, planted or of any content": "test_model_folder.py",
    "training stopped by SIGINT and SIGKILL, in a folder of another run, or with other data": "training/test_run.py",
    "settings, devices and recipes that cannot be": "cli/test_train_and_predict.py",
    "a run of an experiment killed, ended by SIGTERM, failing, or done twice at once": "lab/experiment/test_job.py",
    "pipes, closed and full streams, signals, encodings, control characters": "cli/test_boundary.py",
    "files that are read once, packed, empty, endless or not there": "files/test_sources.py",
    "writing that fails or is killed half way": "files/test_targets.py",
    "several files that must change together": "files/test_folders.py",
    "input that is unusual and legal: endless words, deep nesting, bombs": "test_limits.py",
}
"""What is tried -> the tests that try it."""


class Row(NamedTuple):
    """A kind of fault: where it was tried, and how often that held."""

    fault: str
    tried: str
    held: int
    of: int
    by: str

    def __str__(self) -> str:
        return f"| {self.fault} | {self.tried} | {self.held} of {self.of} | `{self.by}` |"


def main() -> int:
    """Try everything, and print a table; 1 if something did not hold."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--stride", type=int, default=1, help="try every so many operations of training")
    arguments.add_argument("--skip-tests", action="store_true", help="leave out what is not training")
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    rows = list(training(options.stride))
    if not options.skip_tests:
        rows += tests()
    command = " ".join(["python benchmarks/faults.py", *sys.argv[1:]])
    text = HEAD.format(command=command) + "".join(f"{row}\n" for row in rows)
    print(text, end="")
    if options.write:
        with writing(options.write) as stream:
            stream.write(text)
    return int(any(row.held < row.of for row in rows))


def training(stride: int) -> Iterator[Row]:
    """A row for each kind of fault at a file operation of training."""
    sys.path.insert(0, str(TESTS))
    import conftest  # type: ignore[import-not-found]
    import faulty_runs  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        encoder = Path(folder) / "encoder"
        encoder.mkdir()
        conftest._save("bert", encoder)
        command = [sys.executable, str(TESTS / "faulty_runs.py"), str(encoder), f"{folder}/runs", str(stride)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        found = json.loads(line)
        for at, why in found["failed"].items():
            print(f"{found['fault']} at {at}: {why}", file=sys.stderr)
        held = found["places"] - len(found["failed"])
        tried = f"{found['places']} of the {found['operations']} file operations of a run"
        told = f"training: {faulty_runs.FAULTS[found['fault']]}"
        yield Row(told, tried, held, found["places"], "tests/faulty_runs.py")


def tests() -> Iterator[Row]:
    """A row for each group of tests."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        files = [str(TESTS / file) for file in GROUPS.values()]
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *files]
        subprocess.run(command, cwd=TESTS.parent, stdout=sys.stderr, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    for fault, file in GROUPS.items():
        module = "tests." + file.removesuffix(".py").replace("/", ".")
        mine = [case for case in cases if case.get("classname") == module and case.find("skipped") is None]
        held = sum(case.find("failure") is None and case.find("error") is None for case in mine)
        yield Row(fault, f"{len(mine)} cases", held, len(mine), f"tests/{file}")


if __name__ == "__main__":
    sys.exit(main())
