"""Train with a fault at each file operation, run the same command again, and print the outcome as JSON.

    python tests/helpers/faulty_runs.py ENCODER FOLDER [--stride 1] [--part 0 --of 1] [--records FILE] [--seconds N]

Every attempt is a separate process, forked from this one after all imports. `--stride N` tries every Nth operation,
different ones for each kind of fault. `--part` and `--of` divide the work among processes. Finished attempts are added
to the records and are not repeated by later calls. No attempt starts after `--seconds`. Needs Linux.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from nestag.cli import boundary

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
EVENTS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.link", "os.symlink"}
FAULTS = {
    "killed": "SIGKILL right before the operation",
    "torn": "the power fails after the operation; half of each file that was not synced is lost",
    "full": "no space left on the device",
    "SIGTERM": "SIGTERM at the operation",
}
OPERATIONS = "operations"
"""What the records call how many there are."""
KILLED = 9
SAME = ("model.safetensors", "vocabulary.json", "nestag.json", "config.json", "tokenizer.json", "manifest.json")


class Faults:
    """Counts the operations that change something in a folder, and lets one of them go wrong."""

    def __init__(self, folder: Path, kind: str, at: int) -> None:
        self.folder, self.kind, self.at = str(folder), kind, at
        self.count = 0
        self.unsynced: set[str] = set()
        self.off = False

    def install(self) -> None:
        """Watch all that Python does, and the two libraries that write without it."""
        import safetensors.torch
        import torch

        sys.addaudithook(self.hear)
        fsync, save, serialize = os.fsync, torch.save, safetensors.torch.serialize_file

        def watched_fsync(number: Any) -> None:
            path = _of_descriptor(number if isinstance(number, int) else number.fileno())
            self.meet(path)
            fsync(number)
            self.unsynced.discard(path)

        def watched_save(value: Any, file: Any, *args: Any, **more: Any) -> None:
            self.meet_writing(
                str(file), RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed")
            )
            save(value, file, *args, **more)

        def watched_serialize(tensors: Any, file: Any, *args: Any, **more: Any) -> None:
            self.meet_writing(
                str(file), safetensors.SafetensorError("I/O error: No space left on device (os error 28)")
            )
            serialize(tensors, file, *args, **more)

        os.fsync, torch.save = watched_fsync, watched_save
        safetensors.torch.serialize_file = watched_serialize

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """An event of Python; those that only read do not count."""
        if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)) and args[2] & WRITES:
            self.meet_writing(os.fsdecode(args[0]))
        elif event in EVENTS and isinstance(args[0], (str, bytes, os.PathLike)):
            path, folder = os.fsdecode(args[0]), args[-1]
            relative = isinstance(folder, int) and folder >= 0 and event in ("os.remove", "os.rmdir")
            self.meet(f"{_of_descriptor(folder)}/{path}" if relative else path)
            if event == "os.rename":
                self.move(str(Path(path).absolute()), str(Path(os.fsdecode(args[1])).absolute()))

    def meet_writing(self, path: str, failure: Exception | None = None) -> None:
        """An operation that begins to write a file."""
        self.meet(path, failure)
        if not self.off:
            self.unsynced.add(str(Path(path).absolute()))

    def move(self, old: str, new: str) -> None:
        """What is not synced has another name from now on."""
        self.unsynced = {
            new + path.removeprefix(old) if path == old or path.startswith(f"{old}/") else path
            for path in self.unsynced
        }

    def meet(self, path: str, failure: Exception | None = None) -> None:
        """An operation on a path."""
        if self.off or not str(Path(path).absolute()).startswith(self.folder):
            return
        if self.kind == "torn" and 0 < self.at == self.count:
            self.tear()
        self.count += 1
        if self.count != self.at:
            return
        if self.kind == "killed":
            os._exit(KILLED)
        if self.kind == "full":
            raise failure or OSError(28, "No space left on device", path)
        if self.kind == "SIGTERM":
            os.kill(os.getpid(), signal.SIGTERM)

    def tear(self) -> None:
        """Lose half of each file that is not synced, and die."""
        self.off = True
        for path in filter(Path.is_file, map(Path, self.unsynced)):
            if str(path).startswith(self.folder):
                os.truncate(path, path.stat().st_size // 2)
        os._exit(KILLED)


def _of_descriptor(number: int) -> str:
    return str(Path(f"/proc/self/fd/{number}").readlink())


class Attempt(NamedTuple):
    """How a process ended, how many operations there were, and what it told."""

    code: int
    operations: int
    told: str


def attempt(work: Callable[[], object], folder: Path, kind: str = "", at: int = 0) -> Attempt:
    """Run a command in a separate process, with a fault at an operation on files in a folder."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as stream:
            told = stream.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        last = told.splitlines()[-1:] or [""]
        return Attempt(code, int(last[0]) if last[0].isdigit() else 0, told)
    os.close(reading)
    sys.stdout = sys.stderr = os.fdopen(os.dup(writing), "w")
    faults = Faults(folder, kind, at)
    faults.install()
    code = boundary.run(work)
    faults.off = True
    sys.stderr.flush()
    os.write(writing, f"\n{faults.count}\n".encode())
    os._exit(code)


