"""Tables of sentences in Arrow: files, folders and Hugging Face `datasets`, their columns of tags, a row as a sentence.

pyarrow is imported when the first table is opened. formats/parquet.py explains which columns count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError, MissingExtraError, named
from nestag.formats.files import is_stream, reading
from nestag.formats.folders import files_in, role_of
from nestag.formats.registry import library_errors
from nestag.formats.shared.records import Fields
from nestag.formats.shared.tags import OUTSIDE, PHRASES, Tag, entities_of, parse_tags

ROWS = 1_000  # sentences read or written at once
DATA = "data-00000-of-00001.arrow"
INFO = "dataset_info.json"
TOKENS = ("tokens", "words", "tokenized_text", "sentence")  # names of the column of tokens, the likeliest first
OWN = b"nestag"  # the metadata of a table of ours: the names of its columns of tags
_LARGEST = 2**31


class ArrowTable(NamedTuple):
    """A table that can be read several times, and the names of the classes of each column of numbers."""

    path: str
    classes: dict[str, list[str]]
    batches: Callable[[], Iterator[Any]]
    own_columns: tuple[str, ...] = ()  # the columns of tags, if nestag wrote the table


class Columns(NamedTuple):
    """The columns that make a sentence: tokens, tags, and spans."""

    tokens: str
    tags: tuple[str, ...]
    spans: str | None = None


def pyarrow() -> Any:
    """Import the library when it is needed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise MissingExtraError("tables need pyarrow", "parquet") from None


def tables_in(path: str | Path) -> list[ArrowTable]:
    """Return the tables of a file or folder, which must be of one split."""
    files = [(Path(path), "")] if is_stream(path) else files_in(Path(path), (".parquet", ".arrow"))
    splits: dict[str | None, Path] = {}
    for file, name in files:  # a split is in the name of a file or folder, as in data/train-00000-of-00002.parquet
        splits[next(filter(None, (role_of(Path(part.split("-")[0])) for part in Path(name).parts)), None)] = file
    if len(splits) > 1:
        names = ", ".join(str(file.parent if file.suffix == ".arrow" else file) for file in splits.values())
        raise InputError(f"it holds several splits; name one, such as {names}", str(path))
    return [_table(file) for file, _ in files]


def is_dataset(value: object) -> bool:
    """Return whether a value is of Hugging Face `datasets` or a data frame, without importing the library."""
    return type(value).__module__.partition(".")[0] in ("datasets", "pandas", "polars")


def table_of(dataset: Any) -> ArrowTable:
    """Return the table of a `datasets.Dataset`, also one that streams, or of a data frame."""
    if type(dataset).__name__ == "DataFrame":
        pa = pyarrow()
        frame = dataset.to_arrow() if hasattr(dataset, "to_arrow") else pa.Table.from_pandas(dataset)
        return ArrowTable("data frame", {}, frame.to_batches)
    if isinstance(dataset, dict):
        splits = ", ".join(f'dataset["{name}"]' for name in dataset)
        raise InputError(f"it holds several splits; name one: {splits}", type(dataset).__name__)
    features: dict[str, Any] = dataset.features.to_dict() if dataset.features else {}
    classes = {name: _names_in(feature) for name, feature in features.items()}
    arrow = dataset.with_format("arrow")
    name = f"dataset {dataset.split}" if dataset.split else "dataset"
    return ArrowTable(name, classes, lambda: (part for table in arrow.iter(ROWS) for part in table.to_batches()))


