"""BioC as JSON: a collection of documents, as PubTator's service gives it, or a document a line.

    {"source": "", "date": "", "key": "", "documents": [{"id": "1", "passages": [...]}]}

What a document holds is said in corpora/bioc.py. A collection is read document by document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nestag.corpora.bioc import document_from, to_record
from nestag.corpora.document import Document, documents_of
from nestag.corpora.fields import list_field, name_of
from nestag.corpora.format import DEFAULT, Format, Options, Remedy
from nestag.corpora.records import Record, any_object, read_documents, read_records
from nestag.corpora.report import Report
from nestag.corpora.tokenfiles import put
from nestag.data import Sentence
from nestag.files import writing

_COLLECTIONS = ("documents", "PubTator3")
"""Fields that hold a collection's documents."""


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """The sentences of the documents of a file."""
    report = Report() if report is None else report

    def document(record: Record) -> Document:
        name, place = name_of({}, path, record.name), f"{path}:{record.line}"
        return document_from(record.fields, name, place, options, report)

    return read_documents(_documents(read_records(path, options, report)), document, path, options, report)


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One collection, a document a line."""
    with writing(path) as stream:
        before = '{"source": "", "date": "", "key": "", "infons": {}, "documents": [\n'
        for document in documents_of(sentences, report):
            put(before + json.dumps(to_record(document), ensure_ascii=False), stream, f"{path}: {document.id}")
            before = ",\n"
        stream.write("\n]}\n" if before == ",\n" else before + "]}\n")


def looks_like(head: str) -> bool:
    """Whether one of the first objects of a file is a collection or a document."""
    return any_object(head, _is_bioc)


def _is_bioc(fields: dict[str, Any]) -> bool:
    documents = next((fields[key] for key in _COLLECTIONS if key in fields), 0)
    if documents is None:
        return True
    inner = documents[0] if isinstance(documents, list) and documents else fields
    return documents == [] or (isinstance(inner, dict) and isinstance(inner.get("passages", 0), list | None))


def _documents(records: Iterable[Record]) -> Iterator[Record]:
    for line, fields, name in records:
        key = next((key for key in _COLLECTIONS if key in fields), None)
        inside = list_field(fields, key) if key else [fields]
        yield from (Record(line, inner, f"{name}.{number}" if key else name) for number, inner in enumerate(inside, 1))


FORMAT = Format(
    "bioc-json",
    "BioC as JSON",
    (".bioc.json", ".biocjson"),
    read,
    write,
    looks_like,
    raw_text=True,
    remedy=Remedy("field", "names the infon that is the type of an entity"),
)
