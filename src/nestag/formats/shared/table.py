"""Tables of sentences as Hugging Face `datasets` keeps them: files, columns of tags, and a row as a sentence.

Only pyarrow is needed, and imported when the first table is opened. Which columns count is said in formats/parquet.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError, MissingExtraError, named
from nestag.formats.files import is_stream, reading
from nestag.formats.folders import ROLES, visible_files
from nestag.formats.shared.records import id_or_none, words_field
from nestag.formats.shared.tags import PHRASES, Tag, entities_of, joined_entities, parsed

DATA = "data-00000-of-00001.arrow"
INFO = "dataset_info.json"
TOKENS = ("tokens", "words", "tokenized_text", "sentence")
"""What the column of tokens is called, the likeliest first."""
OWN = b"nestag"
"""The metadata of a table of ours: the names of its columns of tags."""
_OWN_FIRST = ("id", "tokens")
_LARGEST = 2**31
_SPLITS = {name for names in ROLES.values() for name in names}


class ArrowTable(NamedTuple):
    """A table that can be read several times, and for each column the names of its numbers, if it has any."""

    path: str
    names: dict[str, list[str]]
    batches: Callable[[], Iterator[Any]]
    own: tuple[str, ...] = ()
    """The columns of tags, if nestag wrote the table."""


class Columns(NamedTuple):
    """The columns that make a sentence: tokens, tags, and spans."""

    tokens: str
    tags: tuple[str, ...]
    spans: str | None = None


def pyarrow() -> Any:
    """The library, imported when it is needed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise MissingExtraError("tables need pyarrow", "parquet") from None


def tables_in(path: str | Path, rows: int) -> list[ArrowTable]:
    """The tables of a file or folder, which must be of one split."""
    pa = pyarrow()
    if is_stream(path):
        with reading(path) as stream:
            data = pa.py_buffer(stream.read(_LARGEST))
        return [_table(Path(path), lambda: nullcontext(pa.BufferReader(data)), rows, pa)]
    files = [Path(path)]
    if Path(path).is_dir():
        files = [file for file in visible_files(Path(path)) if file.suffix in (".parquet", ".arrow")]
        if not files:
            raise InputError("the folder has no .parquet or .arrow file; name one that has", str(path))
        _refuse_splits(Path(path), files)
    return [_table(file, partial(_seekable, file, pa), rows, pa) for file in files]


@contextmanager
def _seekable(file: Path, pa: Any) -> Iterator[Any]:
    """The bytes of a file, read as a whole if it is packed."""
    with reading(file) as stream:
        yield stream if stream.seekable() else pa.BufferReader(stream.read(_LARGEST))


def is_dataset(given: object) -> bool:
    """Whether something is a dataset of Hugging Face `datasets`, or several by name; the library is not imported."""
    return type(given).__module__.partition(".")[0] == "datasets"


def table_of(dataset: Any, rows: int) -> ArrowTable:
    """The table of a `datasets.Dataset`, or of one that streams."""
    if isinstance(dataset, dict):
        splits = ", ".join(f'dataset["{name}"]' for name in dataset)
        raise InputError(f"it holds several splits; name one: {splits}", type(dataset).__name__)
    features: dict[str, Any] = dataset.features.to_dict() if dataset.features else {}
    names = {name: _names_in(feature) for name, feature in features.items()}
    arrow = dataset.with_format("arrow")
    name = f"dataset {dataset.split}" if dataset.split else "dataset"
    return ArrowTable(name, names, lambda: (part for table in arrow.iter(rows) for part in table.to_batches()))


def _refuse_splits(path: Path, files: Sequence[Path]) -> None:
    """An InputError if the files of a folder are several splits."""
    parts = {_split_of(file.relative_to(path)): file for file in files}
    if len(parts) > 1:
        names = ", ".join(str(file.parent if file.suffix == ".arrow" else file) for file in parts.values())
        raise InputError(f"it holds several splits; name one, such as {names}", str(path))


def _split_of(file: Path) -> str:
    words = [part.lower().split(".")[0].split("-")[0] for part in file.parts]
    return next((word for word in words if word in _SPLITS), "")


def _table(file: Path, opened: Callable[[], AbstractContextManager[Any]], rows: int, pa: Any) -> ArrowTable:
    def batches() -> Iterator[Any]:
        with opened() as source:
            yield from _guarded(_content(source, file, rows, pa)[1], file, pa)

    with opened() as source:
        try:
            schema, _ = _content(source, file, rows, pa)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = str(error).split("\n", 1)[0]
            raise InputError(f"no table that can be read ({reason:.100}); save it again", str(file)) from None
    return ArrowTable(str(file), _class_names(schema, file), batches, _own_columns(schema))


