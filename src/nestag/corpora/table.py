"""Tables of sentences as Hugging Face `datasets` keeps them: files, columns of tags, and a row as a sentence.

Only pyarrow is needed, and imported when the first table is opened. Which columns count is said in formats/parquet.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from nestag.arguments import named
from nestag.corpora.fields import id_or_none, words_field
from nestag.corpora.report import Report
from nestag.corpora.splits import ROLES
from nestag.corpora.tags import PHRASES, Tag, entities_of, joined_entities, parsed
from nestag.data import Entity, Sentence
from nestag.errors import DataError, InputError, MissingExtraError
from nestag.files import is_stream, reading

DATA = "data-00000-of-00001.arrow"
INFO = "dataset_info.json"
TOKENS = ("tokens", "words", "tokenized_text", "sentence")
"""What the column of tokens is called, the likeliest first."""
_LARGEST = 2**31
_SPLITS = {name for names in ROLES.values() for name in names}


class ArrowTable(NamedTuple):
    """A table in parts, and for each column the names of its numbers, if it has any."""

    path: str
    names: dict[str, list[str]]
    batches: Iterator[Any]


class Columns(NamedTuple):
    """The columns that make a sentence: tokens, tags (with the names of their numbers), and spans."""

    tokens: str
    tags: dict[str, list[str]]
    spans: str | None


def pyarrow() -> Any:
    """The library, imported when it is needed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise MissingExtraError("tables need pyarrow", "parquet") from None


def tables_in(path: str | Path, rows: int) -> Iterator[ArrowTable]:
    """The tables of a file or folder, which must be of one split."""
    pa = pyarrow()
    files = [Path(path)]
    if not is_stream(path) and Path(path).is_dir():
        files = sorted(file for file in Path(path).rglob("*") if file.suffix in (".parquet", ".arrow"))
        if not files:
            raise InputError("the folder has no .parquet or .arrow file; name one that has", str(path))
        _refuse_splits(Path(path), files)
    for file in files:
        with reading(file) as stream:
            try:
                yield _table(file, stream, rows, pa)
            except (pa.ArrowException, OSError) as error:
                reason = str(error).split("\n", 1)[0]
                raise InputError(f"no table that can be read ({reason:.100}); save it again", str(file)) from None


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
    batches = dataset.with_format("arrow").iter(batch_size=rows)
    return ArrowTable(f"dataset {dataset.split}" if dataset.split else "dataset", names, batches)


def _refuse_splits(path: Path, files: Sequence[Path]) -> None:
    """An InputError if the files of a folder are several splits."""
    parts = {_split_of(file.relative_to(path)): file for file in files}
    if len(parts) > 1:
        names = ", ".join(str(file.parent if file.suffix == ".arrow" else file) for file in parts.values())
        raise InputError(f"it holds several splits; name one, such as {names}", str(path))


def _split_of(file: Path) -> str:
    words = [part.lower().split(".")[0].split("-")[0] for part in file.parts]
    return next((word for word in words if word in _SPLITS), "")


def _table(file: Path, stream: BinaryIO, rows: int, pa: Any) -> ArrowTable:
    """The table of a file; one that cannot be read in any order, such as a pipe, is read as a whole."""
    source = stream if stream.seekable() else pa.BufferReader(stream.read(_LARGEST))
    if file.name.removesuffix(".gz").endswith(".arrow"):
        opened = _arrow(source, pa)
        schema, batches = opened.schema, _slices(opened, rows)
    else:
        opened = pa.parquet.ParquetFile(source)
        schema, batches = opened.schema_arrow, opened.iter_batches(batch_size=rows)
    return ArrowTable(str(file), _class_names(schema, file), _guarded(batches, file, pa))


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
        yield from batches
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"the table breaks off ({error!s:.100}); save it again", str(file)) from None


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


def features_of(columns: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """The description of features that goes with a table of ours."""
    string = {"dtype": "string", "_type": "Value"}
    tags = {"feature": {"names": list(names), "_type": "ClassLabel"}, "_type": "Sequence"}
    return {"id": string, "tokens": {"feature": string, "_type": "Sequence"}, **dict.fromkeys(columns, tags)}


def chosen_columns(batch: Any, table: ArrowTable, field: str | None, report: Report) -> Columns:
    """The columns to read; an InputError if there are none, and a note of those left alone."""
    rows = batch.slice(0, 100).to_pylist()
    there = batch.schema.names
    token = next((name for name in TOKENS if name in there), None)
    if token is None:
        raise InputError(f"no column {' or '.join(TOKENS)} among {', '.join(there)}; rename that of tokens", table.path)
    wanted = [name.strip() for name in field.split(",")] if field else []
    if missing := [name for name in wanted if name not in there]:
        raise InputError(f"no column {missing[0]!r}; say with {named('field')} some of {', '.join(there)}", table.path)
    held = {name: _tags_seen(rows, name, table.names.get(name, [])) for name in there if name != token}
    tags = wanted or [name for name, found in held.items() if found]
    kinds = {name: held[name] - {""} for name in tags}
    phrases = [name for name in tags if not wanted and kinds[name] and kinds[name] <= PHRASES]
    phrases = phrases if any(kinds[name] for name in tags if name not in phrases) else []
    spans = "entities" if not wanted and "entities" in there and _has_spans(rows) else None
    tags = [name for name in tags if name not in (*phrases, spans)]
    if not tags and not spans:
        raise InputError(f"no column of tags among {', '.join(there)}; say it with {named('field')}", table.path)
    left = [name for name in there if name not in (token, "id", spans, *tags)]
    if left and not field:
        report.note(f"{table.path}: tags read from {', '.join(tags) or spans}; left alone: {', '.join(left)}")
    return Columns(token, {name: table.names.get(name, []) for name in tags}, spans)


def _tags_seen(rows: Sequence[dict[str, Any]], column: str, names: list[str]) -> set[str]:
    """The types of a column if all its values are lists of tags; O gives an empty one."""
    if not all(isinstance(row[column], list | None) for row in rows):
        return set()
    try:
        cells = [_cell(value, names) for row in rows for value in _flat(row[column])]
    except DataError:
        return set()
    return {tag.type for cell in cells for tag in cell}


def _has_spans(rows: Sequence[dict[str, Any]]) -> bool:
    entities = [entity for row in rows for entity in row["entities"] or ()]
    return all(isinstance(entity, dict) and entity.keys() >= {"start", "end", "type"} for entity in entities)


def sentence_of(row: dict[str, Any], columns: Columns, place: str, report: Report) -> Sentence:
    """The sentence of a row; a DataError says what is wrong with it."""
    tokens = words_field(row, columns.tokens)
    found: list[Entity] = []
    for column, names in columns.tags.items():
        for column_tags in _tag_lists(row[column] or [], len(tokens), column):
            cells = [tuple(tag for value in _flat(cell) for tag in _cell(value, names)) for cell in column_tags]
            if any(len(cell) > 1 for cell in cells):
                found += joined_entities(cells, lambda _: place, report)
            else:
                tags = [cell[0] if cell else Tag("O", "") for cell in cells]
                found += entities_of(tags, False, lambda _: place, report)
    if columns.spans:
        found += [Entity(entity["start"], entity["end"], entity["type"]) for entity in row[columns.spans] or ()]
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
