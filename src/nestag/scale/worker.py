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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, pairwise
from operator import attrgetter
from typing import IO, Any, cast

import numpy as np

from nestag.chunks import Item
from nestag.corpora.format import Options
from nestag.decoding import EntityTable
from nestag.errors import NestagError
from nestag.predictor import Predictor, TextEntity
from nestag.scale.job import Job
from nestag.scale.model import Packed, load
from nestag.scale.outcome import STAGES, Done, PartOutcome, as_json, bad_rows_name, done_name
from nestag.scale.output import DECIMALS, Hashing, RowEntities, writer_for
from nestag.scale.plan import Part
from nestag.scale.rows import BadFileError, BadRow, RowBatch, read_part
from nestag.scale.storage import Folder
from nestag.visible import visible


class PartTagger:
    """Tags parts."""

    def __init__(self, job: Job, model: Packed, out: Folder) -> None:
        """Load the model."""
        began = time.perf_counter()
        self.job, self.out = job, out
        self.predictor = load(model, job.device, job.changes)
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
            for batch, found in tagged(self.predictor, clock.timed(read_part(part, job), "reading"), job):
                with clock.running("writing"):
                    writer.write(batch, found)
                bad += batch.bad
                rows += len(found)
                types.update(map(attrgetter("type"), chain.from_iterable(found)))
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


def tagged(predictor: Predictor, batches: Iterable[RowBatch], job: Job) -> Iterator[tuple[RowBatch, RowEntities]]:
    """The batches with the entities found in their rows, as they stream by."""
    waiting: deque[RowBatch] = deque()

    def values() -> Iterator[Any]:
        for batch in batches:
            waiting.append(batch)  # before any of its rows can come out
            yield from batch.values

    options = job.options_for(predictor.settings.reading)
    found = _in_words(predictor, values()) if job.tokens else _in_texts(predictor, values(), options)
    for first in found:
        while not waiting[0].values:
            yield waiting.popleft(), []
        batch = waiting.popleft()
        yield batch, [first, *islice(found, len(batch.values) - 1)]
    yield from ((batch, []) for batch in waiting)  # rows of which none was good


def peak_memory() -> int:
    """The most bytes of memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 2**10)


def _in_words(predictor: Predictor, rows: Iterable[list[str]]) -> Iterator[list[TextEntity]]:
    """The entities of each row of words."""
    for found, table in predictor.engine().run(map(Item, rows), confidence=True):
        yield from _by_row(found, table)


def _by_row(items: Sequence[Item], table: EntityTable) -> Iterator[list[TextEntity]]:
    """A table's entities, row by row; there may be millions, so none of them is made by a call of its own."""
    assert table.confidence is not None
    start, end = table.start.tolist(), table.end.tolist()
    names = [table.types[kind] for kind in table.type.tolist()]
    words = (items[row].tokens for row in table.sentence.tolist())
    texts = [" ".join(tokens[a:b]) for tokens, a, b in zip(words, start, end, strict=True)]
    columns = zip(start, end, names, texts, map(_rounded, table.confidence.tolist()), strict=True)
    made = list(map(partial(tuple.__new__, TextEntity), columns))
    for a, b in pairwise(np.searchsorted(table.sentence, np.arange(table.sentences + 1)).tolist()):
        yield made[a:b]


def _in_texts(predictor: Predictor, texts: Iterable[str], options: Options) -> Iterator[list[TextEntity]]:
    """The entities of each text."""
    for found in predictor.pipe(texts, options=options):
        yield [TextEntity(*entity[:-1], _rounded(entity.confidence)) for entity in found]


def _rounded(confidence: float) -> float:
    return round(confidence, DECIMALS)


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
        """The batches, with the seconds counted that it took to have them."""
        while True:
            with self.running(stage):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def finish(self) -> None:
        """What is not writing is tagging."""
        self.seconds["tagging"] = time.perf_counter() - self.began - self.seconds["writing"]
