r"""WebAnno TSV 3, as INCEpTION and GUM write it: a token a line with its place in the text, and a column a feature.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value

    #Text=the USA
    1-1	0-3	the	*[1]	GPE[1]
    1-2	4-7	USA	*[1]|*	GPE[1]|LOC

A path is one .tsv file or a folder of them, each a document. `field` names the layer and the feature that is the type
of an entity, as in `webanno.custom.Referent:entity` (the end of the layer's name is enough); without it that is
NamedEntity and its value, or the only layer that is no part of speech, lemma or the like. What other layers hold is
counted. The file has the size of the white space between two sentences and not what it is: it is read as a line end and
spaces, and where it was something else, that is counted when it is written. Offsets are in units of UTF-16 (utf16.py).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from nestag.data.document import Document, TextSpan, documents_of, sentences_at
from nestag.data.report import Report
from nestag.data.segment import Offsets, Options, Segment
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError, named
from nestag.formats.files import Line, read_lines, writing, writing_folder
from nestag.formats.folders import Names, document_name, only_document, visible_files
from nestag.formats.format import Format, Remedy, skipping
from nestag.formats.shared.tags import refuse_deep
from nestag.formats.shared.utf16 import Utf16

NO_ENTITIES = re.compile(
    r"(POS|Lemma|Stem|MorphologicalFeatures|Token|Sentence|SurfaceForm|SofaChangeAnnotation|Chunk)"
)
"""Layers that hold no entities."""
TYPES = ("value", "entity", "etype", "entity_type", "type", "label", "category")
"""What the feature is called that holds the type of an entity, the likeliest first."""
_ROW = re.compile(r"(?P<token>\d+-\d+)(?P<part>\.\d+)?\t(?P<start>\d{1,15})-(?P<end>\d{1,15})\t(?P<rest>.*)", re.DOTALL)
_VALUE = re.compile(r"(?P<value>.*?)(?:\[(?P<number>\d+)\])?", re.DOTALL)
_PART = re.compile(r"(?:\\.|[^|])+", re.DOTALL)  # between bars without a backslash before them
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
            if block.rows:
                blocks.append(block)
                block = TsvBlock()
        elif not line.text.startswith("#"):
            block.rows.append(_row(line, str(path)))
    if block.rows:
        blocks.append(block)
    return layers, relations, blocks


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
        for part in _PART.findall(row.cells[column]):
            match = _VALUE.fullmatch(part)
            if not match or part == "_":
                continue
            kind = layer.short if not any(layer.features) else "" if match["value"] == "*" else unescape(match["value"])
            key = match["number"] or f"{place} alone {len(numbered)}"
            numbered.setdefault(key, Annotation([], kind)).rows.append(place)
    yield from numbered.values()


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


NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_SUFFIX = ".tsv"


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a file, or of all in a folder."""
    for file, name in _files(Path(path)):
        document = None
        with skipping(options, report):
            document = _document(file, name, options, report)
        if document:
            yield from sentences_at(document, options, report, str(file))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """One .tsv file for the one document, if the path ends so; else a folder with one for each."""
    documents = documents_of(sentences, report, keeps_words=True)
    layer, _, feature = (options.field or f"{NAMED_ENTITY}:value").partition(":")
    features = ("identifier", "value") if layer == NAMED_ENTITY else (feature or "value",)
    if str(path).lower().removesuffix(".gz").endswith(_SUFFIX):
        document = only_document(documents, path, _name(Path(path).name.removesuffix(".gz")), report)
        _write_one(document, path, TsvLayer(layer, features, 0), report)
        return
    names = Names(report)
    with writing_folder(path) as folder:
        for document in documents:
            _write_one(document, folder / f"{names.of(document.id)}{_SUFFIX}", TsvLayer(layer, features, 0), report)


def looks_like(head: str) -> bool:
    """Whether the file says that it is WebAnno TSV."""
    first = head.removeprefix("\ufeff").partition("\n")[0]
    return first.startswith("#FORMAT=WebAnno TSV 3") and "\t" not in first


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """The .tsv files and the names of their documents."""
    if not path.is_dir():
        yield path, _name(path.name.removesuffix(".gz"))
        return
    found = [file for file in visible_files(path) if file.name.endswith(_SUFFIX)]
    if not found:
        raise InputError("the folder has no .tsv file; name one that has", str(path))
    for file in found:
        yield file, _name(file.relative_to(path).as_posix())


def _name(file: str) -> str:
    return document_name(file.removesuffix(_SUFFIX).removesuffix(".webanno"))


def _document(file: Path, name: str, options: Options, report: Report) -> Document:
    layers, relations, blocks = blocks_of(file)
    layer, feature = chosen(layers, options.field, str(file))
    text = ""
    spans: list[TextSpan] = []
    words: list[Segment] = []
    end = 0  # of the sentence before, as the file counts
    for block in blocks:
        first = block.rows[0]
        text += _gap(text, first.start - end)
        at, piece = len(text), text_of(block)
        try:
            places = _places(block.rows, piece, at, first.start)
        except DataError as error:
            raise InputError(str(error), str(file), first.line) from None
        words.append([place for row, place in zip(block.rows, places, strict=True) if not row.is_part])
        spans += _spans(block, places, layer, feature, file, report)
        _count_others(block, [other for other in layers if other != layer], relations, file, report)
        text += piece
        end = block.rows[-1].end
    return Document(name, text, tuple(spans), tuple(words))


