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

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nestag.corpora.document import Document, TextSpan, documents_of, sentences_at
from nestag.corpora.folders import Names, document_name
from nestag.corpora.format import DEFAULT, Format, Options, Remedy, skipping
from nestag.corpora.report import Report
from nestag.corpora.segment import Offsets, Segment
from nestag.corpora.tsv import (
    TsvBlock,
    TsvLayer,
    TsvRow,
    annotations_of,
    blocks_of,
    chosen,
    escape,
    escape_text,
    text_of,
)
from nestag.corpora.utf16 import Utf16
from nestag.data import Sentence
from nestag.errors import DataError, InputError
from nestag.files import writing, writing_folder

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_SUFFIX = ".tsv"


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """The sentences of a file, or of all in a folder."""
    report = Report() if report is None else report
    for file, name in _files(Path(path)):
        document = None
        with skipping(options, report):
            document = _document(file, name, options, report)
        if document:
            yield from sentences_at(document, options, report, str(file))


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One .tsv file for the one document, if the path ends so; else a folder with one for each."""
    report = Report() if report is None else report
    documents = documents_of(sentences, report, keeps_words=True)
    layer, _, feature = (options.field or f"{NAMED_ENTITY}:value").partition(":")
    features = ("identifier", "value") if layer == NAMED_ENTITY else (feature or "value",)
    if str(path).lower().removesuffix(".gz").endswith(_SUFFIX):
        document = next(documents, Document("", ""))
        if next(documents, None):
            raise InputError("one .tsv file holds one document, and there are several; name a folder", str(path))
        _write_one(document, path, TsvLayer(layer, features, 0), report)
        return
    names = Names(report)
    with writing_folder(path) as folder:
        for document in documents:
            _write_one(document, folder / f"{names.of(document.id)}{_SUFFIX}", TsvLayer(layer, features, 0), report)


def looks_like(head: str) -> bool:
    """Whether the file says that it is WebAnno TSV."""
    return head.removeprefix("\ufeff").startswith("#FORMAT=WebAnno TSV 3")


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """The .tsv files and the names of their documents."""
    if not path.is_dir():
        yield path, _name(path.name.removesuffix(".gz"))
        return
    found = sorted(file for file in path.rglob("*") if file.name.endswith(_SUFFIX) and file.is_file())
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
    with writing(path) as stream:
        stream.write(f"#FORMAT=WebAnno TSV 3.3\n#T_SP={'|'.join((layer.name, *layer.features))}\n\n")
        for number, segment in enumerate(segments, 1):
            text = document.text[segment[0][0] : segment[-1][1]]
            stream.write(f"\n#Text={escape_text(text)}\n")
            cells = _cells(segment, document.spans)
            for token, ((start, end), held) in enumerate(zip(segment, cells, strict=True), 1):
                columns = [_cell(held, is_type=feature != "identifier") for feature in layer.features]
                place = f"{units.to_units(start)}-{units.to_units(end)}"
                row = [f"{number}-{token}", place, escape(document.text[start:end]), *columns]
                stream.write("\t".join(row) + "\n")


class _TokenEntity(NamedTuple):
    """An entity on a token; the number tells those of several tokens, or of one span, apart."""

    type: str
    number: int


def _cells(segment: Segment, spans: Sequence[TextSpan]) -> list[list[_TokenEntity]]:
    cells: list[list[_TokenEntity]] = [[] for _ in segment]
    for number, (start, end, kind) in enumerate(spans, 1):
        for token, (first, last) in enumerate(segment):
            if start <= first and last <= end:
                cells[token].append(_TokenEntity(kind, number))
    return cells


def _cell(held: Sequence[_TokenEntity], is_type: bool) -> str:
    return "|".join(f"{escape(kind) if is_type else '*'}[{number}]" for kind, number in held) or "_"


FORMAT = Format(
    "webanno",
    "WebAnno TSV 3 of INCEpTION",
    (".webanno.tsv", _SUFFIX),
    read,
    write,
    looks_like,
    raw_text=True,
    folder=(_SUFFIX,),
    remedy=Remedy("field", "names the layer and its feature, as in webanno.custom.Referent:entity"),
)
