"""Text in windows of one width, as an encoder reads it to guess hidden words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from nestag.corpora.document import document_of
from nestag.data import Sentence
from nestag.subwords import Layout, LayoutMaker, Subwords, joined, windows_of

CHUNK = 10_000
"""Sentences that are in memory at once while a text is read."""


class PackedText(NamedTuple):
    """A text in windows, and what tells it from others."""

    layout: Layout
    fingerprint: str


def packed(maker: LayoutMaker, sentences: Iterable[Sentence]) -> PackedText:
    """Sentences in windows of as many of one document as fit; of a stream, only their subwords are kept."""
    source, digest = iter(sentences), hashlib.sha256()
    parts = [maker.table.subwords([])]
    documents: list[int] = []  # a number for each sentence, another one where another document begins
    last: str | None = None
    while chunk := list(islice(source, CHUNK)):
        parts.append(maker.table.subwords([sentence.tokens for sentence in chunk]))
        for sentence in chunk:
            name = document_of(sentence)
            documents.append((documents[-1] if documents else 0) + (name != last))
            last = name
            digest.update(json.dumps([sentence.tokens, name]).encode())
    subwords = Subwords(*map(np.concatenate, zip(*parts, strict=True)))
    windows = windows_of(subwords, maker.max_length - 2, "disjoint")
    return PackedText(
        Layout(subwords, joined(windows, documents, maker.max_length - 2), maker.special), digest.hexdigest()
    )
