"""A worker: it keeps a model loaded, and reads, tags and writes one part after the other.

A part is streamed, so memory does not grow with it. A worker makes all batches of a part from the rows of that part, so
the bytes do not depend on the number of workers.
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

from nestag.batch.manifest import Done, PartOutcome, bad_rows_name, write_done
from nestag.batch.model import ModelFiles
from nestag.batch.output import WRITERS, HashingStream
from nestag.batch.plan import Job, Part
from nestag.batch.rows import BadFileError, BadRow, RowBatch, read_part
from nestag.batch.storage import Folder
from nestag.errors import NestagError, visible
from nestag.model.predictor import TextEntities

STAGES = ("loading", "reading", "tagging", "writing")
"""What a worker spends its time on; reading overlaps with tagging."""


class PartTagger:
    """Tags parts."""

    def __init__(self, job: Job, model: ModelFiles, out: Folder) -> None:
        self.job, self.out = job, out
        self.seconds = dict.fromkeys(STAGES, 0.0)
        with self._timed("loading"):
            self.predictor = model.load(job.device, job.changes)

    def __call__(self, part: Part) -> PartOutcome:
        """Tag a part; errors in its file or the output are in the outcome."""
        began, cpu = time.perf_counter(), time.process_time()
        try:
            done = self._tag(part)
        except BadFileError as error:
            return PartOutcome(part.name, error=error.message)
        except NestagError as error:
            return PartOutcome(part.name, stop=str(error))
        except Exception as error:  # noqa: BLE001 - one part that cannot be tagged must not stop the others
            return PartOutcome(part.name, error=visible(f"{type(error).__name__}: {error}"[:300]))
        finally:
            seconds, self.seconds = self.seconds, dict.fromkeys(STAGES, 0.0)
        seconds["tagging"] = time.perf_counter() - began - seconds["writing"]
        return PartOutcome(part.name, done, seconds=seconds, cpu=time.process_time() - cpu, peak=peak_memory())

    def _tag(self, part: Part) -> Done:
        bad, types, rows = list[BadRow](), Counter[str](), 0
        with self.out.writing(f"{part.name}.{self.job.form}") as target:
            stream = HashingStream(target)
            writer = WRITERS[self.job.form](cast(IO[bytes], stream), part.file.name)
            for batch, entities in self.tag(self._read(part)):
                with self._timed("writing"):
                    writer.write(batch, entities)
                bad += batch.bad
                rows += len(batch.values)
                types.update(entity.type for row in entities for entity in row)
            with self._timed("writing"):
                writer.close()
        done = Done(
            part.file.name, part.first, part.last, stream.size, stream.digest.hexdigest(), rows, len(bad),
            dict(sorted(types.items())),
        )  # fmt: skip
        if bad:
            records = [json.dumps({"file": part.file.name, **row._asdict()}, ensure_ascii=False) for row in bad]
            self.out.write(bad_rows_name(part.name), "".join(f"{record}\n" for record in records).encode())
        write_done(self.out, part.name, done)  # last, as it makes the part finished
        return done

    def tag(self, batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, list[TextEntities[Any]]]]:
        """Stream batches, each with the entities of its rows."""
        waiting: deque[RowBatch] = deque()

        def values() -> Iterator[Any]:
            for batch in batches:
                waiting.append(batch)  # before the first of its rows is tagged
                yield from batch.values

        rows: list[TextEntities[Any]] = []
        for entities in self.predictor.pipe(values(), options=self.job.options_for(self.predictor.settings.reading)):
            while len(rows) == len(waiting[0].values):
                yield waiting.popleft(), rows
                rows = []
            rows.append(entities)
        for batch in waiting:  # the last batch, and batches without a good row
            yield batch, rows
            rows = []

    def _read(self, part: Part) -> Iterator[RowBatch]:
        batches = read_part(part, self.job)
        while True:
            with self._timed("reading"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began


def peak_memory() -> int:
    """Return the maximum bytes of memory that this process has used so far."""
    with suppress(OSError, StopIteration):  # on Linux, getrusage also counts the memory of the parent process
        lines = Path("/proc/self/status").read_text().splitlines()
        return 2**10 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 2**10)
