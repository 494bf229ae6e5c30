"""Shared by tests of raw-text formats: files, and how to read them."""

from __future__ import annotations

from pathlib import Path

from nestag.data.document import Document, documents_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.formats.registry import Format

LINES = Options("whitespace")
EXACT = Options("whitespace", boundaries="split")


def read_all(entry: Format, path: Path, options: Options = LINES) -> tuple[list[Sentence], Report]:
    report = Report()
    return list(entry.read(path, options, report)), report


def read_documents(entry: Format, path: Path, options: Options = EXACT) -> tuple[list[Document], Report]:
    sentences, report = read_all(entry, path, options)
    return list(documents_of(sentences)), report


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def spans_of(document: Document) -> list[tuple[int, int, str]]:
    return sorted(tuple(span) for span in document.spans)  # type: ignore[misc]