def _content(source: Any, file: Path, rows: int, pa: Any) -> tuple[Any, Iterator[Any]]:
    """The schema and the batches of a file."""
    if file.name.removesuffix(".gz").endswith(".arrow"):
        opened = _arrow(source, pa)
        return opened.schema, _slices(opened, rows)
    opened = pa.parquet.ParquetFile(source)
    return opened.schema_arrow, opened.iter_batches(batch_size=rows)


def _arrow(source: Any, pa: Any) -> Any:
    """A stream of Arrow, as `datasets` saves it, or a file."""
    try:
        return pa.ipc.open_stream(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_file(source).read_all().to_reader()


def _slices(batches: Any, rows: int) -> Iterator[Any]:
    for batch in batches:
        yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def _guarded(batches: Iterator[Any], file: Path, pa: Any) -> Iterator[Any]:
    try:
        for batch in batches:
            batch.validate(full=True)  # or a damaged table could end the process
            yield batch
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"the table breaks off ({error!s:.100}); save it again", str(file)) from None


def _own_columns(schema: Any) -> tuple[str, ...]:
    """The columns of tags of a table of ours; none if it is another's, or was changed."""
    try:
        columns = tuple(json.loads((schema.metadata or {}).get(OWN, b"[]")))
    except (ValueError, TypeError, RecursionError):
        return ()
    return columns if [*_OWN_FIRST, *columns] == schema.names else ()


def _class_names(schema: Any, file: Path) -> dict[str, list[str]]:
    """The names of the classes of each column, from the schema or the folder's description."""
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
    """The names of a class label, however deep in lists it is."""
    if isinstance(feature, list):
        feature = feature[0]
    if not isinstance(feature, dict):
        return []
    return list(map(str, feature["names"])) if "names" in feature else _names_in(feature.get("feature"))


def own_schema(columns: Sequence[str], features: dict[str, Any]) -> Any:
    """The schema of a table of ours, which says which columns are tags."""
    pa = pyarrow()
    strings = [("id", pa.string()), ("tokens", pa.list_(pa.string()))]
    metadata = {"huggingface": json.dumps({"info": {"features": features}}), OWN: json.dumps(list(columns))}
    return pa.schema([*strings, *((column, pa.list_(pa.int64())) for column in columns)], metadata=metadata)


