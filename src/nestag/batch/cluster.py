"""The cluster: parts -> outcomes, by Ray actors that keep the model loaded.

Each worker tags one part at a time. Ray starts a worker that dies again, and retries its part. Rows never travel
through Ray: a worker reads, tags and writes its part.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import nestag
from nestag.batch.plan import Device, Job, Part
from nestag.batch.storage import Folder, library
from nestag.batch.worker import ModelFiles, PartOutcome, PartTagger
from nestag.errors import InputError
from nestag.training.interruption import ENDING, interruptible

MAX_DEATHS = 3
"""Workers that may die over one part before it is given up."""

WORKERS_PER_GPU = 4
"""Workers that share a GPU if the model is small: with one, the GPU would be idle most of the time."""

SMALL_MODEL = 256 * 2**20
"""Maximum bytes of a small model."""

LONGEST_WAIT = 0.5
"""Seconds before a signal to stop is noticed."""

OBJECT_BYTES = 128 * 2**20
"""Memory for objects of a cluster that is started here, without the model."""

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


@dataclass(frozen=True)
class Cluster:
    """The Ray cluster to use, and the number of workers."""

    address: str | None = None  # of a running cluster; by default one is started here and stopped at the end
    workers: int | None = None  # by default one for each CPU core, or one to four for each GPU


class RayConnection:
    """A connection to a cluster."""

    def __init__(self, ray: Any, cluster: Cluster) -> None:
        self.ray, self.cluster = ray, cluster

    def device(self, job: Job, model: ModelFiles) -> Device:
        """Return the device of the job, or by default a GPU if the cluster has one and the model can use it."""
        gpus = self.ray.cluster_resources().get("GPU", 0)
        if job.device == "cuda" and (model.is_onnx or not gpus):
            reason = "a model for onnxruntime runs on the CPU" if model.is_onnx else "the cluster has no GPU"
            raise InputError(f"{reason}; use cpu", "--device")
        return job.device or ("cuda" if gpus and not model.is_onnx else "cpu")

    def workers(self, job: Job, model: ModelFiles, parts: int) -> int:
        """Return the number of workers."""
        resources = self.ray.cluster_resources()
        count = cores = int(resources.get("CPU", 1))
        if job.device == "cuda":
            count = gpus = int(resources.get("GPU", 1))
            if model.size <= SMALL_MODEL:
                count = gpus * max(1, min(WORKERS_PER_GPU, cores // gpus))
        return max(1, min(self.cluster.workers or count, parts))

    def run(
        self, parts: Sequence[Part], job: Job, model: ModelFiles, out: Folder, workers: int
    ) -> Iterator[PartOutcome]:
        """Tag parts, and yield the outcome of each as soon as it is known."""
        ray = self.ray
        gpus = ray.cluster_resources().get("GPU", 0) if job.device == "cuda" else 0
        actor = ray.remote(
            num_cpus=0 if gpus else 1,
            num_gpus=min(1, gpus / workers),  # workers share GPUs
            max_restarts=-1,
            max_task_retries=MAX_DEATHS - 1,
        )(PartTagger)
        files = ray.put(model)
        free = [actor.remote(job, files, out, nestag.__version__) for _ in range(workers)]
        waiting, running = deque(parts), dict[Any, tuple[Any, Part]]()
        lost = ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError
        try:
            with interruptible(*ENDING) as interrupted:  # Ray may change the exit code of an exception in `wait`
                while waiting or running:
                    while waiting and free:
                        worker, part = free.pop(), waiting.popleft()
                        running[worker.tag.remote(part)] = worker, part
                    finished, _ = ray.wait(list(running), timeout=LONGEST_WAIT)
                    if interrupted:
                        interrupted.stop()
                    for done in finished:
                        worker, part = running.pop(done)
                        free.append(worker)
                        try:
                            yield ray.get(done)
                        except lost:
                            problem = f"its worker died {MAX_DEATHS} times; is there enough memory?"
                            yield PartOutcome(part.name, error=problem)
        finally:
            for worker in (*free, *(worker for worker, _ in running.values())):
                ray.kill(worker)


@contextmanager
def _same_handler(number: signal.Signals) -> Iterator[None]:
    """Keep this process's own handler of a signal, which Ray replaces by one that exits with another code."""
    handler = signal.getsignal(number)
    yield
    if callable(handler) and threading.current_thread() is threading.main_thread():
        signal.signal(number, handler)


@contextmanager
def connect(cluster: Cluster, model: ModelFiles) -> Iterator[RayConnection]:
    """Connect to a cluster, or start one; what Ray prints goes to the standard error."""
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    ray = library("ray")
    starts = not ray.is_initialized()
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if cluster.address:
        settings["address"] = cluster.address
    else:
        size = OBJECT_BYTES + 2 * model.size
        settings |= {"include_dashboard": False, "object_store_memory": size, "address": "local"}
        settings |= {"num_cpus": cluster.workers} if cluster.workers else {}
    with redirect_stdout(sys.stderr):
        try:
            if starts:
                with _same_handler(signal.SIGTERM):
                    ray.init(**settings)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            problem = f"cannot connect to the Ray cluster ({reason}); check it with: ray status"
            raise InputError(problem, cluster.address or "") from None
        try:
            yield RayConnection(ray, cluster)
        finally:
            if starts:
                ray.shutdown()
