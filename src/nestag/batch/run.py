"""A run: inputs, a model and a job -> an output folder with every part written once; and its totals."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from nestag.batch.cluster import Cluster, connect
from nestag.batch.manifest import BAD_ROWS, DONE, RECORDS, Done, claim, finished_parts
from nestag.batch.plan import Failure, Job, Part, plan_parts
from nestag.batch.storage import Folder, find_input_files, is_inside
from nestag.batch.worker import STAGES, PartOutcome, read_model
from nestag.data.segment import Options, segments
from nestag.errors import InputError
from nestag.inspect.tables import Section, Table, duration


@dataclass
class Totals:
    """Counts over the parts of a run."""

    parts: int  # of the whole plan
    weight: int  # bytes to tag in this run
    ignored: int = 0  # input files of other formats
    workers: int = 0
    finished: int = 0
    skipped: int = 0  # finished by an earlier run
    rows: int = 0
    bad_rows: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)  # by stage, of all workers together
    failures: list[Failure] = field(default_factory=list)
    cpu: float = 0.0  # CPU seconds of workers
    peak: int = 0  # bytes of memory of a worker
    tagged_rows: int = 0  # by this run
    tagged_weight: int = 0
    began: float = field(default_factory=time.monotonic)
    first: tuple[float, int, int] | None = None  # when this run's first part was finished, and its rows and weight

    def skip(self, part: Part, done: Done) -> None:
        """Count a part that was finished by an earlier run."""
        self.skipped += 1
        self.weight -= part.weight
        self._count(done)

    def add(self, part: Part, outcome: PartOutcome) -> None:
        """Count a part that this run has finished or given up."""
        self.tagged_weight += part.weight
        self.tagged_rows += outcome.done.rows + outcome.done.bad_rows if outcome.done else 0
        self.first = self.first or (time.monotonic(), self.tagged_rows, self.tagged_weight)
        if outcome.done is None:
            self.failures.append(Failure(str(part), outcome.error))
            return
        self.seconds.update(outcome.seconds)
        self.cpu += outcome.cpu
        self.peak = max(self.peak, outcome.peak)
        self._count(outcome.done)

    def _count(self, done: Done) -> None:
        self.finished += 1
        self.rows += done.rows
        self.bad_rows += done.bad_rows
        self.entities.update(done.entities)

    def line(self) -> str:
        """Return the progress; speed is measured from the first finished part, because workers take time to start."""
        since, rows, weight = self.first or (time.monotonic(), 0, 0)
        seconds, more = time.monotonic() - since, self.tagged_weight - weight
        rate = f"{(self.tagged_rows - rows) / seconds:,.0f}" if more and seconds else "?"
        left = duration(seconds * (self.weight - self.tagged_weight) / more) if more else "?"
        return (
            f"{self.finished:,} of {self.parts:,} parts, {rate} rows/s, {left} left,"
            f" {self.bad_rows:,} bad rows, {len(self.failures):,} failed"
        )

    def table(self) -> Table:
        """Return the summary."""
        elapsed = time.monotonic() - self.began
        counts = (
            ("parts", self.finished), ("finished before", self.skipped), ("rows", self.rows),
            ("bad rows", self.bad_rows), ("failures", len(self.failures)), ("entities", self.entities.total()),
            ("workers", self.workers), ("rows/s", round(self.tagged_rows / max(elapsed, 1e-9), 1)),
            ("peak MiB of a worker", self.peak // 2**20),
        )  # fmt: skip
        stages = [(stage, round(self.seconds[stage], 1)) for stage in STAGES]
        times = (("total", round(elapsed, 1)), *stages, ("CPU", round(self.cpu, 1)))
        sections = (
            Section("run", counts),
            Section("entities by type", tuple(self.entities.most_common())),
            Section("seconds", times),
        )
        note = "Seconds of stages are of all workers together; reading overlaps with tagging."
        return Table("Tagged", ("", "count"), tuple(section for section in sections if section.rows), note)


def tag(
    source: str,
    out: str,
    model: str,
    job: Job | None = None,
    cluster: Cluster | None = None,
    *,
    verify: bool = False,
    watch: Callable[[Totals], None] | None = None,
) -> Totals:
    """Tag every row of the inputs; the same call resumes a run that was stopped.

    With `verify`, finished parts are compared by hash, otherwise by size.
    """
    job, cluster, folder = job or Job(), cluster or Cluster(), Folder(out)
    _check_addresses(source, out)
    inputs = find_input_files(source, job.kind, out)
    files = read_model(model, job.changes)
    if cluster.address is None:  # the workers run here
        files.check_libraries()
    if job.language is not None and not job.tokens:
        segments("a", job.options_for(Options()))  # refuse an unknown language before anything is written
    try:
        with connect(cluster, files) as connection:
            job = job.on(connection.device(job, files))
            plan = plan_parts(inputs, job)
            claim(folder, files.hash, job, inputs, plan.schema)
            done = finished_parts(plan.parts, folder, job, verify)
            waiting = {part.name: part for part in plan.parts if part.name not in done}
            weight = sum(part.weight for part in plan.parts)
            totals = Totals(len(plan.parts), weight, inputs.ignored, failures=list(plan.failures))
            for part in plan.parts:
                if part.name in done:
                    totals.skip(part, done[part.name])
            if waiting:
                totals.workers = connection.workers(job, files, len(waiting))
                for outcome in connection.run(list(waiting.values()), job, files, folder, totals.workers):
                    if outcome.stop:
                        raise InputError(f"{outcome.stop}; then resume with the same command", "worker")
                    totals.add(waiting[outcome.name], outcome)
                    if watch:
                        watch(totals)
    finally:
        folder.remove_leftovers("", RECORDS, DONE, BAD_ROWS)  # Ray kills its workers
    return totals


def _check_addresses(source: str, out: str) -> None:
    for address in (source, out):
        if address.startswith("memory://"):
            raise InputError("workers cannot see the memory of this process; give a folder or an object store", address)
    if is_inside(out, source):
        raise InputError("the output is inside the inputs, and the next run would read it; write elsewhere", out)