def _table(file: Path) -> ArrowTable:
    pa = pyarrow()
    broken = (pa.ArrowException, OSError, UnicodeDecodeError)
    data = None
    if is_stream(file) or file.suffix == ".gz":  # neither can be read at any place
        with reading(file) as stream:
            data = pa.py_buffer(stream.read(_LARGEST))

    def open_table() -> AbstractContextManager[Any]:
        return reading(file) if data is None else nullcontext(pa.BufferReader(data))

    def batches() -> Iterator[Any]:
        with open_table() as source, library_errors("the table breaks off", file, *broken):
            for batch in _content(source, file)[1]:
                batch.validate(full=True)  # or a damaged table could end the process
                yield from (batch.slice(start, ROWS) for start in range(0, batch.num_rows, ROWS))

    with open_table() as source, library_errors("not a table that can be read", file, *broken):
        schema, _ = _content(source, file)
    return ArrowTable(str(file), _class_names(schema, file), batches, _own_columns(schema))


def _content(source: Any, file: Path) -> tuple[Any, Iterator[Any]]:
    """Return the schema and the batches of a file."""
    pa = pyarrow()
    if not file.name.removesuffix(".gz").endswith(".arrow"):
        table = pa.parquet.ParquetFile(source)
        return table.schema_arrow, table.iter_batches(batch_size=ROWS)
    try:
        stream = pa.ipc.open_stream(source)
    except pa.ArrowInvalid:  # not a stream, as `datasets` saves it, but a file
        source.seek(0)
        stream = pa.ipc.open_file(source).read_all().to_reader()
    return stream.schema, stream


def _own_columns(schema: Any) -> tuple[str, ...]:
    """Return the columns of tags of a table of ours that has not been changed."""
    try:
        columns = tuple(json.loads((schema.metadata or {}).get(OWN, b"[]")))
    except (ValueError, TypeError, RecursionError):
        return ()
    return columns if ["id", "tokens", *columns] == schema.names else ()


