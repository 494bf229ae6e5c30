"""The job, and its plan: inputs -> parts, the units of work. The plan depends only on the inputs and the job.

A part of a Parquet file is a run of row groups. A part of a file of lines is a range of bytes: the lines that begin in
it. A compressed file is one part, because it can only be read from its beginning.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from nestag.batch.storage import READERS, InputFile, InputFiles, InputKind, library
from nestag.data.segment import Options, TokenizerName
from nestag.data.validation import setting
from nestag.errors import InputError, visible
from nestag.formats.files.sources import is_packed, read_errors

OutputForm = Literal["parquet", "jsonl"]
"""Output formats."""

Device = Literal["", "cpu", "cuda"]
"""The device of the model; empty chooses one of the cluster."""

FILE, POSITION, ENTITIES = "file", "position", "entities"
"""The columns of every output."""

PART_BYTES = {"cpu": 2**20 // 2, "cuda": 32 * 2**20}
"""Bytes of text in a part by device: some seconds to a minute of work (docs/how-to/batch.md)."""

CHECKED_LINES, LONGEST_CHECKED = 100, 2**20
"""Lines of JSON in which the named columns must appear, and the maximum bytes of such a line."""


@dataclass(frozen=True)
class Job:
    """How rows are read, tagged and written."""

    text: str = setting("text", help="the text column; not used for text files")
    tokens: str = setting("", help="a column of word lists; replaces the text column")
    keep: tuple[str, ...] = setting((), help="columns to copy to the output")
    kind: InputKind | None = setting(None, help="input format, if file names do not tell")
    form: OutputForm = setting("parquet", help="output format")
    tokenizer: TokenizerName | None = setting(None, help="tokenizer of text, if not the model's")
    language: str | None = setting(None, help="spaCy's code for the language of text, if not the model's")
    part_bytes: int = setting(0, minimum=0, help="bytes of text in a part; 0 chooses by device")
    device: Device = setting("", help="device of the model; empty uses a GPU if the cluster has one")
    changes: dict[str, Any] = setting(factory=dict, help="settings that override the model's")

    def __post_init__(self) -> None:
        for name in self.keep:
            if name in (FILE, POSITION, ENTITIES):
                raise InputError(f"every output has a column {name!r}; rename it in the input", "--keep")
        if len(set(self.keep)) < len(self.keep):
            raise InputError("a column is named twice; name each once", "--keep")

    def on(self, device: Device) -> Job:
        """Return the job with the device and the size of parts filled in."""
        return replace(self, device=device, part_bytes=self.part_bytes or PART_BYTES[device])

    @property
    def columns(self) -> tuple[str, ...]:
        """The column to tag, then the columns to keep."""
        return (self.tokens or self.text, *self.keep)

    def options_for(self, default: Options) -> Options:
        """Return how text is split into sentences and words."""
        return Options(tokenizer=self.tokenizer or default.tokenizer, language=self.language or default.language)


@dataclass(frozen=True)
class Part:
    """A piece of an input file that becomes one output file."""

    name: str  # of the output, without its ending
    kind: InputKind
    file: InputFile
    first: int  # row group or byte
    last: int  # exclusive
    position: int  # of its first row
    weight: int  # bytes to read, for the progress

    def __str__(self) -> str:
        unit = "row groups" if self.kind == "parquet" else "bytes"
        return f"{self.file.name} ({unit} {self.first:,} to {self.last:,})"


class Failure(NamedTuple):
    """A file or part that cannot be tagged, and the reason."""

    file: str
    error: str


class PartPlan(NamedTuple):
    """The parts, and the files that cannot be read."""

    parts: tuple[Part, ...]
    failures: tuple[Failure, ...]
    schema: tuple[str, ...]  # of the Parquet columns that are read


def plan_parts(inputs: InputFiles, job: Job) -> PartPlan:
    """Divide all files into parts, by file and place."""
    if inputs.kind == "text" and (job.keep or job.tokens):
        raise InputError("text files have no columns; drop --keep and --tokens-column", inputs.files[0].name)
    if inputs.kind == "jsonl":
        _check_fields(inputs.files, job)
    if inputs.kind != "parquet":
        return PartPlan(tuple(part for file in inputs.files for part in _line_parts(file, inputs.kind, job)), (), ())
    with ThreadPoolExecutor(READERS) as pool:
        footers = list(pool.map(lambda file: _read_footer(file, job), inputs.files))
    schema = next((footer.schema for footer in footers if isinstance(footer, _Footer)), ())
    parts: list[Part] = []
    failures: list[Failure] = []
    for file, footer in zip(inputs.files, footers, strict=True):
        if isinstance(footer, str):
            failures.append(Failure(file.name, footer))
        elif footer.schema != schema:
            here, there = next((a, b) for a, b in zip(footer.schema, schema, strict=True) if a != b)
            problem = (
                f"the column {here} is {there.partition(' ')[2]} in earlier files; tag this file into another folder"
            )
            failures.append(Failure(file.name, problem))
        else:
            parts += _row_group_parts(file, footer, job)
    return PartPlan(tuple(parts), tuple(failures), schema)


def output_name(file: str, number: int) -> str:
    """Return the name of the output of a part.

    >>> output_name("2024/news.jsonl", 3)
    'news.jsonl-a0b7d765-00003'
    """
    return f"{output_stem(file)}-{number:05}"


def output_stem(file: str) -> str:
    """Return the beginning of the names of all outputs of a file, which no other file shares."""
    readable = re.sub(r"[^\w.-]", "_", PurePosixPath(file).name).lstrip("._")[:80]
    return f"{readable}-{hashlib.sha256(file.encode()).hexdigest()[:8]}"


def _line_parts(file: InputFile, kind: InputKind, job: Job) -> Iterator[Part]:
    step = max(1, file.size if is_packed(file.name) else job.part_bytes)
    for number, first in enumerate(range(0, max(1, file.size), step)):
        last = min(first + step, file.size)
        yield Part(output_name(file.name, number), kind, file, first, last, first, last - first)


def _check_fields(files: Iterable[InputFile], job: Job) -> None:
    """Refuse a column that none of the first rows has: a typo would make all rows bad rows."""
    records = next(filter(None, map(_first_records, files)), [])
    fields = sorted(set[str]().union(*records))
    for name in job.columns:
        if records and name not in fields:
            shown = ", ".join(map(visible, fields[:20]))
            raise InputError(
                f"none of the first {len(records)} rows has a field {name!r}; the fields are {shown}", name
            )


def _first_records(file: InputFile) -> list[dict[str, Any]]:
    """Return the objects in the first lines of a file; other lines are reported when they are read."""
    records: list[dict[str, Any]] = []
    with suppress(InputError), file.open() as stream, read_errors(file.path):
        for line in islice(iter(lambda: stream.readline(LONGEST_CHECKED), b""), CHECKED_LINES):
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                records += [record] if isinstance(record, dict) else []
    return records


class _Footer(NamedTuple):
    """The row groups and columns of a Parquet file."""

    rows: tuple[int, ...]
    sizes: tuple[int, ...]  # bytes of the column to tag
    schema: tuple[str, ...]


def _read_footer(file: InputFile, job: Job) -> _Footer | str:
    """Return the footer of a file, or the reason why the file cannot be tagged."""
    pq = library("pyarrow.parquet")
    try:
        with file.open() as stream, read_errors(file.path):
            try:
                parquet = pq.ParquetFile(stream)
            except (OSError, ValueError) as error:  # Arrow's own errors are one or the other
                raise InputError(f"not a complete Parquet file ({error}); write it again", file.path) from None
            meta, schema = parquet.metadata, parquet.schema_arrow
            _check_columns(schema, job, file.path)
            groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    except InputError as error:
        return error.message
    return _Footer(
        tuple(group.num_rows for group in groups),
        tuple(_column_size(group, job.columns[0]) for group in groups),
        tuple(f"{name} {schema.field(name).type}" for name in job.columns),
    )


def _check_columns(schema: Any, job: Job, place: str) -> None:
    """Refuse a table without the columns, or whose column to tag has another type."""
    for name in job.columns:
        if schema.names.count(name) != 1:
            raise InputError(
                f"column {name!r} is missing or appears twice; the columns are {', '.join(schema.names[:20])}", place
            )
    pa = library("pyarrow")
    kind = schema.field(job.columns[0]).type
    is_list = isinstance(kind, (pa.ListType, pa.LargeListType))
    text_types = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.null())
    if is_list != bool(job.tokens) or (kind.value_type if is_list else kind) not in text_types:
        wanted = "lists of strings" if job.tokens else "strings"
        raise InputError(f"the column {job.columns[0]!r} is {kind}, not {wanted}; name another column", place)


def _column_size(group: Any, column: str) -> int:
    """Return the uncompressed bytes of a column in a row group."""
    chunks = (group.column(number) for number in range(group.num_columns))
    return sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] == column)


def _row_group_parts(file: InputFile, footer: _Footer, job: Job) -> Iterator[Part]:
    position = 0
    for number, (first, last) in enumerate(group_sizes(footer.sizes, job.part_bytes)):
        weight = max(1, sum(footer.sizes[first:last]))
        yield Part(output_name(file.name, number), "parquet", file, first, last, position, weight)
        position += sum(footer.rows[first:last])


def group_sizes(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Group consecutive pieces into runs of at most `most`, or of one that is larger; no pieces are one empty run.

    >>> group_sizes([3, 3, 3, 9, 1], 6), group_sizes([], 6)
    ([(0, 2), (2, 3), (3, 4), (4, 5)], [(0, 0)])
    """
    ends: list[tuple[int, int]] = []
    first, total = 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > most:
            ends.append((first, place))
            first, total = place, 0
        total += size
    return [*ends, (first, len(sizes))]
