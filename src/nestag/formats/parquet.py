"""Tables of Hugging Face `datasets`: a Parquet or Arrow file, or a folder that `save_to_disk` made.

    tokens             ner_tags      ner_tags_2
    ["the", "USA"]     [1, 2]        [0, 3]          with the names O, B-GPE, I-GPE, B-LOC for the numbers

Every column of tags is a level, the first written has the outermost entities. A cell may also be a list of levels or,
for each token, a list of tags. `field` names the columns to read, with commas between. Without it those that nestag
wrote are read (the metadata names them), or those that hold nothing but tags in all rows, and spans in `entities`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.formats.columns import tag_columns
from nestag.formats.files import writing_bytes, writing_folder
from nestag.formats.files.targets import temporary_text
from nestag.formats.folders import has_suffix
from nestag.formats.registry import Format, Remedy, skipping
from nestag.formats.shared.table import (
    DATA,
    INFO,
    OWN,
    ROWS,
    columns_of,
    is_dataset,
    pyarrow,
    sentence_of,
    table_of,
    tables_in,
)
from nestag.formats.shared.tags import writable

_STATE: dict[str, Any] = {
    "_data_files": [{"filename": DATA}], "_fingerprint": "nestag", "_format_columns": None, "_format_kwargs": {},
    "_format_type": None, "_output_all_columns": False, "_split": None,
}  # fmt: skip


def read(source: Any, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a table, of all tables of a folder, or of an open `datasets.Dataset`, one per row."""
    tables = [table_of(source)] if is_dataset(source) else tables_in(source)
    for table, columns in zip(tables, columns_of(tables, options.field, report), strict=False):
        rows = (row for batch in table.batches() for row in batch.to_pylist())
        for number, row in enumerate(rows, 1):
            place = f"{table.path}: row {number}"
            with skipping(options, report, place):
                yield sentence_of(row, columns, table.classes, place, report)


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write one table, by way of a temporary file until the tags and columns are known."""
    pa = pyarrow()
    with temporary_text() as spool:
        width, tags = 1, {"O"}
        for place, sentence in writable(sentences, path, report, ids=True):
            tagged = tag_columns(sentence, place)
            width = max(width, len(tagged))
            tags.update(tag for column in tagged for tag in column)
            spool.write(json.dumps([sentence.id, sentence.tokens, tagged], ensure_ascii=False) + "\n")
        names = ["O", *sorted(tags - {"O"})]
        columns = ["ner_tags", *(f"ner_tags_{number}" for number in range(2, width + 1))]
        string = {"dtype": "string", "_type": "Value"}
        labels = {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}
        features = {"id": string, "tokens": {"feature": string, "_type": "Sequence"}, **dict.fromkeys(columns, labels)}
        types = {"id": pa.string(), "tokens": pa.list_(pa.string()), **dict.fromkeys(columns, pa.list_(pa.int64()))}
        metadata = {"huggingface": json.dumps({"info": {"features": features}}), OWN: json.dumps(columns)}
        schema = pa.schema(types.items(), metadata=metadata)
        spool.seek(0)
        batches = _batches(spool, schema, columns, {name: number for number, name in enumerate(names)})
        if has_suffix(path, ".parquet"):
            with writing_bytes(path) as stream, pa.parquet.ParquetWriter(stream, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
        else:
            _write_folder(batches, path, schema, features)


def _batches(lines: Iterator[str], schema: Any, columns: list[str], numbers: dict[str, int]) -> Iterator[Any]:
    while chunk := list(islice(lines, ROWS)):
        rows = []
        for name, tokens, tagged in map(json.loads, chunk):
            tagged += [["O"] * len(tokens)] * (len(columns) - len(tagged))
            tags = {column: [numbers[tag] for tag in level] for column, level in zip(columns, tagged, strict=True)}
            rows.append({"id": name, "tokens": tokens, **tags})
        yield pyarrow().RecordBatch.from_pylist(rows, schema=schema)


def _write_folder(batches: Iterable[Any], path: str | Path, schema: Any, features: dict[str, Any]) -> None:
    """Write a folder for `datasets.load_from_disk`."""
    with writing_folder(path) as folder:
        with open(folder / DATA, "wb") as file, pyarrow().ipc.new_stream(file, schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
        (folder / INFO).write_text(json.dumps({"features": features}, ensure_ascii=False), encoding="utf-8")
        (folder / "state.json").write_text(json.dumps(_STATE), encoding="utf-8")


FORMAT = Format(
    "parquet", "Parquet or a folder of Hugging Face datasets", (".parquet", ".arrow"), read, write,
    lambda head: head.startswith("PAR1"), folder=(".parquet", ".arrow"),
    remedy=Remedy("field", "names the columns of tags"),
)  # fmt: skip
