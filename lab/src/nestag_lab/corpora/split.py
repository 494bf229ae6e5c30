"""Splits of a corpus, by sentence as it is read or by document from a list, and random subsets.

    train APW20001024.1749.0568
    dev chtb_283.eng

A list has a split and a document id a line; blank lines and lines that begin with # are skipped.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.files import Line, read_lines
from nestag.formats.folders import SPLITS, Split


class SplitSentence(NamedTuple):
    """A sentence and the split it belongs to."""

    split: Split
    sentence: Sentence


def published_list(name: str) -> dict[str, Split]:
    """Return the published split of a corpus.

    >>> published_list("ace2004")["chtb_283.eng"]
    'dev'
    """
    with as_file(files("nestag_lab.corpora") / "splits" / f"{name}.txt") as path:
        return read_list(path)


def read_list(path: str | Path) -> dict[str, Split]:
    """Return the documents of a list, in its order, and the split of each."""
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


def subset(sentences: Sequence[Sentence], size: int, seed: int = 0) -> list[Sentence]:
    """Return the first `size` of a random order that depends on the seed alone, in corpus order; 0 takes all.

    A smaller subset is part of a larger one.


    >>> corpus = [Sentence([word]) for word in "abcdef"]
    >>> [sentence.tokens[0] for sentence in subset(corpus, 3)], len(subset(corpus, 0))
    (['b', 'c', 'e'], 6)
    """
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)  # noqa: S311 - not for secrets
    return [sentences[number] for number in sorted(order[: size or None])]
