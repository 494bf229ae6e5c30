"""Label files: a token and its label a line, tab-separated, and a blank line after each sentence.

    Lincoln	1	S	PER
    was	0	S	-

The columns are token, n, c and u, written as encodings/notation.py says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TextIO

from nestag.encodings.base import Encoding, Label, N
from nestag.encodings.notation import read_chain, read_field, read_name, write_chain, write_field, write_name
from nestag.errors import InputError, LabelError
from nestag.files import read_lines
from nestag.tree import Name

COLUMNS = ("token", "n", "c", "u")


class Labelled(NamedTuple):
    """The tokens of a sentence and their labels."""

    tokens: Sequence[str]
    labels: Sequence[Label]


class LabelBlock(NamedTuple):
    """The lines of a file that hold one sentence."""

    line: int
    """The number of the first."""
    tokens: list[str]
    labels: list[Label]


class LabelParsers(NamedTuple):
    """How the three parts of a label are read."""

    n: Callable[[str], N]
    c: Callable[[str], Name]
    u: Callable[[str], tuple[str, ...]]

    def label(self, n: str, c: str, u: str) -> Label:
        """The label of three texts; a LabelError says which is not well formed."""
        return Label(self.n(n), self.c(c), self.u(u))


def parts(encoding: Encoding) -> LabelParsers:
    """The parts as an encoding and the notation write them, each text read once."""
    return LabelParsers(cache(encoding.read_n), cache(read_name), cache(read_chain))


def read(path: str | Path, encoding: Encoding) -> Iterator[Labelled]:
    """The labelled sentences of a file; an InputError names the line that cannot be read."""
    return (Labelled(block.tokens, block.labels) for block in blocks(path, columns(parts(encoding))))


def write(sentences: Iterable[Labelled], encoding: Encoding, stream: TextIO) -> None:
    """The inverse of `read`."""
    write_n, write_c, write_u = cache(encoding.write_n), cache(write_name), cache(write_chain)
    for tokens, labels in sentences:
        for token, (n, c, u) in zip(tokens, labels, strict=True):
            stream.write(f"{write_field(token)}\t{write_n(n)}\t{write_c(c)}\t{write_u(u)}\n")
        stream.write("\n")


def blocks(path: str | Path, parse: Callable[[str], tuple[str, Label]]) -> Iterator[LabelBlock]:
    """The sentences of a file of tokens, one a line; what `parse` says of a line it cannot read gets its place."""
    block = LabelBlock(1, [], [])
    for line in read_lines(path):
        if not line.text:
            yield block
            block = LabelBlock(line.number + 1, [], [])
            continue
        try:
            token, label = parse(line.text)
        except LabelError as error:
            raise InputError(str(error), str(path), line.number) from None
        block.tokens.append(token)
        block.labels.append(label)
    if block.tokens:
        yield block


def columns(parts: LabelParsers) -> Callable[[str], tuple[str, Label]]:
    """How a line of a label file is read."""

    def parse(line: str) -> tuple[str, Label]:
        found = line.split("\t")
        if len(found) != len(COLUMNS):
            raise LabelError(
                f"{len(found)} columns; write the {len(COLUMNS)} columns {', '.join(COLUMNS)} with tabs between"
            )
        if not found[0]:
            raise LabelError("the token is empty; every token must have a character")
        return read_field(found[0]), parts.label(*found[1:])

    return parse
