"""How a task ended and why it failed, by its exit code and its log."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from nestag.errors import InputError
from nestag.formats.files import writing
from nestag_lab.experiment.job import BROKEN, STOPPED, TAKEN
from nestag_lab.experiment.result import RESULT, RunResult, read_result
from nestag_lab.experiment.spec import FAILED, LOG, Spec

How = Literal["finished", "failed", "taken", "stopped"]


class Task(NamedTuple):
    """What a process is started for: a run, or the facts of a corpus."""

    title: str
    command: tuple[str, ...]  # after python -m
    log: Path
    spec: Spec | None = None
    prepare: Callable[[], None] = lambda: None
    """What is done right before; it may fail."""
    facts: Path | None = None  # the file of a corpus that is counted


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended."""

    task: Task
    how: How
    seconds: float
    reason: str = ""  # of a failure
    result: RunResult | None = None  # of a finished run


@dataclass(frozen=True)
class Ended:
    """How tasks ended."""

    outcomes: tuple[TaskOutcome, ...]
    stopped: bool  # by Ctrl-C

    @property
    def failures(self) -> tuple[TaskOutcome, ...]:
        """What failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.how == "failed")

    @property
    def taken(self) -> tuple[TaskOutcome, ...]:
        """Runs that another process does, and has not finished."""
        taken = (outcome for outcome in self.outcomes if outcome.how == "taken")
        return tuple(outcome for outcome in taken if not (outcome.task.spec and outcome.task.spec.finished))


def outcome_of(task: Task, code: int, seconds: float, stopping: bool) -> TaskOutcome:
    """The outcome of an exit code; while tasks are being stopped, a stopped one is no failure."""
    if code == 0:
        if task.spec:
            return TaskOutcome(task, "finished", seconds, result=read_result(task.spec.folder / RESULT))
        task.log.unlink(missing_ok=True)
        return TaskOutcome(task, "finished", seconds)
    if code == TAKEN:
        return TaskOutcome(task, "taken", seconds)
    if stopping and code in (STOPPED, -signal.SIGINT):
        return TaskOutcome(task, "stopped", seconds)
    return TaskOutcome(task, "failed", seconds, _reason(task, code))


def _reason(task: Task, code: int) -> str:
    """Why a task failed, in a line; a run that had no time to write down more gets its failed.txt here."""
    if code == BROKEN and (told := _last_line(task.spec.folder / FAILED if task.spec else task.log)):
        return told
    if task.spec:
        with suppress(InputError), writing(task.spec.folder / FAILED) as stream:  # the disk may be full
            stream.write(f"{_ending(code)}; the end of {LOG}:\n{_tail(task.log)}\n")
    last = _last_line(task.log) if code > 0 else ""
    return f"{_ending(code)}; the last line of {task.log.name}: {last}" if last else _ending(code)


def _ending(code: int) -> str:
    """How a process ended, in words.

    >>> _ending(-9)
    'the process was ended by SIGKILL, as happens when memory is short'
    """
    if code == -signal.SIGKILL:
        return "the process was ended by SIGKILL, as happens when memory is short"
    return (
        f"the process was ended by {signal.Signals(-code).name}" if code < 0 else f"the process ended with code {code}"
    )


def _tail(file: Path) -> str:
    """The last lines of a file."""
    lines = file.read_text(encoding="utf-8", errors="replace").rstrip().splitlines() if file.exists() else []
    return "\n".join(lines[-20:])


def _last_line(file: Path) -> str:
    """The last line of a file, without the name of an error of ours before its words."""
    return re.sub(r"^nestag\.errors\.\w+: ", "", _tail(file).rpartition("\n")[2])
