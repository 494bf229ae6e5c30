"""Reading rows: a part of a file -> the values to tag, the columns to keep, and the bad rows.

A bad row cannot be tagged (null, not text, too long, not UTF-8) and is recorded with the reason. A file that cannot be
read any further is a `BadFileError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from nestag.batch.plan import Job, Part
from nestag.batch.storage import BUFFER, library
from nestag.data.arrays import Ints
from nestag.errors import InputError
from nestag.formats.files import LONGEST_LINE
from nestag.formats.files.sources import is_packed, read_errors

ROWS = 1_000
"""Rows that are read and written together."""

MAX_BYTES = 10 * 2**20
"""Maximum bytes of UTF-8 in one row."""

EXCERPT = 80
"""Characters of a bad row that are recorded."""


class BadFileError(InputError):
    """An input file that cannot be read; the other files can."""


class BadRow(NamedTuple):
    """A row that cannot be tagged."""

    position: int
    error: str
    excerpt: str


@dataclass
class RowBatch:
    """Some rows of a part."""

    positions: Ints
    values: list[Any]  # texts, or lists of words
    columns: Any  # an Arrow table of the columns to keep
    bad: list[BadRow]


def read_part(part: Part, job: Job) -> Iterator[RowBatch]:
    """Read the rows of a part in batches, which are always the same."""
    try:
        part.file.refuse_changed()
        with part.file.open() as stream, read_errors(part.file.path):
            yield from (_table_batches if part.kind == "parquet" else _line_batches)(stream, part, job)
    except InputError as error:
        raise BadFileError(error.message, part.file.name) from None


def _table_batches(stream: BinaryIO, part: Part, job: Job) -> Iterator[RowBatch]:
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    position = part.position
    try:
        table = pq.ParquetFile(stream)
        groups = list(range(part.first, part.last))
        for rows in table.iter_batches(ROWS, row_groups=groups, columns=list(job.columns)) if groups else ():
            yield _table_batch(rows, position, job)
            position += rows.num_rows
        if position == part.position:
            yield _table_batch(pa.RecordBatch.from_pylist([], table.schema_arrow), position, job)
    except pa.ArrowException as error:
        raise InputError(f"cannot be read as Parquet ({error}); write it again", part.file.path) from None


def _table_batch(rows: Any, first: int, job: Job) -> RowBatch:
    good: list[int] = []
    values: list[Any] = []
    bad: list[BadRow] = []
    for row, cell in enumerate(_cells(rows.column(job.columns[0]), job)):
        try:
            values.append(_check_words(cell) if job.tokens else _check_text(cell))
        except ValueError as error:
            bad.append(BadRow(first + row, str(error), _excerpt(cell)))
        else:
            good.append(row)
    columns = library("pyarrow").Table.from_batches([rows]).select(list(job.keep))
    return RowBatch(first + np.array(good, dtype=np.int64), values, columns.take(good) if bad else columns, bad)


def _cells(column: Any, job: Job) -> list[Any]:
    """Return the cells of a column: strings, or bytes if one of them is not UTF-8."""
    pa = library("pyarrow")
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        column = column.cast(pa.large_list(pa.large_binary()) if job.tokens else pa.large_binary())
    return cast(list[Any], column.to_pylist())


def _line_batches(stream: BinaryIO, part: Part, job: Job) -> Iterator[RowBatch]:
    is_json = part.kind == "jsonl"
    good: dict[int, list[Any]] = {}  # by position: the value to tag, then the columns to keep
    bad: list[BadRow] = []
    for position, line in _lines(stream, part, LONGEST_LINE if is_json else MAX_BYTES + 2):
        content = line.removeprefix(b"\xef\xbb\xbf") if position == 0 else line
        if is_json and not content.strip():
            continue
        try:
            if is_json:
                good[position] = _parse_json(content, job)
            else:
                good[position] = [_decode(content.removesuffix(b"\n").removesuffix(b"\r"), MAX_BYTES)]
        except ValueError as error:
            bad.append(BadRow(position, str(error), _excerpt(line)))
        if len(good) + len(bad) == ROWS:
            yield _line_batch(good, bad, job)
            good, bad = {}, []
    yield _line_batch(good, bad, job)


def _lines(stream: BinaryIO, part: Part, limit: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a part with their first byte, and only the beginning of one that is too long."""
    packed = is_packed(part.file.name)
    position = part.first
    if position and not packed:
        stream.seek(position - 1)
        position += _skip_line(stream) - 1
    while packed or position < part.last:
        line = stream.readline(limit + 1)
        if not line:
            return
        size = len(line) + (0 if line.endswith(b"\n") or len(line) <= limit else _skip_line(stream))
        yield position, line
        position += size


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of a line, and return the number of bytes."""
    size = 0
    while piece := stream.readline(BUFFER):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _line_batch(good: dict[int, list[Any]], bad: list[BadRow], job: Job) -> RowBatch:
    pa = library("pyarrow")
    values, *kept = zip(*good.values(), strict=True) if good else [()] * (1 + len(job.keep))
    columns = pa.table([pa.array(column, pa.string()) for column in kept], names=list(job.keep))
    return RowBatch(np.array(list(good), dtype=np.int64), list(values), columns, bad)


def _parse_json(line: bytes, job: Job) -> list[Any]:
    text = _decode(line, LONGEST_LINE)
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    column = job.columns[0]
    if not isinstance(record, dict) or column not in record:
        raise ValueError(f"not an object with a field {column!r}")
    value = _check_words(record[column]) if job.tokens else _check_text(record[column])
    return [value, *(_as_text(record.get(name)) for name in job.keep)]


def _as_text(value: object) -> str | None:
    """Return a value of JSON to keep: text as it is, anything else as JSON."""
    if value is None:
        return None
    return _check_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _check_text(value: object) -> str:
    """Return text that UTF-8 can encode in at most MAX_BYTES."""
    if isinstance(value, bytes):
        return _decode(value, MAX_BYTES)
    if not isinstance(value, str):
        raise ValueError("null" if value is None else f"not text but {type(value).__name__}")
    if 4 * len(value) > MAX_BYTES or not value.isascii():
        try:
            _check_size(len(value.encode()), MAX_BYTES)
        except UnicodeEncodeError as error:
            raise ValueError(f"character {error.start} is half of a surrogate pair, which is not text") from None
    return value


def _check_words(value: object) -> list[str]:
    """Return a list of non-empty strings."""
    if not isinstance(value, list):
        raise ValueError("null" if value is None else f"not a list of words but {type(value).__name__}")
    if not set(map(type, value)) <= {str} or not all(value):
        value = [_decode(word, MAX_BYTES) if isinstance(word, bytes) else word for word in value]
        for word in value:
            if not isinstance(word, str) or not word:
                raise ValueError(f"the word {word!r:.40} is not a non-empty string")
    _check_text("".join(value))
    return value


def _decode(data: bytes, limit: int) -> str:
    _check_size(len(data), limit)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} ({data[error.start]:#04x}) is not UTF-8") from None


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(f"longer than {limit:,} bytes")


def _excerpt(value: object) -> str:
    """Return the beginning of a bad row."""
    if isinstance(value, bytes):
        return value[:EXCERPT].decode("utf-8", "backslashreplace")
    return "" if value is None else f"{value!r:.{EXCERPT}}"
