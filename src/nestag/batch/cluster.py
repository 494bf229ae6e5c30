"""The cluster: parts -> outcomes, by workers of Ray Data that keep the model loaded.

The rows of Ray's dataset are parts, not sentences. Ray cuts rows into blocks as memory and workers allow, so the bytes
of a block of sentences would depend on the run; a part is always the same. Ray Data starts the workers, hands each of
them one part at a time, starts those that die again and gives their parts to others. Sentences never travel: a worker
reads, tags and writes its part by itself, with bounded queues, so nothing piles up anywhere.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import nestag
from nestag.batch.manifest import PartOutcome, as_json, outcome_from, part_from
from nestag.batch.model import Packed
from nestag.batch.plan import Device, Job, Part
from nestag.batch.storage import Folder, library
from nestag.batch.worker import PartTagger
from nestag.errors import InputError

MOST_DEATHS = 3
"""Workers that may die over one part before it is given up."""

SHARING = 4
"""Workers that share a GPU if the model is small: the GPU would wait for one of them most of the time."""

SMALL_MODEL = 256 * 2**20
"""Bytes up to which a model is small."""

SHARED_BYTES = 128 * 2**20
"""Memory for objects of an embedded cluster, beside the model."""

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


@dataclass(frozen=True)
class Cluster:
    """Where the workers are, and how many."""

    address: str | None = None  # of a running cluster; without it one is started here and stopped again
    workers: int | None = None  # as many as there are processors or GPUs, or more where a small model leaves them idle


class RayConnection:
    """A cluster that is there."""

    def __init__(self, ray: Any, cluster: Cluster) -> None:
        self.ray, self.cluster = ray, cluster

    def device(self, job: Job, model: Packed) -> Device:
        """What the model runs on: the device asked for, or a GPU if the cluster has one and the model can use it."""
        gpus = self.ray.cluster_resources().get("GPU", 0)
        if job.device == "cuda" and (model.is_graph or not gpus):
            why = "a model for onnxruntime runs on cpu" if model.is_graph else "the cluster has no GPU"
            raise InputError(f"{why}; use cpu", "--device")
        return job.device or ("cuda" if gpus and not model.is_graph else "cpu")

    def workers(self, job: Job, model: Packed, parts: int) -> int:
        """How many workers there will be: one for each processor, or one to four for each GPU."""
        found = self.ray.cluster_resources()
        there = processors = int(found.get("CPU", 1))
        if job.device == "cuda":
            there = gpus = int(found.get("GPU", 1))
            if model.size <= SMALL_MODEL:
                there = gpus * max(1, min(SHARING, processors // gpus))
        return max(1, min(self.cluster.workers or there, parts))

    def run(self, parts: Sequence[Part], job: Job, model: Packed, out: Folder) -> Iterator[PartOutcome]:
        """What becomes of each part, as it is known."""
        data = library("ray.data")
        _keep_quiet(data)
        workers = self.workers(job, model, len(parts))
        gpus = self.ray.cluster_resources().get("GPU", 0) if job.device == "cuda" else 0
        ledger = self.ray.remote(num_cpus=0, max_restarts=-1)(_AttemptLedger).remote()
        rows = data.from_items([{"part": as_json(part)} for part in parts], override_num_blocks=len(parts))
        outcomes = rows.map(
            _Worker,
            fn_constructor_args=(nestag.__version__, job, self.ray.put(model), out, ledger),
            compute=data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
            num_cpus=0 if gpus else 1,
            num_gpus=min(1, gpus / workers),  # more workers than GPUs share them
        )
        for row in outcomes.iter_rows():
            yield outcome_from(row["outcome"])


@contextmanager
def connected(cluster: Cluster, model: Packed) -> Iterator[RayConnection]:
    """A cluster to work with; what Ray prints goes to the error stream."""
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    ray = library("ray")
    started = not ray.is_initialized()
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if cluster.address:
        settings["address"] = cluster.address
    else:
        size = SHARED_BYTES + 2 * model.size
        settings |= {"include_dashboard": False, "object_store_memory": size, "address": "local"}
        settings |= {"num_cpus": cluster.workers} if cluster.workers else {}
    with redirect_stdout(sys.stderr):
        try:
            if started:
                ray.init(**settings)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"no cluster of Ray ({reason}); check it with: ray status", cluster.address or ""
            ) from None
        try:
            yield RayConnection(ray, cluster)
        finally:
            if started:
                ray.shutdown()


def _keep_quiet(data: Any) -> None:
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


class _AttemptLedger:
    """How often each part was begun; it lives in a process of its own, which survives the workers."""

    def __init__(self) -> None:
        self.begun: dict[str, int] = {}

    def begin(self, part: str) -> int:
        """Note that a worker begins with a part; how often that was."""
        self.begun[part] = self.begun.get(part, 0) + 1
        return self.begun[part]


class _Worker:
    """A worker as Ray Data wants it: rows in, rows out."""

    def __init__(self, version: str, job: Job, model: Any, out: Folder, ledger: Any) -> None:
        if version != nestag.__version__:
            raise RuntimeError(f"the worker has nestag {nestag.__version__} and not {version}; install the same")
        self.ray, self.ledger = library("ray"), ledger
        self.tagger = PartTagger(job, self.ray.get(model), out)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        part = part_from(row["part"])
        if self.ray.get(self.ledger.begin.remote(part.name)) > MOST_DEATHS:
            lost = PartOutcome(part.name, error=f"its worker died {MOST_DEATHS} times; is there enough memory?")
            return {"outcome": as_json(lost)}
        return {"outcome": as_json(self.tagger(part))}
