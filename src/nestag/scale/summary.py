"""What a run has done so far, for whoever watches, and in the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from nestag.duration import duration
from nestag.scale.outcome import STAGES, Done, PartOutcome
from nestag.scale.plan import Failure, Part
from nestag.tables import Section, Table


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
