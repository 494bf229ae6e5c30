"""Tables of Hugging Face `datasets`: a Parquet or Arrow file, or a folder that `save_to_disk` made.

    tokens             ner_tags      ner_tags_2
    ["the", "USA"]     [1, 2]        [0, 3]          with the names O, B-GPE, I-GPE, B-LOC for the numbers

Every column of tags is a level; a cell may also be a list of levels or, for each token, a list of tags. `field` names
the columns to read, with commas between; without it those are read that hold nothing but tags (tags.py) in all rows,
and phrases and the rest are named and left. A table of ours says in its metadata which columns hold tags. A column
`entities` with start, end and type is read as well. Written are a .parquet file, or else a folder; the outermost
entities stand in the first column. A folder of several splits is refused: name one of them. Needs pyarrow (the extra
`parquet`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError
from nestag.formats.columns import tag_columns
from nestag.formats.files import writing_bytes, writing_folder
from nestag.formats.format import Format, Remedy, skipping
from nestag.formats.shared.table import (
    DATA,
    INFO,
    ArrowTable,
    Columns,
    columns_of,
    features_of,
    own_schema,
    pyarrow,
    sentence_of,
    table_of,
    tables_in,
)
from nestag.formats.shared.tags import holdable

ROWS = 1_000
"""Sentences read or written at once."""
_STATE: dict[str, Any] = {
    "_data_files": [{"filename": DATA}], "_fingerprint": "nestag", "_format_columns": None, "_format_kwargs": {},
    "_format_type": None, "_output_all_columns": False, "_split": None,
}  # fmt: skip


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a table, or of all tables of a folder, a row each."""
    yield from _sentences(tables_in(path, ROWS), options, Report() if report is None else report)


def read_dataset(dataset: Any, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a `datasets.Dataset` that is open already."""
    yield from _sentences([table_of(dataset, ROWS)], options, report)


def _sentences(tables: Sequence[ArrowTable], options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of tables, a row each."""
    for table, columns in zip(tables, columns_of(tables, options.field, report), strict=False):
        rows = (row for batch in table.batches() for row in batch.to_pylist())
        for number, row in enumerate(rows, 1):
            with skipping(options, report):
                yield _sentence(row, columns, table, number, report)


def _sentence(row: dict[str, Any], columns: Columns, table: ArrowTable, number: int, report: Report) -> Sentence:
    place = f"{table.path}: row {number}"
    try:
        return sentence_of(row, columns, table.names, place, report)
    except DataError as error:
        raise InputError(str(error), place) from None


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """One table; a temporary file holds the rows until it is known which tags and columns they need."""
    pyarrow()
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        width, tags = 1, {"O"}
        for place, sentence in holdable(sentences, path, report, ids=True):
            tagged = tag_columns(sentence, place)
            width = max(width, len(tagged))
            tags.update(tag for column in tagged for tag in column)
            spool.write(json.dumps([sentence.id, sentence.tokens, tagged], ensure_ascii=False) + "\n")
        names = ["O", *sorted(tags - {"O"})]
        columns = ["ner_tags", *(f"ner_tags_{number}" for number in range(2, width + 1))]
        features = features_of(columns, names)
        schema = own_schema(columns, features)
        spool.seek(0)
        batches = _batches(spool, schema, columns, {name: number for number, name in enumerate(names)})
        if str(path).lower().removesuffix(".gz").endswith(".parquet"):
            with writing_bytes(path) as stream:
                _write_parquet(batches, stream, schema)
        else:
            _write_folder(batches, path, schema, features)


def looks_like(head: str) -> bool:
    """Whether a file begins as Parquet does."""
    return head.startswith("PAR1")


def _batches(lines: Iterable[str], schema: Any, columns: list[str], numbers: dict[str, int]) -> Iterator[Any]:
    rows: list[dict[str, Any]] = []
    for line in lines:
        name, tokens, tagged = json.loads(line)
        row = {"id": name, "tokens": tokens}
        for place, column in enumerate(columns):
            tags = tagged[place] if place < len(tagged) else ["O"] * len(tokens)
            row[column] = [numbers[tag] for tag in tags]
        rows.append(row)
        if len(rows) == ROWS:
            yield pyarrow().RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    if rows:
        yield pyarrow().RecordBatch.from_pylist(rows, schema=schema)


def _write_parquet(batches: Iterable[Any], stream: Any, schema: Any) -> None:
    with pyarrow().parquet.ParquetWriter(stream, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_folder(batches: Iterable[Any], path: str | Path, schema: Any, features: dict[str, Any]) -> None:
    """What `datasets.load_from_disk` reads."""
    with writing_folder(path) as folder:
        with open(folder / DATA, "wb") as file, pyarrow().ipc.new_stream(file, schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
        (folder / INFO).write_text(json.dumps({"features": features}, ensure_ascii=False), encoding="utf-8")
        (folder / "state.json").write_text(json.dumps(_STATE), encoding="utf-8")


FORMAT = Format(
    "parquet", "Parquet or a folder of Hugging Face datasets", (".parquet", ".arrow"), read, write, looks_like,
    folder=(".parquet", ".arrow"), remedy=Remedy("field", "names the columns of tags"),
)  # fmt: skip
