"""Run commands as a shell does, each in a separate process that is forked after the slow imports.

    python tests/forked_commands.py < CASES.jsonl > OUTCOMES.jsonl

A process with torch takes seconds to start and milliseconds to fork. What a descriptor is, pipe or file, closed or
full, is real; only the start of Python is shared. Needs Linux.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from subprocess import run

SLOW = (
    "nestag.training.run",
    "transformers.trainer",
    "transformers.models.bert.modeling_bert",
)
"""What takes long to import, and is imported before any fork."""

SECONDS = 250
"""After which a command counts as one that hangs."""


@dataclass(frozen=True)
class Case:
    """A command, and what its files and streams are."""

    arguments: tuple[str, ...]  # in one of them {} is the input
    folder: str  # it runs in
    input: str | None = None  # the file behind {}
    given: str = "file"  # how: a file, a substitution (/dev/fd/N), stdin (a pipe) or a named pipe
    out: str = "file"  # the standard output: a file, full or closed
    error: str = "file"  # the error stream: the same
    encoding: str = "utf-8"  # of the standard output
    largest: int | None = None  # bytes that a file may have, as on a full disk
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it said."""

    code: int
    out: str
    error: str


def outcomes(cases: Iterable[Case], folder: Path) -> list[Outcome]:
    """Run commands one after another, all forked from one new process; logs go into a folder."""
    lines = "".join(json.dumps(asdict(case)) + "\n" for case in cases)
    command = [sys.executable, __file__, str(folder)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = run(command, input=lines, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]


def outcome(case: Case, logs: Path) -> Outcome:
    """Run one command in a process forked from this one."""
    for name in ("out", "error"):
        (logs / name).write_bytes(b"")
    fifo = logs / "pipe"
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        os.setpgid(0, 0)
        os._exit(_run(case, logs))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = [(logs / name).read_text(case.encoding if name == "out" else "utf-8") for name in ("out", "error")]
    return Outcome(code, *texts)


def _run(case: Case, logs: Path) -> int:
    """What the forked process does: set everything up, and the command."""
    os.chdir(case.folder)
    os.environ.update(case.environment)
    given = _input(case, logs)
    _redirect(1, case.out, logs / "out")
    _redirect(2, case.error, logs / "error")
    sys.stdout = _stream(1, case.encoding) if case.out != "closed" else None  # type: ignore[assignment]
    sys.stderr = _stream(2, "utf-8") if case.error != "closed" else None  # type: ignore[assignment]
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb", closefd=False))
    sys.argv = ["nestag", *(argument.replace("{}", given) for argument in case.arguments)]
    if case.largest is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does when it starts
        resource.setrlimit(resource.RLIMIT_FSIZE, (case.largest, case.largest))
    from nestag.cli import app, boundary

    return boundary.run(app)


def _input(case: Case, logs: Path) -> str:
    """The path under which a command finds its input."""
    if case.input is None or case.given == "file":
        return case.input or ""
    data = Path(case.input).read_bytes()
    if case.given == "fifo":
        threading.Thread(target=(logs / "pipe").write_bytes, args=(data,), daemon=True).start()
        return str(logs / "pipe")
    reading, writing = os.pipe()
    os.write(writing, data)  # as much as a pipe holds
    os.close(writing)
    if case.given == "stdin":
        os.dup2(reading, 0)
        os.close(reading)
        return "/dev/stdin"
    return f"/dev/fd/{reading}"


def _redirect(number: int, kind: str, log: Path) -> None:
    if kind == "closed":
        os.close(number)
        return
    target = os.open("/dev/full" if kind == "full" else log, os.O_WRONLY)
    os.dup2(target, number)
    os.close(target)


def _stream(number: int, encoding: str) -> io.TextIOWrapper:
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(os.fdopen(number, "wb", closefd=False), encoding, errors, line_buffering=number == 2)


def main(logs: Path) -> None:
    """Read cases, run them, and write how they ended."""
    import torch

    from nestag.cli import COMMANDS, load, plugin_commands
    from nestag.formats.registry import available

    for name in (*COMMANDS, *plugin_commands()):
        load(name)
    for module in SLOW:
        import_module(module)
    available()
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        case = json.loads(line)
        found = outcome(Case(**case | {"arguments": tuple(case["arguments"])}), logs)
        answers.write(json.dumps(asdict(found)) + "\n")
        answers.flush()  # before the next fork


if __name__ == "__main__":
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")
    main(Path(sys.argv[1]))
