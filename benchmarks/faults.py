"""The faults that were tried and what held, as a table.

    python benchmarks/faults.py [--stride 1] [--jobs N] [--records FOLDER] [--seconds N] [--write docs/reliability.md]

Training with a fault at each of its file operations (tests/faulty_runs.py), by as many processes as there are cores, a
stride above 1 leaving operations out; the tests of everything else that can go wrong, counted by what they try; and how
time and memory grow (growth.py). With --records, the same command goes on after it was stopped or its seconds were
over, until everything has been tried.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from defusedxml import ElementTree
from growth import growth

import nestag
from nestag.files import writing

TESTS = Path(__file__).parents[1] / "tests"
HEAD = """# Reliability: the faults tried, and what held

Written by `{command}`, as `make faults` does; with `--seconds` it begins nothing new after a while, with
`--records` it goes on later. The column "tried" says how far it came, and what has not been tried has no row.

After a fault the same command is given again, without one. Training held if that ends with the same weights,
vocabulary, settings and tokenizer as a run without faults, byte for byte, and leaves nothing else behind.
[SECURITY.md](../SECURITY.md) says what is promised about models and files from strangers.

| fault | tried | held | by |
|---|---|---|---|
"""
GROUPS = {
    "a model folder with files missing, changed, planted or of any content": "test_model_folder.py",
    "training stopped by SIGINT and SIGKILL, in a folder of another run, or with other data": "training/test_run.py",
    "adapting stopped, in a folder of another run, or with what cannot be adapted": "training/test_adaptation.py",
    "settings, devices and recipes that cannot be": "cli/test_train_and_predict.py",
    "thresholds, folders and other kinds of files given to a model": "cli/test_predict.py",
    "files of rows that are bad, broken, changed or too much for the disk": "scale/test_worker.py",
    "tagging with workers or the driver killed": "scale/test_exactly_once.py",
    "requests too large, too slow, of another kind or without a token": "serve/test_api.py",
    "a server killed, asked to stop, or at an address that is taken": "serve/test_command.py",
    "a run of an experiment killed, ended by SIGTERM, failing, or done twice at once": "lab/experiment/test_job.py",
    "pipes, closed and full streams, signals, encodings, control characters": "cli/test_boundary.py",
    "every command with pipes, full and closed streams, another encoding and a full disk": "cli/test_every_command.py",
    "files that are read once, packed, empty, endless or not there": "files/test_sources.py",
    "writing that fails or is killed half way": "files/test_targets.py",
    "several files that must change together": "files/test_folders.py",
    "input that is unusual and legal: endless words, deep nesting, bombs": "test_limits.py",
}
"""What is tried -> the tests that try it."""


class FaultRow(NamedTuple):
    """A kind of fault: where it was tried, and how often that held."""

    fault: str
    tried: str
    held: int
    of: int
    by: str

    def __str__(self) -> str:
        return f"| {self.fault} | {self.tried} | {self.held} of {self.of} | `{self.by}` |"


class Notes:
    """What was found before, by whoever ran the same command."""

    def __init__(self, file: Path | None, seconds: float) -> None:
        self.file, self.end = file, time.monotonic() + seconds
        lines = file.read_text().splitlines() if file and file.exists() else []
        self.known: dict[str, Any] = dict(map(json.loads, lines))

    def get(self, key: str, find: Callable[[], Any]) -> Any:
        """What is noted under a key, or else found and noted now; None if the time is over."""
        if key not in self.known and time.monotonic() < self.end:
            self.known[key] = find()
            if self.file:
                with self.file.open("a") as stream:
                    stream.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known.get(key)


def main() -> int:
    """Try everything, and print a table; 1 if something did not hold."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--stride", type=int, default=1, help="try every so many operations of training")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes try them")
    arguments.add_argument("--records", type=Path, help="where to note what was tried, to go on from there")
    arguments.add_argument("--seconds", type=float, default=1e9, help="begin nothing new after so long")
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    if options.records:
        options.records.mkdir(parents=True, exist_ok=True)
    notes = Notes(options.records / "notes.jsonl" if options.records else None, options.seconds)
    times = "".join(growth(notes.get))
    rows = [*training(options, notes), *tests(notes)]
    stride = f" --stride {options.stride}" if options.stride > 1 else ""
    text = HEAD.format(command=f"python benchmarks/faults.py{stride}") + "".join(f"{row}\n" for row in rows) + times
    print(text, end="")
    if options.write:
        with writing(options.write) as stream:
            stream.write(text)
    return int(any(row.held < row.of for row in rows))


def training(options: argparse.Namespace, notes: Notes) -> Iterator[FaultRow]:
    """A row for each kind of fault at a file operation of training."""
    sys.path.insert(0, str(TESTS))
    import faulty_runs  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        encoder = Path(folder) / "encoder"
        encoder.mkdir()
        left = max(0.0, notes.end - time.monotonic())
        if left:
            import tiny_encoders  # type: ignore[import-not-found]

            tiny_encoders.save_encoder("bert", encoder)
        paths = [str(TESTS), str(Path(nestag.__file__).parents[1])]  # not the folder of benchmarks
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        more = [f"--stride={options.stride}", f"--of={options.jobs}", f"--seconds={left}"]
        more += [f"--records={options.records / 'training.jsonl'}"] if options.records else []
        workers = []
        for part in range(options.jobs):
            command = [
                sys.executable,
                str(TESTS / "faulty_runs.py"),
                str(encoder),
                f"{folder}/{part}",
                f"--part={part}",
            ]
            workers.append(subprocess.Popen([*command, *more], env=env, stdout=subprocess.PIPE, text=True))
        found = [json.loads(line) for worker in workers for line in worker.communicate()[0].splitlines()]
    assert not any(worker.returncode for worker in workers)
    for kind, told in faulty_runs.FAULTS.items():
        mine = [one for one in found if one["fault"] == kind]
        failed = {at: why for one in mine for at, why in one["failed"].items()}
        for at, why in failed.items():
            print(f"{kind} at {at}: {why}", file=sys.stderr)
        places = sum(one["places"] for one in mine)
        tried = f"{places} of the {mine[0]['operations']} file operations of a run"
        yield FaultRow(f"training: {told}", tried, places - len(failed), places, "tests/faulty_runs.py")


def tests(notes: Notes) -> Iterator[FaultRow]:
    """A row for each group of tests."""
    for fault, file in GROUPS.items():
        found = notes.get(file, partial(passed, file))
        if found is not None:
            held, of = found
            yield FaultRow(fault, f"{of} cases", held, of, f"tests/{file}")


def passed(file: str) -> tuple[int, int]:
    """How many tests of a file pass, and how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", str(TESTS / file)]
        subprocess.run(command, cwd=TESTS.parent, stdout=sys.stderr, check=False)
        cases = [case for case in ElementTree.parse(report).iter("testcase") if case.find("skipped") is None]
    return sum(case.find("failure") is None and case.find("error") is None for case in cases), len(cases)


if __name__ == "__main__":
    sys.exit(main())