def features_of(columns: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """The description of features that goes with a table of ours."""
    string = {"dtype": "string", "_type": "Value"}
    tags = {"feature": {"names": list(names), "_type": "ClassLabel"}, "_type": "Sequence"}
    return {"id": string, "tokens": {"feature": string, "_type": "Sequence"}, **dict.fromkeys(columns, tags)}


def columns_of(tables: Sequence[ArrowTable], field: str | None, report: Report) -> list[Columns]:
    """The columns to read of each table: those that nestag wrote, or those that all rows show to be tags."""
    own = [Columns("tokens", table.own) for table in tables if table.own]
    if len(own) == len(tables) and not field:
        return own
    chosen = _chosen_columns(tables, field, report)
    return [chosen] * len(tables) if chosen else []


def _chosen_columns(tables: Sequence[ArrowTable], field: str | None, report: Report) -> Columns | None:
    """The columns to read of all tables; an InputError if there are none, and a note of those ignored.

    None if the tables have no row.
    """
    there, types, has_spans = _looked_through(tables)
    if not there:
        return None
    path = tables[0].path
    token = next((name for name in TOKENS if name in there), None)
    if token is None:
        raise InputError(f"no column {' or '.join(TOKENS)} among {', '.join(there)}; rename that of tokens", path)
    wanted = [name.strip() for name in field.split(",")] if field else []
    if missing := [name for name in wanted if name not in there]:
        raise InputError(f"no column {missing[0]!r}; say with {named('field')} some of {', '.join(there)}", path)
    tags = wanted or [name for name in types if name != token]
    phrases = [] if wanted else [name for name in tags if types[name] and types[name] <= PHRASES]
    if not any(types.get(name) for name in tags if name not in phrases):
        phrases = []
    spans = "entities" if not wanted and has_spans else None
    tags = [name for name in tags if name not in (*phrases, spans)]
    if not tags and not spans:
        raise InputError(f"no column of tags among {', '.join(there)}; say it with {named('field')}", path)
    left = [name for name in there if name not in (token, "id", spans, *tags)]
    if left and not field:
        report.note(f"{path}: tags read from {', '.join(tags) or spans}; left alone: {', '.join(left)}")
    return Columns(token, tuple(tags), spans)


def _looked_through(tables: Sequence[ArrowTable]) -> tuple[list[str], dict[str, set[str]], bool]:
    """The columns of all rows, the types of those that hold tags alone, and whether `entities` holds spans."""
    there: dict[str, None] = {}
    types: dict[str, set[str]] = {}
    others: set[str] = set()
    has_spans = True
    for table in tables:
        for batch in table.batches():
            there.update(dict.fromkeys(batch.schema.names))
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if name in others:
                    continue
                seen = _types_in(column, table.names.get(name, []))
                if seen is None:
                    others.add(name)
                else:
                    types.setdefault(name, set()).update(seen)
            has_spans = (
                has_spans and "entities" in batch.schema.names and _is_spans(batch.schema.field("entities").type)
            )
    return list(there), {name: kinds - {""} for name, kinds in types.items() if name not in others and kinds}, has_spans


def _types_in(column: Any, names: list[str]) -> set[str] | None:
    """The types of a column of tags, O an empty one; None if it holds anything else."""
    types = pyarrow().types
    if not _is_list(column.type):
        return None
    while _is_list(column.type):
        column = column.flatten()
    if types.is_nested(column.type) or not (
        names or types.is_string(column.type) or types.is_large_string(column.type)
    ):
        return None if len(column) > column.null_count else set()
    try:
        return {tag.type for value in column.unique().to_pylist() if value is not None for tag in _cell(value, names)}
    except DataError:
        return None


def _is_list(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_spans(kind: Any) -> bool:
    """Whether values are lists of spans; those of a table without any have no type."""
    types = pyarrow().types
    if not _is_list(kind):
        return False
    member = kind.value_type
    return types.is_null(member) or (types.is_struct(member) and {"start", "end", "type"} <= {f.name for f in member})


def _span(record: dict[str, Any]) -> Entity:
    """An entity of a corpus, or one that a model found, whose tokens have names of their own."""
    start, end = ("start_token", "end_token") if "start_token" in record else ("start", "end")
    return Entity(record[start], record[end], record["type"])


def sentence_of(
    row: dict[str, Any], columns: Columns, classes: dict[str, list[str]], place: str, report: Report
) -> Sentence:
    """The sentence of a row; a DataError says what is wrong with it."""
    tokens = words_field(row, columns.tokens)
    found: list[Entity] = []
    for column in columns.tags:
        names = classes.get(column, [])
        for column_tags in _tag_lists(row.get(column) or [], len(tokens), column):
            cells = [tuple(tag for value in _flat(cell) for tag in _cell(value, names)) for cell in column_tags]
            if any(len(cell) > 1 for cell in cells):
                found += joined_entities(cells, lambda _: place, report)
            else:
                tags = [cell[0] if cell else Tag("O", "") for cell in cells]
                found += entities_of(tags, False, lambda _: place, report)
    if columns.spans:
        found += map(_span, row.get(columns.spans) or ())
    sentence = Sentence(tokens, found, id_or_none(row, "id"))
    report.duplicates(found, sentence, place)
    return sentence


def _tag_lists(value: Any, length: int, column: str) -> list[list[Any]]:
    """The lists of tags in a cell: one, or several of which each has a tag for each token."""
    if not isinstance(value, list):
        raise DataError(f"{column!r} is {value!r:.40}; make it a list of tags")
    if len(value) == length:
        return [value]
    if all(isinstance(tags, list) and len(tags) == length for tags in value):
        return value
    raise DataError(f"{column!r} has {len(value)} tags for {length} tokens; give one for each")


def _flat(value: Any) -> list[Any]:
    return [inner for member in value for inner in _flat(member)] if isinstance(value, list) else [value]


def _cell(value: Any, names: list[str]) -> tuple[Tag, ...]:
    """The tags that a number or string stands for; none and negative numbers are O."""
    if value is None or (type(value) is int and value < 0):
        return (Tag("O", ""),)
    if type(value) is int:
        if value >= len(names):
            raise DataError(f"the tag {value} has no name; there are {len(names)}")
        value = names[value]
    tags = parsed(value) if isinstance(value, str) else None
    if not tags:
        raise DataError(f"{value!r:.40} is no tag; write O, or B-TYPE and I-TYPE")
    return tags
