"""Outputs: rows with their entities as one Parquet or JSON Lines file; the same rows give the same bytes.

file: string, position: int64, the columns to keep, and
entities: a list of records, the fields of `TextEntity`
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import IO, TYPE_CHECKING, Any

from nestag.batch.plan import ENTITIES, FILE, POSITION
from nestag.batch.rows import RowBatch
from nestag.batch.storage import library
from nestag.model.predictor import DECIMALS, TextEntities, TextEntity

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ROW_GROUP = 16_000
"""Minimum rows of a row group."""


def entity_type() -> Any:
    """Return the Arrow type of the column of entities."""
    pa = library("pyarrow")
    fields = {
        "start": pa.int32(), "end": pa.int32(), "type": pa.string(), "text": pa.string(), "confidence": pa.float64(),
        "start_token": pa.int32(), "end_token": pa.int32(),
    }  # fmt: skip
    return pa.list_(pa.struct(fields.items()))


def output_table(file: str, batch: RowBatch, entities: Sequence[TextEntities[Any]]) -> Any:
    """Return rows of a file and their entities as an Arrow table."""
    pa = library("pyarrow")
    columns = [pa.repeat(file, len(entities)), pa.array(batch.positions), *batch.columns.columns]
    names = [FILE, POSITION, *batch.columns.schema.names, ENTITIES]
    return pa.table([*columns, _entity_column(entities)], names=names)


class ParquetWriter:
    """Writes Parquet with row groups of a fixed size."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.tables: list[Any] = []
        self.writer: Any = None

    def write(self, table: Any) -> None:
        """Write a table, or keep it until it fills a row group."""
        self.tables.append(table)
        if sum(table.num_rows for table in self.tables) >= ROW_GROUP:
            self._flush()

    def close(self) -> None:
        """Write what is buffered, and the footer."""
        self._flush()
        self.writer.close()

    def _flush(self) -> None:
        if not self.tables:
            return
        table = library("pyarrow").concat_tables(self.tables).combine_chunks()
        self.tables = []
        if self.writer is None:
            self.writer = library("pyarrow.parquet").ParquetWriter(self.stream, table.schema, compression="zstd")
        if table.num_rows:
            self.writer.write_table(table, row_group_size=table.num_rows)


def _entity_column(entities: Sequence[TextEntities[Any]]) -> Any:
    """Return the column of the entities of some rows."""
    pa = library("pyarrow")
    fields = list(entity_type().value_type)
    columns = dict(zip(TextEntity._fields, zip(*chain.from_iterable(entities), strict=True), strict=False))
    columns["confidence"] = tuple(round(confidence, DECIMALS) for confidence in columns.get("confidence", ()))
    arrays = [pa.array(columns.get(field.name, ()), field.type) for field in fields]
    offsets = pa.array([0, *accumulate(map(len, entities))], pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(arrays, fields=fields))


class LinesWriter:
    """Writes JSON Lines."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream

    def write(self, table: Any) -> None:
        """Write a table."""
        for record in table.to_pylist():
            self.stream.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self) -> None:
        """Do nothing, as nothing is buffered."""


class HashingStream(io.RawIOBase):
    """A stream that writes to another, and counts and hashes the bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.digest, self.size = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes."""
        view = memoryview(data).cast("B")
        self.digest.update(view)
        self.size += len(view)
        self.stream.write(view)
        return len(view)


WRITERS: dict[str, type[ParquetWriter | LinesWriter]] = {"parquet": ParquetWriter, "jsonl": LinesWriter}
