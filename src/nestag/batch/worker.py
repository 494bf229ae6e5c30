"""A worker: it keeps a model loaded and tags one part after the other, each from its beginning to its end.

A part is read, tagged and written as a stream, so memory does not grow with it. All its batches are made in one
worker from its own rows, so its bytes do not depend on how many workers there are.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from nestag.batch.manifest import STAGES, Done, PartOutcome, as_json, bad_rows_name, done_name
from nestag.batch.model import Packed, unpack
from nestag.batch.output import Hashing, writer_for
from nestag.batch.plan import Job, Part
from nestag.batch.rows import BadFileError, BadRow, RowBatch, read_part
from nestag.batch.storage import Folder
from nestag.errors import NestagError, visible
from nestag.model.predictor import TextEntities


class PartTagger:
    """Tags parts."""

    def __init__(self, job: Job, model: Packed, out: Folder) -> None:
        """Load the model."""
        began = time.perf_counter()
        self.job, self.out = job, out
        self.predictor = unpack(model, job.device, job.changes)
        self.loading = time.perf_counter() - began

    def __call__(self, part: Part) -> PartOutcome:
        """Tag a part; whatever is wrong with its file or with the output is in the outcome."""
        clock = _Clock()
        computed = time.process_time()
        clock.seconds["loading"], self.loading = self.loading, 0.0
        try:
            done = self._tag(part, clock)
            return PartOutcome(
                part.name,
                done,
                seconds=clock.seconds,
                processor=time.process_time() - computed,
                peak=peak_memory(),
            )
        except BadFileError as error:
            return PartOutcome(part.name, error=error.message)
        except NestagError as error:
            return PartOutcome(part.name, stop=str(error))
        except Exception as error:  # noqa: BLE001 - one part that cannot be tagged must not end the others
            return PartOutcome(part.name, error=visible(f"{type(error).__name__}: {error}"[:300]))

    def _tag(self, part: Part, clock: _Clock) -> Done:
        job, bad, types, rows = self.job, list[BadRow](), Counter[str](), 0
        with self.out.writing(f"{part.name}.{job.form}") as target:
            stream = Hashing(target)
            writer = writer_for(job.form, cast(IO[bytes], stream), part.file.name)
            for batch, found in self.tag(clock.timed(read_part(part, job), "reading")):
                with clock.running("writing"):
                    writer.write(batch, found)
                bad += batch.bad
                rows += len(batch.values)
                types.update(entity.type for entities in found for entity in entities)
            with clock.running("writing"):
                writer.close()
        done = Done(
            part.file.name, part.first, part.last, stream.size, stream.digest.hexdigest(), rows, len(bad),
            dict(sorted(types.items())),
        )  # fmt: skip
        if bad:
            self.out.write(bad_rows_name(part.name), b"".join(_line(row, part) for row in bad))
        self.out.write(done_name(part.name), as_json(done).encode() + b"\n")  # last: this makes the part done
        clock.finish()
        return done

    def tag(self, batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, list[TextEntities[Any]]]]:
        """Stream the batches with the entities of each of their rows; memory does not grow with them."""
        waiting: deque[RowBatch] = deque()

        def values() -> Iterator[Any]:
            for batch in batches:
                waiting.append(batch)  # before any of its rows can come out
                yield from batch.values

        tagged = self.predictor.pipe(values(), options=self.job.options_for(self.predictor.settings.reading))
        found: list[TextEntities[Any]] = []
        for entities in tagged:
            while len(found) == len(waiting[0].values):
                yield waiting.popleft(), found
                found = []
            found.append(entities)
        for batch in waiting:  # the last row ended here, and rows of which none was good
            yield batch, found
            found = []


def peak_memory() -> int:
    """The most bytes of memory that this process had so far."""
    with suppress(OSError, StopIteration):  # getrusage counts that of whoever started a process too, on Linux
        lines = Path("/proc/self/status").read_text().splitlines()
        return 2**10 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 2**10)


def _line(row: BadRow, part: Part) -> bytes:
    return json.dumps({"file": part.file.name, **row._asdict()}, ensure_ascii=False).encode() + b"\n"


class _Clock:
    """The seconds of each stage of a part; reading overlaps with tagging."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.seconds: dict[str, float] = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def running(self, stage: str) -> Iterator[None]:
        """Count the seconds of a block."""
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began

    def timed(self, batches: Iterator[RowBatch], stage: str) -> Iterator[RowBatch]:
        """The batches, timing how long each takes to arrive."""
        while True:
            with self.running(stage):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def finish(self) -> None:
        """What is not writing is tagging."""
        self.seconds["tagging"] = time.perf_counter() - self.began - self.seconds["writing"]
