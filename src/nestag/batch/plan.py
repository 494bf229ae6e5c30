"""The job, and its plan: inputs -> parts, the units of work. The plan depends on the inputs and the job alone.

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

from nestag.batch.storage import READERS, InputFile, InputFiles, InputKind, library, opened
from nestag.data.segment import Options, TokenizerName
from nestag.data.validation import setting
from nestag.errors import InputError, visible
from nestag.formats.files.sources import explained_reading, is_packed

OutputForm = Literal["parquet", "jsonl"]
"""What is written."""

Device = Literal["", "cpu", "cuda"]
"""What a model runs on; empty if the cluster is to say."""

FILE, POSITION, ENTITIES = "file", "position", "entities"
"""The columns that every output has."""

PART_BYTES = {"cpu": 2**20 // 2, "cuda": 32 * 2**20}
"""Bytes of text in a part by what the model runs on: some seconds to a minute of work (docs/how-to/batch.md)."""


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
                raise InputError(f"{name!r} is a column that is written anyway; rename it in the input", "--keep")
        if len(set(self.keep)) < len(self.keep):
            raise InputError("a column is named twice; name each once", "--keep")

    def on(self, device: Device) -> Job:
        """The job on a device, with nothing left open."""
        return replace(self, device=device, part_bytes=self.part_bytes or PART_BYTES[device])

    @property
    def column(self) -> str:
        """The column that is tagged."""
        return self.tokens or self.text

    def options_for(self, usual: Options) -> Options:
        """How text becomes sentences, as usual where nothing else was asked for."""
        return Options(tokenizer=self.tokenizer or usual.tokenizer, language=self.language or usual.language)


LOOKED_AT, LONGEST = 100, 2**20
"""Lines of JSON in which the columns that are named must be found, and bytes of one of them that are read."""


@dataclass(frozen=True)
class Part:
    """A piece of an input file that becomes one output file."""

    name: str  # of the output, without its ending
    kind: InputKind
    file: InputFile
    first: int  # row group or byte
    last: int  # its end
    position: int  # of its first row
    weight: int  # bytes to read, by which progress is told


class Failure(NamedTuple):
    """A file, or a part of it, that cannot be tagged, and why."""

    file: str
    error: str


class PartPlan(NamedTuple):
    """The parts, and the files of which there are none because they cannot be read."""

    parts: tuple[Part, ...]
    failures: tuple[Failure, ...]
    schema: tuple[str, ...]  # the types of the columns of Parquet files that are read or kept


def plan_parts(inputs: InputFiles, job: Job) -> PartPlan:
    """The parts of all files, by file and place."""
    if inputs.kind == "text" and (job.keep or job.tokens):
        raise InputError("lines of text files have no columns; drop --keep and --tokens-column", inputs.files[0].name)
    if inputs.kind == "jsonl":
        _check_fields(inputs.files, job)
    if inputs.kind != "parquet":
        return PartPlan(tuple(part for file in inputs.files for part in _line_parts(file, inputs.kind, job)), (), ())
    with ThreadPoolExecutor(READERS) as pool:
        read = list(pool.map(lambda file: _footer(file, job), inputs.files))
    schema = next((footer.types for footer in read if isinstance(footer, _Footer)), ())
    parts: list[Part] = []
    failures: list[Failure] = []
    for file, footer in zip(inputs.files, read, strict=True):
        if isinstance(footer, _Footer) and footer.types == schema:
            parts += _row_group_parts(file, footer, job)
        else:
            failures.append(Failure(file.name, _other(footer, schema, job) if isinstance(footer, _Footer) else footer))
    return PartPlan(tuple(parts), tuple(failures), schema)


def output_name(file: str, number: int) -> str:
    """The name of the output of a part: what it was made of can be read in it, and no two files share one.

    >>> output_name("2024/news.jsonl", 3)
    'news.jsonl-a0b7d765-00003'
    """
    return f"{output_stem(file)}-{number:05}"


def output_stem(file: str) -> str:
    """What the names of all outputs of a file begin with, and those of no other."""
    readable = re.sub(r"[^\w.-]", "_", PurePosixPath(file).name).lstrip("._")[:80]
    return f"{readable}-{hashlib.sha256(file.encode()).hexdigest()[:8]}"


def _line_parts(file: InputFile, kind: InputKind, job: Job) -> Iterator[Part]:
    step = max(1, file.size if is_packed(file.name) else job.part_bytes)
    for number, first in enumerate(range(0, max(1, file.size), step)):
        last = min(first + step, file.size)
        yield Part(output_name(file.name, number), kind, file, first, last, first, last - first)


def _check_fields(files: Iterable[InputFile], job: Job) -> None:
    """Refuse a column that no row at the beginning has: a slip of the pen would set all rows aside."""
    records = next(filter(None, map(_first_records, files)), [])
    there = sorted(set[str]().union(*records))
    for name in (job.column, *job.keep):
        if records and name not in there:
            shown = ", ".join(map(visible, there[:20]))
            raise InputError(f"none of the first {len(records)} rows has a field {name!r}; there are {shown}", name)


def _first_records(file: InputFile) -> list[dict[str, Any]]:
    """The objects in the first lines of a file; whatever else is there is told when it is read."""
    found: list[dict[str, Any]] = []
    with suppress(InputError), opened(file.address) as stream, explained_reading(file.address):
        for line in islice(iter(lambda: stream.readline(LONGEST), b""), LOOKED_AT):
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                found += [record] if isinstance(record, dict) else []
    return found


class _Footer(NamedTuple):
    """What the end of a Parquet file says about its row groups and columns."""

    rows: tuple[int, ...]
    sizes: tuple[int, ...]  # bytes of the column that is tagged
    types: tuple[str, ...]


def _footer(file: InputFile, job: Job) -> _Footer | str:
    """The footer of a file, or why it cannot be read."""
    try:
        with opened(file.address) as stream, explained_reading(file.address):
            return _read_footer(stream, file, job)
    except InputError as error:
        return error.message


def _read_footer(stream: Any, file: InputFile, job: Job) -> _Footer:
    pq = library("pyarrow.parquet")
    try:
        parquet = pq.ParquetFile(stream)
    except (OSError, ValueError) as error:  # Arrow's own errors are one or the other
        raise InputError(f"not a whole Parquet file ({error}); write it again", file.address) from None
    meta, schema = parquet.metadata, parquet.schema_arrow
    checked_columns(schema, job, file.address)
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    return _Footer(
        tuple(group.num_rows for group in groups),
        tuple(_column_size(group, job.column) for group in groups),
        tuple(f"{name} {schema.field(name).type}" for name in (job.column, *job.keep)),
    )


def checked_columns(schema: Any, job: Job, address: str) -> None:
    """Refuse a table without the columns to read and keep, or whose column to tag cannot hold what it should."""
    for name in (job.column, *job.keep):
        if schema.names.count(name) != 1:
            there = ", ".join(schema.names[:20])
            raise InputError(f"it has not one column {name!r}; there are {there}", address)
    kind = schema.field(job.column).type
    types = library("pyarrow").types
    inner = kind.value_type if job.tokens and (types.is_list(kind) or types.is_large_list(kind)) else kind
    listed = inner is not kind
    texts = types.is_string(inner) or types.is_large_string(inner) or types.is_binary(inner)
    if listed != bool(job.tokens) or not (texts or types.is_large_binary(inner) or types.is_null(kind)):
        wanted = "lists of strings" if job.tokens else "strings"
        raise InputError(f"the column {job.column!r} is {kind}, not {wanted}; name another column", address)


def _column_size(group: Any, column: str) -> int:
    """Bytes of a column in a row group, once unpacked."""
    chunks = (group.column(number) for number in range(group.num_columns))
    return sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] == column)


def _row_group_parts(file: InputFile, footer: _Footer, job: Job) -> Iterator[Part]:
    position = 0
    for number, (first, last) in enumerate(runs(footer.sizes, job.part_bytes)):
        weight = max(1, sum(footer.sizes[first:last]))
        yield Part(output_name(file.name, number), "parquet", file, first, last, position, weight)
        position += sum(footer.rows[first:last])


def runs(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Consecutive pieces as runs of at most `most` together, or of one that is larger; no pieces are one empty run.

    >>> runs([3, 3, 3, 9, 1], 6), runs([], 6)
    ([(0, 2), (2, 3), (3, 4), (4, 5)], [(0, 0)])
    """
    found: list[tuple[int, int]] = []
    first, size = 0, 0
    for place, one in enumerate(sizes):
        if place > first and size + one > most:
            found.append((first, place))
            first, size = place, 0
        size += one
    return [*found, (first, len(sizes))]


def _other(footer: _Footer, schema: tuple[str, ...], job: Job) -> str:
    """Which column of a file is of another type than that of the files before."""
    here, there = next((a, b) for a, b in zip(footer.types, schema, strict=True) if a != b)
    return f"the column {here} is {there.partition(' ')[2]} in the files before; tag it into a folder of its own"
