"""Rows: a part of a file -> what is tagged, what is kept, and what has to be set aside.

A row that cannot be tagged (null, not text, too long, not UTF-8) is set aside with the reason; a file that cannot be
read any further is a `BadFileError`. One part is read by one reader from its beginning to its end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from nestag.batch.plan import Job, Part
from nestag.batch.storage import library, opened, status
from nestag.data.arrays import Ints
from nestag.errors import InputError
from nestag.formats.files import LONGEST_LINE
from nestag.formats.files.sources import explained_reading, is_packed

ROWS = 1_000
"""Rows that are read and written together."""

MOST_BYTES = 10 * 2**20
"""Bytes of UTF-8 of one row; a longer one is set aside."""

SHOWN = 80
"""Characters of a bad row that are shown."""

_SKIP = 2**20


class BadFileError(InputError):
    """An input file that cannot be read; the other files can."""


class BadRow(NamedTuple):
    """A row that was set aside, and why."""

    position: int
    error: str
    excerpt: str


@dataclass
class RowBatch:
    """Some rows of a part."""

    positions: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: list[Any] = field(default_factory=list)  # texts, or lists of words
    kept: Any = None  # a table of Arrow with the columns to keep
    bad: list[BadRow] = field(default_factory=list)


def read_part(part: Part, job: Job) -> Iterator[RowBatch]:
    """The rows of a part in batches; every reader of a part gets the same ones."""
    address = part.file.address
    try:
        now = status(address)
        if (now.size, now.version) != (part.file.size, part.file.version):
            raise InputError("it was changed after the run began; write it to a new folder and start again", address)
        with opened(address) as stream, explained_reading(address):
            yield from (_table_batches if part.kind == "parquet" else _line_batches)(stream, part, job)
    except InputError as error:
        raise BadFileError(error.message, part.file.name) from None


def _table_batches(stream: BinaryIO, part: Part, job: Job) -> Iterator[RowBatch]:
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    at = part.position
    try:
        table = pq.ParquetFile(stream)
        columns = [job.column, *job.keep]
        groups = list(range(part.first, part.last))
        for found in table.iter_batches(ROWS, row_groups=groups, columns=columns) if groups else ():
            yield _table_batch(found, at, job)
            at += found.num_rows
        if at == part.position:
            yield _table_batch(pa.RecordBatch.from_pylist([], table.schema_arrow), at, job)
    except pa.ArrowException as error:
        raise InputError(f"cannot be read as Parquet ({error}); write it again", part.file.address) from None


def _table_batch(rows: Any, at: int, job: Job) -> RowBatch:
    """Rows of a table; only where something is wrong with one of them they are looked at one by one."""
    column, kept = rows.column(job.column), library("pyarrow").Table.from_batches([rows]).select(list(job.keep))
    if _is_clean(column, job):
        return RowBatch(np.arange(at, at + len(column)), _values(column, job), kept)
    good: list[int] = []
    values: list[Any] = []
    bad: list[BadRow] = []
    for row, raw in enumerate(_cells(column, job)):
        try:
            values.append(_words(raw) if job.tokens else _text(raw))
        except ValueError as error:
            bad.append(BadRow(at + row, str(error), _excerpt(raw)))
        else:
            good.append(row)
    return RowBatch(at + np.array(good, dtype=np.int64), values, kept.take(good), bad)


def _is_clean(column: Any, job: Job) -> bool:
    """Whether every row of a column can be tagged, as far as it can be said of all of them at once."""
    pa, compute = library("pyarrow"), library("pyarrow.compute")
    if column.null_count or pa.types.is_null(column.type):
        return False
    texts = column.flatten() if job.tokens else column
    if texts.null_count or not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return False
    sizes = compute.binary_length(texts)
    if (compute.sum(sizes).as_py() or 0) > MOST_BYTES or (job.tokens and compute.min(sizes).as_py() == 0):
        return False
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _values(column: Any, job: Job) -> list[Any]:
    """The texts of a clean column, or its lists of words."""
    if not job.tokens:
        return cast(list[Any], column.to_pylist())
    coded = column.flatten().dictionary_encode()  # equal words become one string, whose hash is computed once
    words = coded.dictionary.to_numpy(zero_copy_only=False).take(coded.indices.to_numpy()).tolist()
    ends = np.cumsum(library("pyarrow.compute").list_value_length(column).to_numpy()).tolist()
    return [words[first:last] for first, last in pairwise([0, *ends])]


def _cells(column: Any, job: Job) -> list[Any]:
    """The cells of a column: strings, or bytes if not all of them are UTF-8."""
    pa = library("pyarrow")
    try:
        column.validate(full=True)
        return cast(list[Any], column.to_pylist())
    except pa.ArrowInvalid:
        return cast(
            list[Any], column.cast(pa.large_list(pa.large_binary()) if job.tokens else pa.large_binary()).to_pylist()
        )


def _line_batches(stream: BinaryIO, part: Part, job: Job) -> Iterator[RowBatch]:
    parse: Callable[[bytes, Job], _Parsed | None] = _from_json if part.kind == "jsonl" else _from_text
    good: list[tuple[int, _Parsed]] = []
    bad: list[BadRow] = []
    for position, raw in _lines(stream, part, LONGEST_LINE if part.kind == "jsonl" else MOST_BYTES + 2):
        try:
            parsed = parse(raw.removeprefix(b"\xef\xbb\xbf") if position == 0 else raw, job)
        except ValueError as error:
            bad.append(BadRow(position, str(error), _excerpt(raw)))
        else:
            if parsed is not None:
                good.append((position, parsed))
        if len(good) + len(bad) == ROWS:
            yield _line_batch(good, bad, job)
            good, bad = [], []
    yield _line_batch(good, bad, job)


def _lines(stream: BinaryIO, part: Part, longest: int) -> Iterator[tuple[int, bytes]]:
    """The lines that begin in a part, each with its first byte; of one that is too long its beginning."""
    packed = is_packed(part.file.name)
    at = part.first
    if at and not packed:
        stream.seek(at - 1)
        at += _skip_line(stream) - 1
    while packed or at < part.last:
        line = stream.readline(longest + 1)
        if not line:
            return
        size = len(line) + (0 if line.endswith(b"\n") or len(line) <= longest else _skip_line(stream))
        yield at, line
        at += size


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of a line; how many bytes that was."""
    size = 0
    while piece := stream.readline(_SKIP):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