def training(encoder: str, folder: Path) -> Callable[[], object]:
    """A short training run, with a checkpoint after every evaluation."""
    from nestag.cli.terminal import silence_libraries
    from nestag.training.run import train
    from two_sentences import CORPUS, MANY, quick

    recipe = quick(encoder, steps=3, evaluations=3, early_stopping_patience=0, dropout=0.2, ema_decay=0.9)
    silence_libraries()
    return lambda: train(MANY, CORPUS, folder, recipe, use_cpu=True)


def contents(folder: Path) -> dict[str, bytes]:
    """What a finished run leaves that does not depend on the clock, and the names of all there is."""
    found = {name: (folder / name).read_bytes() for name in SAME if name != "manifest.json"}
    names = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
    return {**found, "names": " ".join(names).encode()}


def tried(encoder: str, folder: Path, kind: str, at: int, whole: dict[str, bytes]) -> str:
    """Let one operation go wrong, start again, and compare; what did not hold, or nothing."""
    work = training(encoder, folder)
    code, _, told = attempt(work, folder, kind, at)
    try:
        if kind == "full" and code not in (0, 2):
            return f"exit code {code}: {told[-600:]}"
        if kind == "SIGTERM" and code not in (0, 128 + signal.SIGTERM):
            return f"exit code {code}: {told[-600:]}"
        if "Traceback" in told or (code == 2 and told.strip().splitlines()[0][:8] != "nestag: "):
            return f"not one line: {told[-600:]}"
        if kind in ("full", "SIGTERM") and (left := sorted(path.name for path in folder.rglob("*.part"))):
            return f"left behind: {left}"
        code, _, told = attempt(work, folder)
        if code:
            return f"cannot be resumed: {told[-600:]}"
        found = contents(folder)
        return ", ".join(name for name in whole if found[name] != whole[name])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(encoder: str, folder: Path, stride: int, part: int, of: int, records: Path, seconds: float) -> None:
    """Try all faults that the records do not have yet, and say what held; if they have all, nothing runs."""
    end = time.monotonic() + seconds
    known = {(kind, at): why for kind, at, why in _recorded(records)}
    operations = next((at for kind, at in known if kind == OPERATIONS), 0)
    if seconds > 0 and (not operations or not all(fault in known for fault in _wanted(operations, stride)[part::of])):
        runs = Runs(encoder, folder)
        assert operations in (0, runs.operations), f"{records} are of another version; remove them"
        operations = runs.operations
        _record(records, OPERATIONS, operations, "")
        for kind, at in _wanted(operations, stride)[part::of]:
            if (kind, at) not in known and time.monotonic() < end:
                known[kind, at] = tried(encoder, folder / "cut", kind, at, runs.whole)
                _record(records, kind, at, known[kind, at])
    for kind in FAULTS:
        places = [at for fault, at in _wanted(operations, stride)[part::of] if fault == kind and (kind, at) in known]
        failed = {at: known[kind, at] for at in places if known[kind, at]}
        record = {"fault": kind, "places": len(places), "operations": operations, "failed": failed}
        sys.stdout.write(json.dumps(record) + "\n")


class Runs:
    """Training without a fault: once for what is imported and built before any fork, once to be compared with."""

    def __init__(self, encoder: str, folder: Path) -> None:
        import torch
        import transformers.trainer  # noqa: F401 - before any fork

        from nestag.training import checkpoints, run  # noqa: F401

        torch.set_num_threads(1)
        checkpoints.CHECKPOINT_SECONDS = 0.0
        assert boundary.run(training(encoder, folder / "warm")) == 0
        gc.collect()
        gc.freeze()  # transformers collects garbage after training, which would look at all that the forks share
        code, self.operations, told = attempt(training(encoder, folder / "whole"), folder / "whole")
        assert code == 0, told
        self.whole = contents(folder / "whole")


def _wanted(operations: int, stride: int) -> list[tuple[str, int]]:
    """List the faults to try, in an order that mixes all kinds, for runs that stop early."""
    wanted = [
        (kind, at) for first, kind in enumerate(FAULTS) for at in range(1 + first % stride, operations + 1, stride)
    ]
    random.Random(1).shuffle(wanted)
    return wanted


def _record(records: Path, kind: str, at: int, why: str) -> None:
    with records.open("a") as stream:
        stream.write(json.dumps([kind, at, why]) + "\n")


def _recorded(records: Path) -> list[tuple[str, int, str]]:
    """What was tried before: the fault, its place, and what did not hold."""
    return [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []


if __name__ == "__main__":
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")
    arguments = argparse.ArgumentParser()
    arguments.add_argument("encoder")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--stride", type=int, default=1)
    arguments.add_argument("--part", type=int, default=0)
    arguments.add_argument("--of", type=int, default=1)
    arguments.add_argument("--records", type=Path)
    arguments.add_argument("--seconds", type=float, default=float("inf"))
    given = arguments.parse_args()
    runs = given.folder.resolve()
    records = given.records or runs.with_name(f"{runs.name}.jsonl")
    main(given.encoder, runs, given.stride, given.part, given.of, records, given.seconds)
