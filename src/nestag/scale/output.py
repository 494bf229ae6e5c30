"""Outputs: rows with their entities as one Parquet or JSON Lines file, the same bytes for the same rows.

    file: string, position: int64, the columns that are kept, and
    entities: list<struct<start: int32, end: int32, type: string, confidence: double, text: string>>

Starts and ends are half-open and count characters of a text, or words where words were given.
"""

from __future__ import annotations

import hashlib
import io
import json
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nestag.scale.job import ENTITIES, FILE, POSITION, OutputForm
from nestag.scale.rows import RowBatch
from nestag.scale.storage import library
from nestag.scale.tagging import EntityColumns

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ROW_GROUP = 16_000
"""Rows of a row group."""


class PartWriter(Protocol):
    """What writes the rows of one part."""

    def write(self, batch: RowBatch, found: EntityColumns) -> None:
        """Write rows and the entities found in them."""
        ...

    def close(self) -> None:
        """Write what is still waiting."""
        ...


def writer_for(form: OutputForm, stream: IO[bytes], file: str) -> PartWriter:
    """What writes one part in a form."""
    return (ParquetWriter if form == "parquet" else LinesWriter)(stream, file)


def entity_type() -> Any:
    """The Arrow type of the column of entities."""
    pa = library("pyarrow")
    fields = [
        ("start", pa.int32()), ("end", pa.int32()), ("type", pa.string()), ("confidence", pa.float64()),
        ("text", pa.string()),
    ]  # fmt: skip
    return pa.list_(pa.struct(fields))


class ParquetWriter:
    """Rows as Parquet: row groups of a fixed size, one compression, no times."""

    def __init__(self, stream: IO[bytes], file: str) -> None:
        self.stream, self.file = stream, file
        self.waiting: list[Any] = []
        self.rows = 0
        self.writer: Any = None

    def write(self, batch: RowBatch, found: EntityColumns) -> None:
        """Write rows and the entities found in them."""
        pa = library("pyarrow")
        names, columns = batch.kept.schema.names, batch.kept.columns
        rows = len(batch.positions)
        table = pa.table(
            [pa.repeat(self.file, rows), pa.array(batch.positions), *columns, _entities(found, rows)],
            names=[FILE, POSITION, *names, ENTITIES],
        )
        self.waiting.append(table)
        self.rows += table.num_rows
        if self.writer is None:
            self.writer = library("pyarrow.parquet").ParquetWriter(self.stream, table.schema, compression="zstd")
        if self.rows >= ROW_GROUP:
            self._flush()

    def close(self) -> None:
        """Write what is still waiting, and the footer."""
        if self.rows:
            self._flush()
        self.writer.close()

    def _flush(self) -> None:
        table = library("pyarrow").concat_tables(self.waiting).combine_chunks()
        self.writer.write_table(table, row_group_size=max(1, table.num_rows))
        self.waiting, self.rows = [], 0


def _entities(found: EntityColumns, rows: int) -> Any:
    """The column of entities of so many rows."""
    pa = library("pyarrow")
    values = {
        "start": pa.array(found.start.astype(np.int32)),
        "end": pa.array(found.end.astype(np.int32)),
        "type": pa.array(found.types, pa.string()).take(pa.array(found.type)),
        "confidence": pa.array(found.confidence),
        "text": pa.array(found.text, pa.string()),
    }
    fields = list(entity_type().value_type)
    inner = pa.StructArray.from_arrays([values[field.name] for field in fields], fields=fields)
    return pa.ListArray.from_arrays(pa.array(_offsets(found, rows)), inner)


def _offsets(found: EntityColumns, rows: int) -> NDArray[np.int32]:
    """Where the entities of each row begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(found.counts(rows))]).astype(np.int32)


class LinesWriter:
    """Rows as JSON Lines."""

    def __init__(self, stream: IO[bytes], file: str) -> None:
        self.stream, self.file = stream, file

    def write(self, batch: RowBatch, found: EntityColumns) -> None:
        """Write rows and the entities found in them."""
        kept = batch.kept.to_pylist() if batch.kept.num_columns else [{}] * len(batch.positions)
        entities = _records(found)
        cuts = pairwise(_offsets(found, len(batch.positions)).tolist())
        for position, others, (first, last) in zip(batch.positions.tolist(), kept, cuts, strict=True):
            record = {FILE: self.file, POSITION: position, **others, ENTITIES: entities[first:last]}
            self.stream.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self) -> None:
        """Nothing waits."""


def _records(found: EntityColumns) -> list[dict[str, Any]]:
    """Entities as JSON has them."""
    names = [found.types[kind] for kind in found.type.tolist()]
    columns = zip(found.start.tolist(), found.end.tolist(), names, found.text, found.confidence.tolist(), strict=True)
    return [
        {"start": start, "end": end, "type": kind, "text": text, "confidence": confidence}
        for start, end, kind, text, confidence in columns
    ]


class Hashing(io.RawIOBase):
    """A stream that passes bytes on and keeps their number and hash."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.digest, self.size = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        """It is for nothing else."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Pass bytes on."""
        view = memoryview(data).cast("B")
        self.digest.update(view)
        self.size += len(view)
        self.stream.write(view)
        return len(view)
