"""A worker: it loads the model once, and reads, tags and writes one part after the other.

A part is streamed, so memory does not grow with it. A worker makes all batches of a part from the rows of that part, so
the bytes do not depend on the number of workers.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import IO, Any, cast

import nestag
from nestag.batch.manifest import BAD_ROWS, DONE, Done
from nestag.batch.output import WRITERS, HashingStream, output_table
from nestag.batch.plan import Job, Part
from nestag.batch.rows import BadFileError, BadRow, RowBatch, read_part
from nestag.batch.storage import Folder
from nestag.data.validation import to_mapping
from nestag.errors import MissingExtraError, NestagError, visible
from nestag.formats.files import new_part
from nestag.model.model_folder import GRAPH, MANIFEST, load, open_model
from nestag.model.predictor import Predictor, TextEntities

STAGES = ("loading", "reading", "tagging", "writing")
"""What a worker spends its time on; reading overlaps with tagging."""

THREADS = 1
"""Threads of a worker on a CPU: workers run in parallel, and with one thread the bits do not depend on the machine."""


@dataclass(frozen=True)
class ModelFiles:
    """The bytes of a model's files by name, so that workers need no access to its folder, and a hash of all of them."""

    files: dict[str, bytes]
    hash: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files.values()))

    @property
    def is_onnx(self) -> bool:
        """Whether onnxruntime runs the model."""
        return GRAPH in self.files

    def check_libraries(self) -> None:
        """Raise an error if a library that runs the model is missing here."""
        extra, names = ("onnx", ("onnxruntime", "tokenizers")) if self.is_onnx else ("model", ("torch", "transformers"))
        for name in names:
            if find_spec(name) is None:
                raise MissingExtraError(f"the model needs {name}", extra)

    def load(self, device: str, changes: Mapping[str, Any]) -> Predictor:
        """Load the recognizer; on a CPU it uses one thread."""
        with new_part(Path(gettempdir()), is_folder=True) as folder:
            for name, data in self.files.items():
                (folder / name).write_bytes(data)
            if self.is_onnx:
                return load(folder, device, threads=THREADS, **changes)
            if device == "cpu":
                import torch

                torch.set_num_threads(THREADS)
            return load(folder, device, **changes)


def read_model(path: str, changes: Mapping[str, Any] | None = None) -> ModelFiles:
    """Read and check a model in a folder or on the hub; refuse settings that it cannot have."""
    saved = open_model(path, changes=changes)
    files = {name: (saved.folder / name).read_bytes() for name in sorted([*saved.files, MANIFEST])}
    digests = "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in files.items())
    return ModelFiles(files, hashlib.sha256(digests.encode()).hexdigest())


@dataclass(frozen=True)
class PartOutcome:
    """What a worker reports about a part."""

    name: str
    done: Done | None = None
    error: str = ""  # why this part cannot be tagged; others can
    stop: str = ""  # why nothing more can be written
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    cpu: float = 0.0  # CPU seconds of all threads
    peak: int = 0  # bytes of memory of the worker


class PartTagger:
    """Tags parts; it loads the model with the first part, so that an error stops the run."""

    def __init__(self, job: Job, model: ModelFiles, out: Folder, version: str = nestag.__version__) -> None:
        """`version` is that of nestag on the driver."""
        self.job, self.model, self.out, self.version = job, model, out, version
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @cached_property
    def predictor(self) -> Predictor:
        """Load the model, and forget its bytes."""
        if self.version != nestag.__version__:
            raise RuntimeError(f"the worker has nestag {nestag.__version__}, not {self.version}; install the same")
        with self._timed("loading"):
            predictor = self.model.load(self.job.device, self.job.changes)
        del self.model
        return predictor

    def tag(self, part: Part) -> PartOutcome:
        """Tag a part; errors in its file or the output are in the outcome."""
        _ = self.predictor  # an error here is not the part's
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
            writer = WRITERS[self.job.form](cast(IO[bytes], stream))
            for batch, entities in self._tag_batches(self._read(part)):
                with self._timed("writing"):
                    writer.write(output_table(part.file.name, batch, entities))
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
            self.out.write(f"{BAD_ROWS}/{part.name}.jsonl", "".join(f"{line}\n" for line in records).encode())
        mark = json.dumps(to_mapping(done), ensure_ascii=False, sort_keys=True)
        self.out.write(f"{DONE}/{part.name}.json", mark.encode() + b"\n")  # last, as it makes the part finished
        return done

    def _tag_batches(self, batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, list[TextEntities[Any]]]]:
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
