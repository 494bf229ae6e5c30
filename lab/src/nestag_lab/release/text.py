"""Raw text for pretraining and distillation: files of tokenized sentences, one a line, plain or compressed (.xz)."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from pathlib import Path

from nestag.data.sentence import Sentence


def read_lines(path: str | Path) -> list[list[str]]:
    """Read the words of each line that has some."""
    data = Path(path).read_bytes()
    text = (lzma.decompress(data) if Path(path).suffix == ".xz" else data).decode()
    return [line.split() for line in text.split("\n") if line.strip()]


def read_texts(paths: Sequence[str | Path]) -> Iterator[Sentence]:
    """Stream the sentences of several files in turn, in proportion to their lengths."""
    texts = [read_lines(path) for path in paths]
    longest = max(map(len, texts))
    for at in range(longest):
        for lines in texts:
            begin, end = (place * len(lines) // longest for place in (at, at + 1))
            yield from map(Sentence, lines[begin:end])
