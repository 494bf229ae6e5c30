"""The lines of WebAnno TSV 3: layers of its header, rows of tokens, and annotations in their cells.

What they mean for entities is said in formats/webanno.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from nestag.arguments import named
from nestag.errors import InputError
from nestag.files import Line, read_lines

NO_ENTITIES = re.compile(
    r"(POS|Lemma|Stem|MorphologicalFeatures|Token|Sentence|SurfaceForm|SofaChangeAnnotation|Chunk)"
)
"""Layers that hold no entities."""
TYPES = ("value", "entity", "etype", "entity_type", "type", "label", "category")
"""What the feature is called that holds the type of an entity, the likeliest first."""
_ROW = re.compile(r"(?P<token>\d+-\d+)(?P<part>\.\d+)?\t(?P<start>\d{1,15})-(?P<end>\d{1,15})\t(?P<rest>.*)", re.DOTALL)
_VALUE = re.compile(r"(?P<value>.*?)(?:\[(?P<number>\d+)\])?", re.DOTALL)
_PIECE = re.compile(r"(?:\\.|[^|\\])+|\||\\", re.DOTALL)
_ESCAPE = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}
_WRITTEN = {control: f"\\{letter}" for letter, control in _CONTROLS.items()}


class TsvLayer(NamedTuple):
    """A layer of spans, its features, and how many columns stand before its first."""

    name: str
    features: tuple[str, ...]
    column: int

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


class TsvRow(NamedTuple):
    """A token, or a part of one that is annotated, with its place in units of UTF-16."""

    line: int
    is_part: bool
    start: int
    end: int
    word: str
    cells: list[str]


@dataclass
class TsvBlock:
    """A sentence: its text as the file has it, line by line, and its rows."""

    texts: list[str] = field(default_factory=list)
    rows: list[TsvRow] = field(default_factory=list)


class Annotation(NamedTuple):
    """The rows that an annotation covers, counted in its sentence, and its type, if it says one."""

    rows: list[int]
    type: str

    def is_torn(self, rows: Sequence[TsvRow]) -> bool:
        """Whether it leaves tokens out in between."""
        return any(not row.is_part for a, b in pairwise(self.rows) for row in rows[a + 1 : b])


def blocks_of(path: Path) -> tuple[list[TsvLayer], list[int], list[TsvBlock]]:
    """The layers of a file, the columns of its relations, and its sentences."""
    layers: list[TsvLayer] = []
    relations: list[int] = []
    blocks: list[TsvBlock] = []
    block = TsvBlock()
    columns = 0
    for line in read_lines(path):
        if line.text.startswith(("#T_SP=", "#T_CH=", "#T_RL=")):
            name, *features = line.text.partition("=")[2].split("|")
            if line.text.startswith("#T_SP="):
                layers.append(TsvLayer(name, tuple(features), columns))
            columns += max(1, len(features))
            if line.text.startswith("#T_RL="):
                relations.append(columns - 1)
        elif line.text.startswith("#Text="):
            block.texts.append(line.text.removeprefix("#Text="))
        elif not line.text.strip():
            block = _ended(block, blocks)
        elif not line.text.startswith("#"):
            block.rows.append(_row(line, str(path)))
    _ended(block, blocks)
    return layers, relations, blocks


def _ended(block: TsvBlock, blocks: list[TsvBlock]) -> TsvBlock:
    if block.rows:
        blocks.append(block)
        return TsvBlock()
    return block


def _row(line: Line, source: str) -> TsvRow:
    match = _ROW.fullmatch(line.text)
    if not match or not match["rest"]:
        raise InputError(
            f"{line.text[:60]!r} is no token; write 1-1, a tab, START-END, a tab, the token and its columns",
            source, line.number,
        )  # fmt: skip
    word, *cells = match["rest"].split("\t")
    return TsvRow(line.number, bool(match["part"]), int(match["start"]), int(match["end"]), unescape(word), cells)


def text_of(block: TsvBlock) -> str:
    """The text of a sentence; if what the file has does not fit the offsets, its words with spaces between."""
    first = block.rows[0].start
    length = max(row.end for row in block.rows) - first
    for text in ("\n".join(map(unescape, block.texts)), "\n".join(block.texts)):
        if len(text.encode("utf-16-le", "surrogatepass")) // 2 == length:
            return text
    pieces = ""
    for row in block.rows:
        if not row.is_part:
            pieces += " " * max(0, row.start - first - len(pieces)) + row.word
    return pieces


def chosen(layers: Sequence[TsvLayer], wanted: str | None, source: str) -> tuple[TsvLayer, str | None]:
    """The layer to read and the feature that is the type of an entity; an InputError if they are in doubt."""
    name, _, feature = (wanted or "").partition(":")
    candidates = [layer for layer in layers if not NO_ENTITIES.fullmatch(layer.short)]
    if name:
        found = [layer for layer in layers if layer.name == name or layer.name.endswith(f".{name}")]
    else:
        found = [layer for layer in candidates if layer.short == "NamedEntity"] or candidates
    there = ", ".join(f"{layer.name}:{'|'.join(filter(None, layer.features))}" for layer in layers) or "none"
    if len(found) != 1:
        raise InputError(f"which layer has the entities? say it with {named('field')}; the file has {there}", source)
    features = [one for one in found[0].features if one]
    if feature and feature not in features:
        raise InputError(
            f"{found[0].name} has no feature {feature!r}; say with {named('field')} one of {there}", source
        )
    known = [one for one in TYPES if one in features]
    if not feature and features and not known and len(features) > 1:
        raise InputError(
            f"which feature of {found[0].name} is the type? say it with {named('field')}; it has {there}", source
        )
    return found[0], feature or next(iter(known or features), None)


def annotations_of(rows: Sequence[TsvRow], layer: TsvLayer, feature: str | None, source: str) -> Iterator[Annotation]:
    """The annotations of a layer in a sentence, in the order in which they begin."""
    column = layer.column + (layer.features.index(feature) if feature else 0)
    numbered: dict[str, Annotation] = {}
    for place, row in enumerate(rows):
        if column >= len(row.cells):
            raise InputError(f"column {column + 4} is missing; export the file again", source, row.line)
        for part in _parts(row.cells[column]):
            match = _VALUE.fullmatch(part)
            if not match or part in ("_", ""):
                continue
            kind = layer.short if not any(layer.features) else "" if match["value"] == "*" else unescape(match["value"])
            key = match["number"] or f"{place} alone {len(numbered)}"
            numbered.setdefault(key, Annotation([], kind)).rows.append(place)
    yield from numbered.values()


def _parts(cell: str) -> list[str]:
    """The values of a cell, which bars part unless a backslash stands before them."""
    parts, held = [], ""
    for piece in _PIECE.findall(cell):
        if piece == "|":
            parts.append(held)
            held = ""
        else:
            held += piece
    return [*parts, held]


def unescape(text: str) -> str:
    r"""Text without its backslashes.

    >>> unescape(r"a\_b\|c")
    'a_b|c'
    """
    return _ESCAPE.sub(lambda match: _CONTROLS.get(match[1], match[1]), text)


def escape(text: str) -> str:
    r"""The inverse, for words and values.

    >>> print(escape("a_b|c"))
    a\_b\|c
    """
    return escape_text(re.sub(r"->|[][|_;*\\]", lambda match: "\\" + match[0], text), backslash=False)


def escape_text(text: str, backslash: bool = True) -> str:
    """The same for the text of a sentence, in which only control characters and backslashes are escaped."""
    text = text.replace("\\", "\\\\") if backslash else text
    return re.sub(r"[\t\n\r\f\x08]", lambda match: _WRITTEN[match[0]], text)