def _spans(
    block: TsvBlock, places: Sequence[Offsets], layer: TsvLayer, feature: str | None, file: Path, report: Report
) -> Iterator[TextSpan]:
    """The annotations of the layer that is read; those that are no entities go into the report."""
    place = f"{file}:{block.rows[0].line}"
    for annotation in annotations_of(block.rows, layer, feature, str(file)):
        begin, end = places[annotation.rows[0]][0], places[annotation.rows[-1]][1]
        if not annotation.type:
            report.lose(f"annotation without {feature or 'a type'} left out", place, f"{begin} to {end}")
        elif annotation.is_torn(block.rows):
            report.lose("discontinuous entity set aside", place, f"{begin} to {end} {annotation.type}")
        else:
            yield TextSpan(begin, end, annotation.type)


def _count_others(
    block: TsvBlock, layers: Iterable[TsvLayer], relations: Sequence[int], file: Path, report: Report
) -> None:
    """Report the annotations of other layers, and relations."""
    place = f"{file}:{block.rows[0].line}"
    for layer in layers:
        for annotation in annotations_of(block.rows, layer, None, str(file)):
            report.add(f"annotation of {layer.short} left out", place, annotation.type)
    for cell in (cell for row in block.rows for column in relations for cell in row.cells[column : column + 1]):
        if cell not in ("_", ""):
            report.add("relation left out", place, cell)


def _gap(text: str, size: int) -> str:
    """What stands for the white space between two sentences."""
    return "\n" + " " * (size - 1) if text and size else ""


def _count_gaps(document: Document, segments: Sequence[Segment], report: Report) -> None:
    """Report the white space that reading will not find again; a line end at the very end counts for nothing."""
    borders = [0, *(place for segment in segments for place in (segment[0][0], segment[-1][1])), len(document.text)]
    for number, (start, end) in enumerate(zip(borders[::2], borders[1::2], strict=True)):
        gap = document.text[start:end]
        kept = _gap(" ", end - start) if 0 < number < len(segments) else ""
        if gap not in (kept, "\n" if number == len(segments) else kept):
            report.add("white space between sentences not kept", document.id, f"{gap[:60]!r} at character {start}")


def _places(rows: Sequence[TsvRow], piece: str, at: int, first: int) -> list[Offsets]:
    """Where each row stands in the text, in characters."""
    units = Utf16(piece)
    places = [(at + units.from_units(row.start - first), at + units.from_units(row.end - first)) for row in rows]
    if any(not at <= start < end <= at + len(piece) for start, end in places):
        raise DataError("an offset is not inside the sentence; export the file again")
    return places


def _write_one(document: Document, path: str | Path, layer: TsvLayer, report: Report) -> None:
    units = Utf16(document.text)
    segments = [segment for segment in document.words or () if segment]
    _count_gaps(document, segments, report)
    cells = _cells([word for segment in segments for word in segment], document.spans, layer)
    refuse_deep(document.spans, f"{path}: document {document.id}")
    with writing(path) as stream:
        stream.write(f"#FORMAT=WebAnno TSV 3.3\n#T_SP={'|'.join((layer.name, *layer.features))}\n\n")
        for number, segment in enumerate(segments, 1):
            text = document.text[segment[0][0] : segment[-1][1]]
            stream.write(f"\n#Text={escape_text(text)}\n")
            for token, (start, end) in enumerate(segment, 1):
                place = f"{units.to_units(start)}-{units.to_units(end)}"
                row = [f"{number}-{token}", place, escape(document.text[start:end]), *next(cells)]
                stream.write("\t".join(row) + "\n")


def _cells(words: Sequence[Offsets], spans: Sequence[TextSpan], layer: TsvLayer) -> Iterator[list[str]]:
    """The columns of each token; a number tells entities of several tokens, or of one span, apart."""
    held: list[list[int]] = [[] for _ in words]
    for number, (start, end, _) in enumerate(spans):
        for token in range(bisect_left(words, (start, 0)), bisect_right(words, end, key=lambda word: word[1])):
            held[token].append(number)
    written = [
        [
            f"{'*' if feature == 'identifier' else escape(kind)}[{number}]"
            for number, (_, _, kind) in enumerate(spans, 1)
        ]
        for feature in layer.features
    ]
    for numbers in held:
        yield ["|".join([values[number] for number in numbers]) or "_" for values in written]


FORMAT = Format(
    "webanno", "WebAnno TSV 3 of INCEpTION", (".webanno.tsv", _SUFFIX), read, write, looks_like, raw_text=True,
    folder=(_SUFFIX,), remedy=Remedy("field", "names the layer and its feature, as in webanno.custom.Referent:entity"),
)  # fmt: skip