def _class_names(schema: Any, file: Path) -> dict[str, list[str]]:
    """Return the names of the classes of each column, from the schema or the folder's description."""
    described = (schema.metadata or {}).get(b"huggingface")
    info = file.with_name(INFO)
    try:
        if described:
            features = json.loads(described)["info"]["features"]
        else:
            features = json.loads(info.read_text(encoding="utf-8"))["features"] if info.exists() else {}
        return {column: _names_in(feature) for column, feature in features.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InputError("its description of features is broken; save it again", str(file)) from None


def _names_in(feature: Any) -> list[str]:
    """Return the names of a class label, however deep in lists it is."""
    if isinstance(feature, list):
        feature = feature[0]
    if not isinstance(feature, dict):
        return []
    return list(map(str, feature["names"])) if "names" in feature else _names_in(feature.get("feature"))


def columns_of(tables: Sequence[ArrowTable], field: str | None, report: Report) -> list[Columns]:
    """Return the columns to read of each table: those that nestag wrote, or those that hold tags in all rows.

    The result is empty if the tables have no rows. Ignored columns are noted.
    """
    if all(table.own_columns for table in tables) and not field:
        return [Columns("tokens", table.own_columns) for table in tables]
    names, types, has_spans = _inspect(tables)
    if not names:
        return []
    path = tables[0].path
    token = next((name for name in TOKENS if name in names), None)
    if token is None:
        raise InputError(f"no column {' or '.join(TOKENS)} among {', '.join(names)}; rename that of tokens", path)
    chosen = [name.strip() for name in field.split(",")] if field else []
    if missing := [name for name in chosen if name not in names]:
        raise InputError(f"no column {missing[0]!r}; {named('field')} takes some of {', '.join(names)}", path)
    tags = chosen or [name for name in types if name != token]
    phrases = [] if chosen else [name for name in tags if types[name] and types[name] <= PHRASES]
    if not any(types.get(name) for name in tags if name not in phrases):
        phrases = []
    spans = "entities" if not chosen and has_spans else None
    tags = [name for name in tags if name not in (*phrases, spans)]
    if not tags and not spans:
        raise InputError(f"no column of tags among {', '.join(names)}; name it with {named('field')}", path)
    ignored = [name for name in names if name not in (token, "id", spans, *tags)]
    if ignored and not field:
        report.note(f"{path}: tags read from {', '.join(tags) or spans}; ignored: {', '.join(ignored)}")
    return [Columns(token, tuple(tags), spans)] * len(tables)


def _inspect(tables: Sequence[ArrowTable]) -> tuple[list[str], dict[str, set[str]], bool]:
    """Return the columns of all rows, the types of those that hold only tags, and whether `entities` holds spans."""
    types: dict[str, set[str] | None] = {}
    has_spans = True
    for table in tables:
        for batch in table.batches():
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                known = types.setdefault(name, set())
                seen = None if known is None else _types_in(column, table.classes.get(name, []))
                types[name] = None if known is None or seen is None else known | seen
            names = batch.schema.names
            has_spans = has_spans and "entities" in names and _is_spans(batch.schema.field("entities").type)
    return list(types), {name: kinds - {""} for name, kinds in types.items() if kinds}, has_spans


def _types_in(column: Any, names: list[str]) -> set[str] | None:
    """Return the types in a column of tags, with O as an empty one, or None if it holds anything else."""
    types = pyarrow().types
    if not _is_list(column.type):
        return None
    while _is_list(column.type):
        column = column.flatten()
    is_text = types.is_string(column.type) or types.is_large_string(column.type)
    if types.is_nested(column.type) or not (names or is_text):
        return None if len(column) > column.null_count else set()
    try:
        return {tag.type for value in column.unique().to_pylist() if value is not None for tag in _cell(value, names)}
    except DataError:
        return None


def _is_list(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_spans(kind: Any) -> bool:
    """Say whether values are lists of spans; without any span they have no type."""
    types = pyarrow().types
    if not _is_list(kind):
        return False
    member = kind.value_type
    return types.is_null(member) or (types.is_struct(member) and {"start", "end", "type"} <= {f.name for f in member})


def sentence_of(
    row: dict[str, Any], columns: Columns, classes: dict[str, list[str]], place: str, report: Report
) -> Sentence:
    """Return the sentence of a row, or raise a DataError."""
    fields = Fields(row)
    tokens = fields.words(columns.tokens)
    entities: list[Entity] = []
    for column in columns.tags:
        names = classes.get(column, [])
        for tags in _tag_lists(row.get(column) or [], len(tokens), column):
            cells = [[tag for value in _flatten(cell) for tag in _cell(value, names)] for cell in tags]
            entities += entities_of(cells, lambda _: place, report)
    if columns.spans:
        entities += map(_span, row.get(columns.spans) or ())
    return report.sentence(tokens, entities, fields.id(), place)


def _span(record: dict[str, Any]) -> Entity:
    """Return an annotated entity, or a predicted one, which has other names for its tokens."""
    start, end = ("start_token", "end_token") if "start_token" in record else ("start", "end")
    return Entity(record[start], record[end], record["type"])


def _tag_lists(value: Any, length: int, column: str) -> list[list[Any]]:
    """Return the lists of tags in a cell: one, or several that each have a tag for each token."""
    if not isinstance(value, list):
        raise DataError(f"{column!r} is {value!r:.40}; make it a list of tags")
    if len(value) == length:
        return [value]
    if all(isinstance(tags, list) and len(tags) == length for tags in value):
        return value
    raise DataError(f"{column!r} has {len(value)} tags for {length} tokens; give one for each")


def _flatten(value: Any) -> list[Any]:
    return [inner for member in value for inner in _flatten(member)] if isinstance(value, list) else [value]


def _cell(value: Any, names: list[str]) -> tuple[Tag, ...]:
    """Return the tags of a number or string; null and negative numbers are O."""
    if value is None or (type(value) is int and value < 0):
        return (OUTSIDE,)
    if type(value) is int:
        if value >= len(names):
            raise DataError(f"the tag {value} has no name; there are {len(names)}")
        value = names[value]
    tags = parse_tags(value) if isinstance(value, str) else None
    if not tags:
        raise DataError(f"{value!r:.40} is not a tag; write O, or B-TYPE and I-TYPE")
    return tags
