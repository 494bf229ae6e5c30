"""Which part of a corpus is for training, development or test: by sentence as it is read, by document from a list.

    train APW20001024.1749.0568
    dev chtb_283.eng

A list has a split and a document id a line; blank lines and lines that begin with # are left alone.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from nestag.corpora.splits import SPLITS, Split
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.files import Line, read_lines


class SplitSentence(NamedTuple):
    """A sentence and the split it belongs to."""

    split: Split
    sentence: Sentence


def published_list(name: str) -> dict[str, Split]:
    """The list that the field uses for a corpus, as it comes with this package.

    >>> published_list("ace2004")["chtb_283.eng"]
    'dev'
    """
    with as_file(files("nestag.lab.corpora") / "splits" / f"{name}.txt") as path:
        return read_list(path)


def read_list(path: str | Path) -> dict[str, Split]:
    """The documents of a list, in its order, and the split of each."""
    placed: dict[str, Split] = {}
    for line in read_lines(path):
        if not line.text.strip() or line.text.startswith("#"):
            continue
        split, document = _entry(line, str(path))
        if placed.setdefault(document, split) != split:
            raise InputError(f"{document} is in {placed[document]} already; keep one", str(path), line.number)
    if not placed:
        raise InputError("the list names no document; write a split and a document id a line", str(path))
    return placed


def _entry(line: Line, source: str) -> tuple[Split, str]:
    split, _, document = line.text.strip().partition(" ")
    if split not in SPLITS or not document.strip():
        raise InputError(
            f"{line.text[:60]!r} is not a split and a document id; write e.g. 'train {document or 'doc-1'}', with"
            f" one of {', '.join(SPLITS)}",
            source,
            line.number,
        )
    return split, document.strip()
