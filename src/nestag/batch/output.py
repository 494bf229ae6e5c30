"""Outputs: rows with their entities as one Parquet or JSON Lines file, the same bytes for the same rows.

file: string, position: int64, the columns that are kept, and
entities: a list of records, the fields of `TextEntity`
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import IO, TYPE_CHECKING, Any, Protocol

from nestag.batch.plan import ENTITIES, FILE, POSITION, OutputForm
from nestag.batch.rows import RowBatch
from nestag.batch.storage import library
from nestag.model.predictor import DECIMALS, TextEntities, TextEntity

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ROW_GROUP = 16_000
"""Rows of a row group."""


class PartWriter(Protocol):
    """What writes the rows of one part."""

    def write(self, batch: RowBatch, found: Sequence[TextEntities[Any]]) -> None:
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
    fields = {
        "start": pa.int32(), "end": pa.int32(), "type": pa.string(), "text": pa.string(), "confidence": pa.float64(),
        "start_token": pa.int32(), "end_token": pa.int32(),
    }  # fmt: skip
    return pa.list_(pa.struct(fields.items()))


class ParquetWriter:
    """Rows as Parquet: row groups of a fixed size, one compression, no times."""

    def __init__(self, stream: IO[bytes], file: str) -> None:
        self.stream, self.file = stream, file
        self.waiting: list[Any] = []
        self.rows = 0
        self.writer: Any = None

    def write(self, batch: RowBatch, found: Sequence[TextEntities[Any]]) -> None:
        """Write rows and the entities found in them."""
        pa = library("pyarrow")
        names, columns = batch.kept.schema.names, batch.kept.columns
        rows = len(batch.positions)
        table = pa.table(
            [pa.repeat(self.file, rows), pa.array(batch.positions), *columns, _entities(found)],
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


def _entities(found: Sequence[TextEntities[Any]]) -> Any:
    """The column of entities of some rows."""
    pa = library("pyarrow")
    fields = list(entity_type().value_type)
    columns = dict(zip(TextEntity._fields, zip(*chain.from_iterable(found), strict=True), strict=False))
    columns["confidence"] = tuple(round(confidence, DECIMALS) for confidence in columns.get("confidence", ()))
    arrays = [pa.array(columns.get(field.name, ()), field.type) for field in fields]
    ends = pa.array([0, *accumulate(map(len, found))], pa.int32())
    return pa.ListArray.from_arrays(ends, pa.StructArray.from_arrays(arrays, fields=fields))


class LinesWriter:
    """Rows as JSON Lines."""

    def __init__(self, stream: IO[bytes], file: str) -> None:
        self.stream, self.file = stream, file

    def write(self, batch: RowBatch, found: Sequence[TextEntities[Any]]) -> None:
        """Write rows and the entities found in them."""
        kept = batch.kept.to_pylist() if batch.kept.num_columns else [{}] * len(batch.positions)
        for position, others, entities in zip(batch.positions.tolist(), kept, found, strict=True):
            record = {FILE: self.file, POSITION: position, **others, ENTITIES: entities.records()}
            self.stream.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self) -> None:
        """Nothing waits."""


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
