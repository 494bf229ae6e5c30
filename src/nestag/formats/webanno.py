r"""WebAnno TSV 3, as INCEpTION and GUM write it: a token a line with its offsets, and a column for each feature.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value

    #Text=the USA
    1-1	0-3	the	*[1]	GPE[1]
    1-2	4-7	USA	*[1]|*	GPE[1]|LOC

A path is one .tsv file or a folder of them, each a document. `field` names the layer and the feature that is the type
of an entity, as in `webanno.custom.Referent:entity` (the end of the layer's name is enough). Offsets are UTF-16 units.
The file has only the size of the white space between two sentences, which is read as a line end and spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from nestag.data.document import Document, TextSpan, Utf16, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Offsets, Options, Segment
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError, named
from nestag.formats.cas import NAMED_ENTITY
from nestag.formats.files import LONGEST_LINE, Line, read_lines, writing, writing_folder
from nestag.formats.folders import document_name, files_in, has_suffix, named_documents, only_document
from nestag.formats.registry import Format, Remedy, skipping
from nestag.formats.shared.tags import refuse_deep

TYPES = ("value", "entity", "etype", "entity_type", "type", "label", "category")
"""Names of the feature that holds the type of an entity, the likeliest first."""
_NO_ENTITIES = {
    "POS", "Lemma", "Stem", "MorphologicalFeatures", "Token", "Sentence", "SurfaceForm", "SofaChangeAnnotation", "Chunk"
}  # fmt: skip
_SUFFIX = ".tsv"
_ROW = re.compile(r"\d+-\d+(?P<part>\.\d+)?\t(?P<start>\d{1,15})-(?P<end>\d{1,15})\t(?P<rest>.+)", re.DOTALL)
_VALUE = re.compile(r"(?P<value>.*?)(?:\[(?P<number>\d+)\])?", re.DOTALL)
_PART = re.compile(r"(?:\\.|[^|])+", re.DOTALL)  # between bars without a backslash before them
_ESCAPE = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}
_LETTERS = {control: letter for letter, control in _CONTROLS.items()}
_IN_TEXTS = re.compile(r"[\\\t\n\r\f\x08]")
_IN_CELLS = re.compile(r"->|[][|_;*\\\t\n\r\f\x08]")


class _Layer(NamedTuple):
    """A layer of spans, its features, and the number of columns before its first."""

    name: str
    features: tuple[str, ...]
    column: int

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


class _Row(NamedTuple):
    """A token, or an annotated part of one, with its offsets in UTF-16 units."""

    line: int
    is_part: bool
    start: int
    end: int
    word: str
    cells: list[str]


@dataclass
class _Block:
    """A sentence: its text as the file has it, line by line, and its rows."""

    texts: list[str] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)


class _Annotation(NamedTuple):
    """The rows that an annotation covers, counted in its sentence, and its type, or nothing."""

    rows: list[int]
    type: str


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file, or of all in a folder."""
    for file, name in files_in(Path(path), (_SUFFIX,)):
        with skipping(options, report, file):
            yield from list(sentences_of(_document(file, _name(name), options, report), options, report))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write one .tsv file for the only document if the path ends so, else a folder with one for each."""
    documents = documents_of(sentences, report, keeps_words=True)
    kind, _, feature = (options.field or f"{NAMED_ENTITY}:value").partition(":")
    layer = _Layer(kind, ("identifier", "value") if kind == NAMED_ENTITY else (feature or "value",), 0)
    if has_suffix(path, _SUFFIX):
        _write_one(only_document(documents, path, _name(Path(path).name), report), path, layer, report)
        return
    with writing_folder(path) as folder:
        for name, document in named_documents(documents, report):
            _write_one(document, folder / f"{name}{_SUFFIX}", layer, report)


def looks_like(head: str) -> bool:
    """Say whether the first line names the format."""
    first = head.removeprefix("\ufeff").partition("\n")[0]
    return first.startswith("#FORMAT=WebAnno TSV 3") and "\t" not in first


def _name(file: str) -> str:
    return document_name(file.removesuffix(".gz").removesuffix(_SUFFIX).removesuffix(".webanno"))


def _document(file: Path, name: str, options: Options, report: Report) -> Document:
    layers, relations, blocks = _parse(file)
    layer, feature = _choose_layer(layers, options.field)
    text = ""
    spans: list[TextSpan] = []
    words: list[Segment] = []
    end = 0  # of the sentences before, as the file counts
    for block in blocks:
        text += _gap(text, block.rows[0].start - end)
        places, piece = _places(block, len(text), str(file))
        words.append([place for row, place in zip(block.rows, places, strict=True) if not row.is_part])
        spans += _spans(block, places, layer, feature, file, report)
        _count_others(block, [other for other in layers if other != layer], relations, file, report)
        text += piece
        if len(text) > LONGEST_LINE:
            raise InputError(f"longer than {LONGEST_LINE} characters; split it", str(file), block.rows[0].line)
        end = max(end, block.rows[-1].end)
    return Document(name, text, tuple(spans), tuple(words))


def _parse(path: Path) -> tuple[list[_Layer], list[int], list[_Block]]:
    """Return the layers of a file, the columns of its relations, and its sentences."""
    layers: list[_Layer] = []
    relations: list[int] = []
    blocks = [_Block()]
    columns = 0
    for line in read_lines(path):
        if line.text.startswith(("#T_SP=", "#T_CH=", "#T_RL=")):
            name, *features = line.text.partition("=")[2].split("|")
            if line.text.startswith("#T_SP="):
                layers.append(_Layer(name, tuple(features), columns))
            columns += max(1, len(features))
            if line.text.startswith("#T_RL="):
                relations.append(columns - 1)
        elif line.text.startswith("#Text="):
            blocks[-1].texts.append(line.text.removeprefix("#Text="))
        elif not line.text.strip():
            if blocks[-1].rows:
                blocks.append(_Block())
        elif not line.text.startswith("#"):
            blocks[-1].rows.append(_row(line, str(path)))
    return layers, relations, [block for block in blocks if block.rows]


def _row(line: Line, source: str) -> _Row:
    match = _ROW.fullmatch(line.text)
    if not match or int(match["end"]) > LONGEST_LINE:
        message = f"{line.text[:60]!r} is not a token; write 1-1, a tab, START-END, a tab, the token and its columns"
        raise InputError(message, source, line.number)
    word, *cells = match["rest"].split("\t")
    return _Row(line.number, bool(match["part"]), int(match["start"]), int(match["end"]), unescape(word), cells)


def _text_of(block: _Block) -> str:
    """Return the text of a sentence, or its words with spaces between if it does not fit the offsets."""
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


def _places(block: _Block, at: int, source: str) -> tuple[list[Offsets], str]:
    """Return the offsets of each row in characters of the document, and the text of the sentence, which is at `at`."""
    piece, first = _text_of(block), block.rows[0].start
    units = Utf16(piece)
    try:
        places = [
            (at + units.from_units(row.start - first), at + units.from_units(row.end - first)) for row in block.rows
        ]
    except DataError as error:
        raise InputError(str(error), source, block.rows[0].line) from None
    if any(not at <= start < end <= at + len(piece) for start, end in places):
        raise InputError("an offset is not inside the sentence; export the file again", source, block.rows[0].line)
    return places, piece


def _choose_layer(layers: Sequence[_Layer], choice: str | None) -> tuple[_Layer, str | None]:
    """Return the layer to read and the feature that is the type of an entity, or raise a DataError if in doubt."""
    name, _, feature = (choice or "").partition(":")
    others = [layer for layer in layers if layer.short not in _NO_ENTITIES]
    if name:
        matching = [layer for layer in layers if layer.name == name or layer.name.endswith(f".{name}")]
    else:
        matching = [layer for layer in others if layer.short == "NamedEntity"] or others
    names = ", ".join(f"{layer.name}:{'|'.join(filter(None, layer.features))}" for layer in layers) or "none"
    choose = f"name it with {named('field')}, one of {names}"
    if len(matching) != 1:
        raise DataError(f"the layer of the entities is unclear; {choose}")
    (layer,) = matching
    features = [feature for feature in layer.features if feature]
    likely = [kind for kind in TYPES if kind in features]
    if feature and feature not in features:
        raise DataError(f"{layer.name} has no feature {feature!r}; {choose}")
    if not feature and not likely and len(features) > 1:
        raise DataError(f"the feature of {layer.name} that is the type is unclear; {choose}")
    return layer, feature or next(iter(likely or features), None)


def _annotations(rows: Sequence[_Row], layer: _Layer, feature: str | None, source: str) -> Iterable[_Annotation]:
    """Return the annotations of a layer in a sentence, in the order in which they begin."""
    column = layer.column + (layer.features.index(feature) if feature else 0)
    annotations: dict[str, _Annotation] = {}
    for place, row in enumerate(rows):
        if column >= len(row.cells):
            raise InputError(f"column {column + 4} is missing; export the file again", source, row.line)
        for part in _PART.findall(row.cells[column]):
            match = _VALUE.fullmatch(part)
            if not match or part == "_":
                continue
            kind = layer.short if not any(layer.features) else "" if match["value"] == "*" else unescape(match["value"])
            key = match["number"] or f"{place} alone {len(annotations)}"
            annotations.setdefault(key, _Annotation([], kind)).rows.append(place)
    return annotations.values()


def _spans(
    block: _Block, places: Sequence[Offsets], layer: _Layer, feature: str | None, file: Path, report: Report
) -> Iterator[TextSpan]:
    """Yield the entities of a layer, and report annotations that are none."""
    rows, place = block.rows, f"{file}:{block.rows[0].line}"
    for annotation in _annotations(rows, layer, feature, str(file)):
        start, end = places[annotation.rows[0]][0], places[annotation.rows[-1]][1]
        if not annotation.type:
            report.lose(f"annotation without {feature or 'a type'} dropped", place, f"{start} to {end}")
        elif any(not row.is_part for a, b in pairwise(annotation.rows) for row in rows[a + 1 : b]):
            report.lose("discontinuous entity dropped", place, f"{start} to {end} {annotation.type}")
        else:
            yield TextSpan(start, end, annotation.type)


def _count_others(
    block: _Block, layers: Iterable[_Layer], relations: Sequence[int], file: Path, report: Report
) -> None:
    """Report the annotations of other layers, and relations."""
    place = f"{file}:{block.rows[0].line}"
    for layer in layers:
        for annotation in _annotations(block.rows, layer, None, str(file)):
            report.add(f"annotation of {layer.short} dropped", place, annotation.type)
    for cell in (cell for row in block.rows for column in relations for cell in row.cells[column : column + 1]):
        if cell not in ("_", ""):
            report.add("relation dropped", place, cell)


def unescape(text: str) -> str:
    r"""Remove backslashes.

    >>> unescape(r"a\_b\|c")
    'a_b|c'
    """
    return _ESCAPE.sub(lambda match: _CONTROLS.get(match[1], match[1]), text)


def escape(text: str, special: re.Pattern[str] = _IN_CELLS) -> str:
    r"""Put backslashes before characters that are special in a word or a value.

    >>> print(escape("a_b|c"))
    a\_b\|c
    """
    return special.sub(lambda match: "\\" + _LETTERS.get(match[0], match[0]), text)


def _gap(text: str, size: int) -> str:
    """Return white space of the right size to put between two sentences."""
    return "\n".ljust(size) if text and size else ""


def _count_gaps(document: Document, segments: Sequence[Segment], report: Report) -> None:
    """Report the white space that reading will not restore; a line end at the very end does not count."""
    borders = [0, *(place for segment in segments for place in (segment[0][0], segment[-1][1])), len(document.text)]
    for number, (start, end) in enumerate(zip(borders[::2], borders[1::2], strict=True)):
        gap = document.text[start:end]
        restored = _gap(" ", end - start) if 0 < number < len(segments) else ""
        if gap not in (restored, "\n" if number == len(segments) else restored):
            report.add("white space between sentences not kept", document.id, f"{gap[:60]!r} at character {start}")


def _write_one(document: Document, path: str | Path, layer: _Layer, report: Report) -> None:
    units = Utf16(document.text)
    segments = [segment for segment in document.words or () if segment]
    _count_gaps(document, segments, report)
    refuse_deep(document.spans, f"{path}: document {document.id}")
    cells = _cells([word for segment in segments for word in segment], document.spans, layer)
    with writing(path) as stream:
        stream.write(f"#FORMAT=WebAnno TSV 3.3\n#T_SP={'|'.join((layer.name, *layer.features))}\n\n")
        for number, segment in enumerate(segments, 1):
            text = document.text[segment[0][0] : segment[-1][1]]
            stream.write(f"\n#Text={escape(text, _IN_TEXTS)}\n")
            for token, (start, end) in enumerate(segment, 1):
                place = f"{units.to_units(start)}-{units.to_units(end)}"
                row = [f"{number}-{token}", place, escape(document.text[start:end]), *next(cells)]
                stream.write("\t".join(row) + "\n")


def _cells(words: Sequence[Offsets], spans: Sequence[TextSpan], layer: _Layer) -> Iterator[list[str]]:
    """Yield the columns of each token; numbers distinguish entities of several tokens, or of one span."""
    covering: list[list[int]] = [[] for _ in words]
    for number, (start, end, _) in enumerate(spans, 1):
        for token in range(bisect_left(words, (start, 0)), bisect_right(words, end, key=lambda word: word[1])):
            covering[token].append(number)
    for numbers in covering:
        yield [
            "|".join(f"{'*' if feature == 'identifier' else escape(spans[n - 1].type)}[{n}]" for n in numbers) or "_"
            for feature in layer.features
        ]


FORMAT = Format(
    "webanno", "WebAnno TSV 3 of INCEpTION", (".webanno.tsv", _SUFFIX), read, write, looks_like, raw_text=True,
    folder=(_SUFFIX,), remedy=Remedy("field", "names the layer and its feature, as in webanno.custom.Referent:entity"),
)  # fmt: skip
