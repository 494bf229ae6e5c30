"""Label files: a token and its label a line, tab-separated, and a blank line after each sentence.

    Lincoln	1	S	PER
    was	0	S	-

The columns are token, n, c and u, written as encodings/notation.py says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TextIO, TypeVar

from nestag.corpora.files import Line, read_lines
from nestag.encodings.base import Encoding, Label
from nestag.encodings.notation import read_chain, read_field, read_name, write_chain, write_field, write_name
from nestag.errors import InputError, LabelError

T = TypeVar("T")
COLUMNS = ("token", "n", "c", "u")


class Labelled(NamedTuple):
    """The tokens of a sentence and their labels."""

    tokens: Sequence[str]
    labels: Sequence[Label]


def read(path: str | Path, encoding: Encoding) -> Iterator[Labelled]:
    """The labelled sentences of a file; an InputError names the line that cannot be read."""
    parsers: tuple[Callable[[str], object], ...] = (
        read_field,
        cache(encoding.read_n),
        cache(read_name),
        cache(read_chain),
    )
    tokens: list[str] = []
    labels: list[Label] = []
    for line in read_lines(path):
        if line.text:
            token, label = _parse(line, parsers, str(path))
            tokens.append(token)
            labels.append(label)
        else:
            yield Labelled(tokens, labels)
            tokens, labels = [], []
    if tokens:
        yield Labelled(tokens, labels)


def write(sentences: Iterable[Labelled], encoding: Encoding, stream: TextIO) -> None:
    """The inverse of `read`."""
    write_n, write_c, write_u = cache(encoding.write_n), cache(write_name), cache(write_chain)
    for tokens, labels in sentences:
        for token, (n, c, u) in zip(tokens, labels, strict=True):
            stream.write(f"{write_field(token)}\t{write_n(n)}\t{write_c(c)}\t{write_u(u)}\n")
        stream.write("\n")


def _parse(line: Line, parsers: Sequence[Callable[[str], object]], source: str) -> tuple[str, Label]:
    columns = line.text.split("\t")
    if len(columns) != len(COLUMNS):
        raise InputError(
            f"{len(columns)} columns; write the {len(COLUMNS)} columns {', '.join(COLUMNS)} with tabs between",
            source, line.number,
        )  # fmt: skip
    if not columns[0]:
        raise InputError("the token is empty; every token must have a character", source, line.number)
    try:
        token, n, c, u = (parse(column) for parse, column in zip(parsers, columns, strict=True))
    except LabelError as error:
        raise InputError(str(error), source, line.number) from None
    return token, Label(n, c, u)  # type: ignore[arg-type, return-value]
