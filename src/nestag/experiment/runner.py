"""The runner: does what is left of a plan, several runs at once, each in a process of its own.

A failure is kept for the end and stops nothing else. Ctrl-C (or being terminated) lets every run save itself; the same
call goes on from there. Two runners may work on one folder: each run is locked by the process that does it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from nestag.corpora.files import writing
from nestag.errors import InputError
from nestag.experiment.facts import facts_file
from nestag.experiment.job import TAKEN
from nestag.experiment.plan import Plan
from nestag.experiment.result import RESULT, Result, read_result
from nestag.experiment.spec import FAILED, LOG, Corpus, Spec, write_spec

PAUSE = 0.1
"""Seconds between looks at the processes."""

How = Literal["finished", "failed", "taken", "stopped"]


class Task(NamedTuple):
    """What a process is started for: a run, or the facts of a corpus."""

    title: str
    command: tuple[str, ...]  # after python -m
    log: Path
    spec: Spec | None = None


@dataclass(frozen=True)
class Outcome:
    """How a task ended."""

    task: Task
    how: How
    seconds: float
    reason: str = ""  # of a failure
    result: Result | None = None  # of a finished run


@dataclass(frozen=True)
class Ended:
    """How tasks ended."""

    outcomes: tuple[Outcome, ...]
    stopped: bool  # by Ctrl-C

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """What failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.how == "failed")


Watch = Callable[[Outcome], None]
"""Whoever wants to know of each task that ends."""


def run_plan(plan: Plan, at_once: int = 1, cpu: bool = False, watch: Watch | None = None) -> Ended:
    """Do what is left of a plan."""
    unknown = [corpus for corpus in plan.corpora if not facts_file(plan.root, corpus.name).exists()]
    tasks = [_facts_task(corpus, plan.root) for corpus in unknown] + [_run_task(spec, cpu) for spec in plan.left]
    return run_tasks(tasks, at_once, [] if cpu or not tasks else gpus(), watch)


def run_tasks(tasks: Sequence[Task], at_once: int, devices: Sequence[str], watch: Watch | None = None) -> Ended:
    """Do tasks side by side until all have ended, or somebody stops them."""
    pool = _Pool(tasks, min(at_once, max(1, len(tasks))), devices)
    with _interruptible() as interrupted:
        outcomes = tuple(pool.outcomes(interrupted, watch or (lambda outcome: None)))
    return Ended(outcomes, bool(interrupted.times))


def _facts_task(corpus: Corpus, root: Path) -> Task:
    file = facts_file(root, corpus.name)
    _make(file.parent)
    command = ("nestag.experiment.facts", str(root), *corpus)
    return Task(f"the facts of {corpus.name}", command, file.with_suffix(".log"))


def _run_task(spec: Spec, cpu: bool) -> Task:
    command = ("nestag.experiment.job", str(spec.folder), *(["--cpu"] if cpu else []))
    return Task(spec.title, command, spec.folder / LOG, spec)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror}); choose another", str(folder)) from None


def gpus() -> list[str]:
    """The GPUs to share, as CUDA_VISIBLE_DEVICES names them: those it lists, or all there are."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip()]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def environment(slot: int, at_once: int, devices: Sequence[str]) -> dict[str, str]:
    """That of a process: one GPU, in turn, and a fair share of the processor's cores unless that is set already."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = str(max(1, cores // at_once))
    shared = {"OMP_NUM_THREADS": threads, "RAYON_NUM_THREADS": threads, **os.environ}
    return shared | ({"CUDA_VISIBLE_DEVICES": devices[slot % len(devices)]} if devices else {})


@dataclass(eq=False)
class _Child:
    """A task that is being done."""

    task: Task
    process: subprocess.Popen[bytes]
    begin: float = field(default_factory=time.monotonic)


class _Interrupted:
    """How often somebody asked to stop."""

    times = 0


class _Pool:
    """Processes side by side, in slots."""

    def __init__(self, tasks: Sequence[Task], at_once: int, devices: Sequence[str]) -> None:
        self.waiting = list(tasks)
        self.devices = devices
        self.slots: list[_Child | None] = [None] * at_once

    def outcomes(self, interrupted: _Interrupted, watch: Watch) -> Iterator[Outcome]:
        """Start what waits and tell how each ends; once interrupted, nothing new is started."""
        try:
            told = 0
            while any(self.slots) or (self.waiting and not interrupted.times):
                for child in self._turn(start=not interrupted.times):
                    outcome = _outcome(child, bool(interrupted.times))
                    watch(outcome)
                    yield outcome
                if interrupted.times > told:
                    told = interrupted.times
                    self._interrupt()
                time.sleep(PAUSE)
        finally:  # if we fail ourselves, no process is left behind
            self._interrupt()
            for child in filter(None, self.slots):
                child.process.wait()

    def _turn(self, start: bool) -> list[_Child]:
        """Take away what has ended, and start what waits in its place."""
        ended = [child for child in self.slots if child and child.process.poll() is not None]
        self.slots = [None if child in ended else child for child in self.slots]
        for slot, child in enumerate(self.slots):
            if start and not child and self.waiting:
                self.slots[slot] = self._start(self.waiting.pop(0), slot)
        return ended

    def _start(self, task: Task, slot: int) -> _Child:
        if task.spec:
            write_spec(task.spec)
        with open(task.log, "ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", *task.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(slot, len(self.slots), self.devices),
                process_group=0,  # so that Ctrl-C reaches it through us, and once
            )
        return _Child(task, process)

    def _interrupt(self) -> None:
        for child in self.slots:
            if child and child.process.poll() is None:
                child.process.send_signal(signal.SIGINT)


def _outcome(child: _Child, stopping: bool) -> Outcome:
    task, code, seconds = child.task, child.process.returncode, time.monotonic() - child.begin
    if code == 0:
        if task.spec:
            return Outcome(task, "finished", seconds, result=read_result(task.spec.folder / RESULT))
        task.log.unlink(missing_ok=True)
        return Outcome(task, "finished", seconds)
    if code == TAKEN:
        return Outcome(task, "taken", seconds)
    failed = task.spec.folder / FAILED if task.spec else None
    if stopping and not (failed and failed.exists()):
        return Outcome(task, "stopped", seconds)
    if failed and not failed.exists():  # it had no time to say why
        with writing(failed) as stream:
            stream.write(f"{_ending(code)}; the end of {LOG}:\n{_tail(task.log)}\n")
        return Outcome(task, "failed", seconds, _ending(code))
    return Outcome(task, "failed", seconds, _tail(failed or task.log).rpartition("\n")[2])


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


@contextmanager
def _interruptible() -> Iterator[_Interrupted]:
    """Ctrl-C, or being terminated, asks to stop; a second time it is passed on at once, and runs stop unsaved."""
    interrupted = _Interrupted()

    def ask(*_: object) -> None:
        interrupted.times += 1

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: nobody can press Ctrl-C here
        yield interrupted
        return
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