class _Parsed(NamedTuple):
    value: str | list[str]
    kept: tuple[str | None, ...]


def _from_text(raw: bytes, job: Job) -> _Parsed:
    return _Parsed(_decoded(raw.removesuffix(b"\n").removesuffix(b"\r")), ())


def _from_json(raw: bytes, job: Job) -> _Parsed | None:
    """A line of JSON; an empty one is no row."""
    if not raw.strip():
        return None
    if len(raw) > LONGEST_LINE:
        raise ValueError(f"the line is longer than {LONGEST_LINE:,} bytes")
    text = _decoded(raw, LONGEST_LINE)
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(record, dict) or job.column not in record:
        raise ValueError(f"no object with a field {job.column!r}")
    value = record[job.column]
    checked = _words(value) if job.tokens else _text(value)
    return _Parsed(checked, tuple(map(_as_text, (record.get(name) for name in job.keep))))


def _as_text(value: object) -> str | None:
    """A value of JSON that is kept: text as it is, everything else as JSON."""
    if value is None:
        return None
    return _encodable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _text(value: object) -> str:
    if value is None or isinstance(value, bytes):
        return _decoded(value)
    if not isinstance(value, str):
        raise ValueError(f"not text but {type(value).__name__}")
    return _encodable(value)


def _encodable(text: str) -> str:
    """The text if UTF-8 can hold it in not too many bytes."""
    if 4 * len(text) > MOST_BYTES or not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            raise ValueError(f"character {error.start} is half of a surrogate pair, which is not text") from None
        _check_size(size)
    return text


def _words(value: object) -> list[str]:
    if value is None:
        raise ValueError("null")
    if not isinstance(value, list):
        raise ValueError(f"not a list of words but {type(value).__name__}")
    if not set(map(type, value)) <= {str} or not all(value):
        value = [_decoded(word) if isinstance(word, bytes) else word for word in value]
        for word in value:
            if not isinstance(word, str) or not word:
                raise ValueError(f"the word {word!r:.40} is not a non-empty string")
    _encodable("".join(value))
    return value


def _decoded(raw: bytes | None, most: int = 0) -> str:
    if raw is None:
        raise ValueError("null")
    _check_size(len(raw), most)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} ({raw[error.start]:#04x}) is not UTF-8") from None


def _check_size(size: int, most: int = 0) -> None:
    if size > (most or MOST_BYTES):
        raise ValueError(f"longer than {most or MOST_BYTES:,} bytes")


def _line_batch(good: Sequence[tuple[int, _Parsed]], bad: list[BadRow], job: Job) -> RowBatch:
    pa = library("pyarrow")
    columns = list(zip(*(parsed.kept for _, parsed in good), strict=True)) if good else [()] * len(job.keep)
    kept = pa.table([pa.array(column, pa.string()) for column in columns], names=list(job.keep))
    positions = np.array([position for position, _ in good], dtype=np.int64)
    return RowBatch(positions, [parsed.value for _, parsed in good], kept, bad)


def _excerpt(raw: object) -> str:
    """The beginning of a bad row, whatever it is."""
    if isinstance(raw, bytes):
        return raw[:SHOWN].decode("utf-8", "backslashreplace")
    return "" if raw is None else f"{raw!r:.{SHOWN}}"
