"""Shared by tests of token formats: files, and how to read them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from nestag.data.report import Report
from nestag.data.sentence import Sentence
from nestag.formats.registry import Format

CORPORA = Path(os.environ.get("NESTAG_CORPORA", "missing"))
with_corpora = pytest.mark.skipif("NESTAG_CORPORA" not in os.environ, reason="needs NESTAG_CORPORA")


def read(entry: Format, path: Path, text: str) -> tuple[list[Sentence], Counter[str]]:
    path.write_bytes(text.encode())
    report = Report()
    return list(entry.read(path, report=report)), report.counts


def written(entry: Format, path: Path, *given_sentences: Sentence) -> str:
    assert entry.write
    entry.write(given_sentences, path)
    return path.read_bytes().decode()


def there_and_back(entry: Format, given_sentences: list[Sentence], path: Path) -> tuple[list[Sentence], Report]:
    assert entry.write
    report = Report()
    entry.write(given_sentences, path, report=report)
    return list(entry.read(path, report=report)), report
