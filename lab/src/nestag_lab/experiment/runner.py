"""The runner: runs what is left of a plan, several runs in parallel, each in its own process.

A failed task does not stop the others; failures are listed at the end. Ctrl-C (or being terminated) lets every run
save itself; the same call resumes. Two runners may work on one folder: each run is locked by the process that does it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from nestag.data.cores import usable_cores
from nestag.data.validation import to_mapping
from nestag.errors import InputError, NestagError
from nestag.formats.files import writing
from nestag.training.interruption import Interrupted, interruptible
from nestag_lab.experiment.facts import facts_file
from nestag_lab.experiment.job import BROKEN, STOPPED, TAKEN
from nestag_lab.experiment.plan import ExperimentPlan, refuse_changed_corpus
from nestag_lab.experiment.result import RESULT, RunResult, read_result
from nestag_lab.experiment.spec import FAILED, LOG, CorpusFiles, Spec, make_folder, write_spec

PAUSE = 0.1
"""Seconds between looks at the processes."""


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


Watch = Callable[["TaskOutcome | None"], None]
"""Called when a task has ended, and with None when the user asks to stop while runs are saved."""


def run_plan(plan: ExperimentPlan, at_once: int = 1, cpu: bool = False, watch: Watch | None = None) -> Ended:
    """Run what is left of a plan."""
    unknown = [corpus for corpus in plan.corpora if not facts_file(plan.root, corpus.name).exists()]
    tasks = [_facts_task(corpus, plan.root) for corpus in unknown]
    tasks += [_run_task(spec, plan.root, cpu) for spec in plan.left]
    return run_tasks(tasks, at_once, [] if cpu or not tasks else gpus(), watch)


def run_tasks(tasks: Sequence[Task], at_once: int, devices: Sequence[str], watch: Watch | None = None) -> Ended:
    """Run tasks in parallel until all have ended or the user stops them."""
    pool = _Pool(tasks, min(at_once, max(1, len(tasks))), devices)
    with interruptible(signal.SIGINT, signal.SIGTERM) as interrupted:  # a second time, runs stop unsaved
        outcomes = tuple(pool.outcomes(interrupted, watch or (lambda _: None)))
    return Ended(outcomes, bool(interrupted.times))


def _facts_task(corpus: CorpusFiles, root: Path) -> Task:
    file = facts_file(root, corpus.name)
    command = ("nestag_lab.experiment.facts", str(root), json.dumps(to_mapping(corpus)))
    title = f"the facts of {corpus.name}"
    return Task(title, command, file.with_suffix(".log"), prepare=partial(make_folder, file.parent), facts=file)


def _run_task(spec: Spec, root: Path, cpu: bool) -> Task:
    command = ("nestag_lab.experiment.job", str(spec.folder), *(["--cpu"] if cpu else []))
    return Task(spec.title, command, spec.folder / LOG, spec, partial(_prepare, spec, root))


def _prepare(spec: Spec, root: Path) -> None:
    """Write the spec, unless the corpus has changed since the first run started."""
    refuse_changed_corpus(spec.corpus, root)
    write_spec(spec)


def gpus() -> list[str]:
    """Return the GPUs to share, as CUDA_VISIBLE_DEVICES names them: those it lists, or all there are."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip()]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def environment(slot: int, at_once: int, devices: Sequence[str]) -> dict[str, str]:
    """Return the environment of a process: one GPU, in turn, and a fair share of the CPU cores unless set already."""
    threads = str(max(1, usable_cores() // at_once))
    shared = {"OMP_NUM_THREADS": threads, "RAYON_NUM_THREADS": threads, **os.environ}
    return shared | ({"CUDA_VISIBLE_DEVICES": devices[slot % len(devices)]} if devices else {})


@dataclass(eq=False)
class _Child:
    """A running task."""

    task: Task
    process: subprocess.Popen[bytes]
    begin: float = field(default_factory=time.monotonic)


class _Pool:
    """Processes in parallel, in slots."""

    def __init__(self, tasks: Sequence[Task], at_once: int, devices: Sequence[str]) -> None:
        self.waiting = list(tasks)
        self.devices = devices
        self.slots: list[_Child | None] = [None] * at_once

    def outcomes(self, interrupted: Interrupted, watch: Watch) -> Iterator[TaskOutcome]:
        """Start waiting tasks and yield how each ends; once interrupted, nothing new is started."""
        signals = 0
        try:
            while any(self.slots) or (self.waiting and not interrupted.times):
                for outcome in self._turn(interrupted):
                    watch(outcome)
                    yield outcome
                if interrupted.times > signals:
                    if not signals:
                        watch(None)
                    signals = interrupted.times
                    self._interrupt()
                time.sleep(PAUSE)
        finally:  # if we fail ourselves, no process is left behind
            self._interrupt()
            for child in filter(None, self.slots):
                child.process.wait()

    def _turn(self, interrupted: Interrupted) -> Iterator[TaskOutcome]:
        """Yield what has ended, and start a waiting task in its place."""
        for slot, child in enumerate(self.slots):
            if child and child.process.poll() is not None:
                self.slots[slot] = None
                yield outcome_of(
                    child.task, child.process.returncode, time.monotonic() - child.begin, bool(interrupted.times)
                )
            if not self.slots[slot] and self.waiting and not interrupted.times:
                task = self.waiting.pop(0)
                try:
                    self.slots[slot] = self._start(task, slot)
                except (NestagError, OSError) as error:
                    yield TaskOutcome(task, "failed", 0.0, str(error))

    def _start(self, task: Task, slot: int) -> _Child:
        task.prepare()
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


def outcome_of(task: Task, code: int, seconds: float, stopping: bool) -> TaskOutcome:
    """Return the outcome of an exit code; while tasks are being stopped, a stopped one is not a failure."""
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
    if code == BROKEN and (reason := _last_line(task.spec.folder / FAILED if task.spec else task.log)):
        return reason
    if task.spec:
        with suppress(InputError), writing(task.spec.folder / FAILED) as stream:  # the disk may be full
            stream.write(f"{_ending(code)}; the end of {LOG}:\n{_tail(task.log)}\n")
    last = _last_line(task.log) if code > 0 else ""
    return f"{_ending(code)}; the last line of {task.log.name}: {last}" if last else _ending(code)


def _ending(code: int) -> str:
    """Return how a process ended, in words.

    >>> _ending(-9)
    'the process was ended by SIGKILL, as happens when memory is short'
    """
    if code == -signal.SIGKILL:
        return "the process was ended by SIGKILL, as happens when memory is short"
    return (
        f"the process was ended by {signal.Signals(-code).name}" if code < 0 else f"the process ended with code {code}"
    )


def _tail(file: Path) -> str:
    """Return the last lines of a file."""
    lines = file.read_text(encoding="utf-8", errors="replace").rstrip().splitlines() if file.exists() else []
    return "\n".join(lines[-20:])


def _last_line(file: Path) -> str:
    """Return the last line of a file, without the class name of a nestag error."""
    return re.sub(r"^nestag\.errors\.\w+: ", "", _tail(file).rpartition("\n")[2])
