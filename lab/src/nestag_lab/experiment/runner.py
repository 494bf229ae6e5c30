"""The runner: runs what is left of a plan, several runs in parallel, each in its own process.

A failed task does not stop the others; failures are listed at the end. Ctrl-C (or being terminated) lets every run
save itself; the same call goes on from there. Two runners may work on one folder: each run is locked by the process
that does it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nestag.data.cores import usable_cores
from nestag.data.validation import to_mapping
from nestag.errors import NestagError
from nestag.training.interruption import Interrupted, interruptible
from nestag_lab.experiment.facts import facts_file
from nestag_lab.experiment.outcome import Ended, Task, TaskOutcome, outcome_of
from nestag_lab.experiment.plan import ExperimentPlan, refuse_changed_corpus
from nestag_lab.experiment.spec import LOG, CorpusFiles, Spec, make_folder, write_spec

PAUSE = 0.1
"""Seconds between looks at the processes."""


class Observer:
    """Is told what happens; this one ignores it."""

    def ended(self, outcome: TaskOutcome) -> None:
        """A task has ended."""

    def stopping(self) -> None:
        """Called when the user asks to stop, while runs are saved."""


def run_plan(plan: ExperimentPlan, at_once: int = 1, cpu: bool = False, watch: Observer | None = None) -> Ended:
    """Run what is left of a plan."""
    unknown = [corpus for corpus in plan.corpora if not facts_file(plan.root, corpus.name).exists()]
    tasks = [_facts_task(corpus, plan.root) for corpus in unknown]
    tasks += [_run_task(spec, plan.root, cpu) for spec in plan.left]
    return run_tasks(tasks, at_once, [] if cpu or not tasks else gpus(), watch)


def run_tasks(tasks: Sequence[Task], at_once: int, devices: Sequence[str], watch: Observer | None = None) -> Ended:
    """Run tasks in parallel until all have ended or the user stops them."""
    pool = _Pool(tasks, min(at_once, max(1, len(tasks))), devices)
    with interruptible(signal.SIGINT, signal.SIGTERM) as interrupted:  # a second time, runs stop unsaved
        outcomes = tuple(pool.outcomes(interrupted, watch or Observer()))
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
    """The GPUs to share, as CUDA_VISIBLE_DEVICES names them: those it lists, or all there are."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip()]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def environment(slot: int, at_once: int, devices: Sequence[str]) -> dict[str, str]:
    """The environment of a process: one GPU, in turn, and a fair share of the CPU cores unless set already."""
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

    def outcomes(self, interrupted: Interrupted, watch: Observer) -> Iterator[TaskOutcome]:
        """Start waiting tasks and yield how each ends; once interrupted, nothing new is started."""
        told = 0
        try:
            while any(self.slots) or (self.waiting and not interrupted.times):
                for outcome in self._turn(interrupted):
                    watch.ended(outcome)
                    yield outcome
                if interrupted.times > told:
                    if not told:
                        watch.stopping()
                    told = interrupted.times
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
