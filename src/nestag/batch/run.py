"""A run: inputs, a model and a job -> an output folder in which every part is done once; and its totals."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from typing import cast

from nestag.batch.cluster import Cluster, connected
from nestag.batch.manifest import (
    DONE,
    STAGES,
    Claim,
    Done,
    PartOutcome,
    claim,
    read_done,
    refuse_inside,
    refuse_private,
)
from nestag.batch.model import pack, refuse_missing_library
from nestag.batch.plan import Failure, Job, Part, plan_parts
from nestag.batch.storage import READERS, Folder, find_input_files, opened
from nestag.data.segment import Options, segments
from nestag.errors import InputError
from nestag.inspect.tables import Section, Table, duration


@dataclass
class Totals:
    """Counts over the parts of a run."""

    parts: int  # of the whole plan
    weight: int  # bytes of the whole plan
    workers: int = 0
    finished: int = 0
    skipped: int = 0  # that were done before
    rows: int = 0
    bad_rows: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)  # of all workers together
    failures: list[Failure] = field(default_factory=list)
    processor: float = 0.0  # seconds that workers computed
    peak: int = 0  # bytes of memory of a worker
    tagged_rows: int = 0  # by this run
    tagged_weight: int = 0
    skipped_weight: int = 0
    began: float = field(default_factory=time.monotonic)
    first: tuple[float, int, int] | None = None  # when this run's first part was done, and its rows and weight

    def skip(self, part: Part, done: Done) -> None:
        """Count a part that was done before."""
        self.skipped += 1
        self.skipped_weight += part.weight
        self._count(done)

    def add(self, part: Part, outcome: PartOutcome) -> None:
        """Count a part that a worker is through with."""
        self.tagged_weight += part.weight
        self.tagged_rows += outcome.done.rows + outcome.done.bad_rows if outcome.done else 0
        self.first = self.first or (time.monotonic(), self.tagged_rows, self.tagged_weight)
        if outcome.done is None:
            self.failures.append(Failure(place_of(part), outcome.error))
            return
        self.seconds.update(outcome.seconds)
        self.processor += outcome.processor
        self.peak = max(self.peak, outcome.peak)
        self._count(outcome.done)

    def _count(self, done: Done) -> None:
        self.finished += 1
        self.rows += done.rows
        self.bad_rows += done.bad_rows
        self.entities.update(done.entities)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """Rows a second of this run."""
        return self.tagged_rows / max(self.elapsed, 1e-9)

    def line(self) -> str:
        """How far the run is; speed is that since the first part was done, because workers take a while to start."""
        since, rows, weight = self.first or (time.monotonic(), 0, 0)
        seconds, more = time.monotonic() - since, self.tagged_weight - weight
        rate = f"{(self.tagged_rows - rows) / seconds:,.0f}" if more and seconds else "?"
        ahead = self.weight - self.skipped_weight - self.tagged_weight
        left = duration(seconds * ahead / more) if more else "?"
        return (
            f"{self.finished:,} of {self.parts:,} parts, {rate} rows/s, {left} left,"
            f" {self.bad_rows:,} rows set aside, {len(self.failures):,} failed"
        )

    def table(self) -> Table:
        """The run in the end."""
        counts = (
            ("parts", self.finished), ("of them done before", self.skipped), ("rows", self.rows),
            ("rows set aside", self.bad_rows), ("failures", len(self.failures)),
            ("entities", self.entities.total()), ("workers", self.workers), ("rows/s", round(self.rate, 1)),
            ("most MiB of a worker", self.peak // 2**20),
        )  # fmt: skip
        times = (
            ("from begin to end", round(self.elapsed, 1)),
            *((s, round(self.seconds[s], 1)) for s in STAGES),
            ("of processors", round(self.processor, 1)),
        )
        note = "Seconds of stages are of all workers together; reading overlaps with tagging."
        sections = (
            Section("run", counts),
            Section("entities by type", tuple(self.entities.most_common())),
            Section("seconds", times),
        )
        return Table("Tagged", ("", "count"), tuple(section for section in sections if section.rows), note)


def place_of(part: Part) -> str:
    """A part as people find it again."""
    what = "row groups" if part.kind == "parquet" else "bytes"
    return f"{part.file.name} ({what} {part.first:,} to {part.last:,})"


def total_weight(parts: Iterable[Part]) -> int:
    """Bytes of all parts."""
    return sum(part.weight for part in parts)


TotalsCallback = Callable[[Totals], None]


@dataclass(frozen=True)
class Finished:
    """What a run has done."""

    totals: Totals
    left: int  # files of other kinds that lie beside the inputs

    @property
    def complete(self) -> bool:
        """Whether every part is done."""
        return not self.totals.failures


def tag(
    source: str,
    out: str,
    model: str,
    job: Job | None = None,
    cluster: Cluster | None = None,
    *,
    verify: bool = False,
    watch: TotalsCallback | None = None,
) -> Finished:
    """Tag every row of the inputs; the same call again goes on where a run was stopped.

    `verify` reads the parts that are done and compares their hashes; otherwise their sizes are compared.
    """
    chosen, folder = job or Job(), Folder(out)
    refuse_private(source, out)
    refuse_inside(source, out)
    inputs = find_input_files(source, chosen.kind, out)
    packed = pack(model, chosen.changes)
    if cluster is None or cluster.address is None:  # the workers will run here
        refuse_missing_library(packed)
    if chosen.language is not None and not chosen.tokens:
        segments("a", chosen.options_for(Options()))  # one that there is not is refused before OUT is begun with it
    with connected(cluster or Cluster(), packed) as connection:
        chosen = chosen.on(connection.device(chosen, packed))
        plan = plan_parts(inputs, chosen)
        claim(folder, Claim(packed.hash, chosen, inputs.kind, plan.schema, inputs.files))
        before = folder.parts()
        done = parts_done(plan.parts, folder, chosen, verify)
        waiting = {part.name: part for part in plan.parts if part.name not in done}
        totals = Totals(len(plan.parts), total_weight(plan.parts), failures=list(plan.failures))
        for part in plan.parts:
            if part.name in done:
                totals.skip(part, done[part.name])
        if waiting:
            totals.workers = connection.workers(chosen, packed, len(waiting))
            for outcome in connection.run(list(waiting.values()), chosen, packed, folder):
                if outcome.stop:
                    raise InputError(f"{outcome.stop}; then the same command goes on where it stopped", "worker")
                totals.add(waiting[outcome.name], outcome)
                if watch:
                    watch(totals)
    folder.remove_leftovers(before)
    return Finished(totals, inputs.left)


def parts_done(parts: Sequence[Part], out: Folder, job: Job, verify: bool = False) -> dict[str, Done]:
    """The parts that are done: they are marked, and their outputs are there with the size or hash that is said."""
    marked, sizes = out.sizes(DONE), out.sizes()
    names = [part.name for part in parts if f"{part.name}.json" in marked]
    with ThreadPoolExecutor(READERS) as pool:
        found = list(pool.map(lambda name: read_done(out, name), names))
        kept = [
            (name, done)
            for name, done in zip(names, found, strict=True)
            if sizes.get(f"{name}.{job.form}") == done.size
        ]
        if verify:
            hashes = pool.map(lambda pair: _sha256(out, f"{pair[0]}.{job.form}"), kept)
            kept = [pair for pair, value in zip(kept, hashes, strict=True) if pair[1].sha256 == value]
    return dict(kept)


def _sha256(out: Folder, name: str) -> str:
    with opened(out.at(name)) as stream:
        return hashlib.file_digest(cast(BytesIO, stream), "sha256").hexdigest()
