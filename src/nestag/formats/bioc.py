"""BioC as JSON and as XML: collections of documents, whose passages have a text and annotations with offsets.

    {"documents": [{"id": "1", "passages": [{"offset": 0, "text": "the USA", "annotations": [
        {"id": "T1", "infons": {"type": "GPE"}, "locations": [{"offset": 0, "length": 7}], "text": "the USA"}]}]}]}

    <collection><source/><date/><key/><document><id>1</id><passage><offset>0</offset><text>the USA</text>
    <annotation id="T1"><infon key="type">GPE</infon><location offset="0" length="7"/><text>the USA</text>
    </annotation></passage></document></collection>

XML is read document by document with defusedxml, which refuses definitions of entities. The text between passages is
not in the file: it becomes a line end and spaces. No sentence crosses the border of a passage, or of a sentence in the
file. `field` names the infon that holds the type of an entity, if that is not "type".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from nestag.data.document import Document, TextSpan, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options, Segment, segments
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError
from nestag.formats.files import LONGEST_LINE, reading, writing
from nestag.formats.folders import files_in, stem_of
from nestag.formats.registry import JSON, Format, Remedy, library_errors, skipping
from nestag.formats.shared.records import Fields, any_object, read_records, short, write_json
from nestag.formats.shared.tags import refuse_deep

_COLLECTIONS = ("documents", "PubTator3")  # fields that hold a collection's documents
_DOCTYPE = re.compile(r"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>]*>\s*|<!--.*?-->\s*)*<collection\b", re.DOTALL)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_json(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of the documents of a JSON file."""
    for record in read_records(path, options, report):
        with skipping(options, report, path, record.line):
            key = next((key for key in _COLLECTIONS if key in record.fields), None)
            for number, fields in enumerate(record.fields.objects(key) if key else [record.fields], 1):
                name = f"{record.name}.{number}" if key else record.name
                with skipping(options, report, path, record.line):
                    document = _document(fields, name, record.place, options, report)
                    yield from list(sentences_of(document, options, report))


def write_json_collection(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write one collection, one document per line."""
    frame = '{"source": "", "date": "", "key": "", "infons": {}, "documents": [', "]}"
    write_json(map(_to_record, documents_of(sentences, report)), path, frame=frame)


def _is_bioc(fields: dict[str, Any]) -> bool:
    documents = next((fields[key] for key in _COLLECTIONS if key in fields), 0)
    if documents is None:
        return True
    inner = documents[0] if isinstance(documents, list) and documents else fields
    return documents == [] or (isinstance(inner, dict) and isinstance(inner.get("passages", 0), list | None))


def read_xml(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of the documents of an XML file, or of all files in a folder."""
    for file, _ in files_in(Path(path), (".xml",)):
        for number, fields in enumerate(_xml_documents(file), 1):
            place = f"{file}: document {number}"
            with skipping(options, report, place):
                document = _document(fields, f"{stem_of(file)}:{number}", place, options, report)
                yield from list(sentences_of(document, options, report))


def write_xml(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write one collection of all documents."""
    with writing(path) as stream:
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        stream.write("<collection><source></source><date></date><key></key>\n")
        for document in documents_of(sentences, report):
            refuse_unfit_for_xml(document, path, document.id)
            refuse_deep(document.spans, document.id)
            annotations = "".join(
                f'\n<annotation id={quoteattr(f"T{number}")}><infon key="type">{_escape(kind)}'
                f'</infon><location offset="{start}" length="{end - start}"/>'
                f"<text>{_escape(document.text[start:end])}</text></annotation>"
                for number, (start, end, kind) in enumerate(document.spans, 1)
            )
            stream.write(
                f"<document><id>{_escape(document.id)}</id><passage><offset>0</offset>"
                f"<text>{_escape(document.text)}</text>{annotations}</passage></document>\n"
            )
        stream.write("</collection>\n")


def refuse_unfit_for_xml(document: Document, path: str | Path, *more: str) -> None:
    """Raise an InputError if a text or type of a document has a character that XML cannot hold."""
    for text in (*more, document.text, *(span.type for span in document.spans)):
        if wrong := _NOT_XML.search(text):
            raise InputError(
                f"XML cannot hold the character U+{ord(wrong[0]):04X} of document {document.id!r}; remove it", str(path)
            )


def _escape(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


def looks_like_xml(head: str) -> bool:
    """Say whether the first element of a file is a collection with a source, a key or a document."""
    start = _DOCTYPE.match(head.removeprefix("\ufeff"))
    return start is not None and bool(re.search("<(source|key|document|infon)\\b", head))


def _xml_documents(path: str | Path) -> Iterator[Fields]:
    """Yield the documents of a file as objects of BioC's JSON."""
    etree = import_module("defusedxml.ElementTree")
    forbidden = import_module("defusedxml.common").DefusedXmlException
    broken = (etree.ParseError, forbidden, ValueError, LookupError, RecursionError)
    with reading(path) as stream, library_errors("not XML that can be read", path, *broken):
        root = None
        for event, element in etree.iterparse(stream, events=("start", "end")):
            root = root or element.tag
            if root not in ("collection", "document"):
                raise InputError(f"begins with <{root}>; a file of BioC has a <collection>", str(path))
            if event == "end" and element.tag == "document":
                yield _fields(element)
                element.clear()


def _fields(element: Any) -> Fields:
    """Return a document, passage, sentence or annotation as an object."""
    fields: dict[str, Any] = {"infons": {infon.get("key"): infon.text or "" for infon in element.findall("infon")}}
    for key in ("id", "text"):
        if (inner := element.find(key)) is not None:
            fields[key] = inner.text or ""
    if (offset := element.findtext("offset")) is not None:
        fields["offset"] = _number(offset)
    for kind in ("passage", "sentence", "annotation", "relation"):
        fields[f"{kind}s"] = [_fields(inner) for inner in element.findall(kind)]
    if element.tag == "annotation":
        locations = element.findall("location")
        fields["locations"] = [{key: _number(at.get(key)) for key in ("offset", "length")} for at in locations]
    return Fields({"id": element.get("id")} | fields)


def _number(text: str | None) -> object:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 16 else text or None


def _document(fields: Fields, name: str, place: str, options: Options, report: Report) -> Document:
    if not isinstance(fields.get("passages"), list):
        raise DataError(f"'passages' is {short(fields.get('passages'))}; a document of BioC has a list of them")
    text = ""
    words: list[Segment] = []
    passages = list(_passages(fields))
    for passage in passages:
        offset = passage.number("offset")
        if not len(text) <= offset <= LONGEST_LINE:
            raise DataError(f"a passage begins at {offset}; write from {len(text)}, where the one before ends, on")
        gap = offset - len(text)
        text += "\n".ljust(gap) if text and gap else " " * gap
        piece = passage.text("text") if passage.get("text") is not None else ""
        words += [[(a + offset, b + offset) for a, b in segment] for segment in segments(piece, options)]
        text += piece
    for relation in (relation for part in (fields, *passages) for relation in part.objects("relations")):
        report.add("relation dropped", place, str(relation.get("id")))
    spans = tuple(_spans((fields, *passages), text, place, options.field or "type", report))
    return Document(fields.id() or name, text, spans, tuple(words))


def _passages(fields: Fields) -> Iterator[Fields]:
    """Yield the passages that have a text, or their sentences if these have it."""
    for passage in fields.objects("passages"):
        sentences = passage.objects("sentences")
        if passage.get("text") is None and sentences:
            yield from sentences
            if passage.get("annotations") or passage.get("relations"):
                end = sentences[-1].number("offset") + len(sentences[-1].text("text"))
                yield Fields({**passage, "sentences": [], "text": "", "offset": end})
        else:
            inner = [annotation for sentence in sentences for annotation in sentence.objects("annotations")]
            yield Fields({**passage, "annotations": [*passage.objects("annotations"), *inner]})


def _spans(parts: Iterable[Fields], text: str, place: str, infon: str, report: Report) -> Iterator[TextSpan]:
    for annotation in (annotation for part in parts for annotation in part.objects("annotations")):
        infons = annotation.get("infons")
        kind = infons.get(infon) if isinstance(infons, dict) else None
        locations = {(at.number("offset"), at.number("length")) for at in annotation.objects("locations")}
        summary = f"{annotation.get('id')} {kind} {str(annotation.get('text'))[:40]!r}"
        if not kind or not isinstance(kind, str):
            report.lose(f"annotation without the infon {infon!r} dropped", place, summary)
        elif len(locations) != 1:
            report.lose(
                f"{'discontinuous entity' if locations else 'entity without a location'} dropped", place, summary
            )
        else:
            ((start, length),) = locations
            covered = annotation.get("text")
            if isinstance(covered, str) and covered.split() != text[start : start + length].split():
                report.add("text that differs from what the offsets cover", place, summary)
            yield TextSpan(start, start + length, kind)


def _to_record(document: Document) -> dict[str, Any]:
    """Return the object of a document: one passage with all of the text."""
    refuse_deep(document.spans, document.id)
    annotations = [
        {"id": f"T{number}", "infons": {"type": kind}, "text": document.text[start:end]}
        | {"locations": [{"offset": start, "length": end - start}]}
        for number, (start, end, kind) in enumerate(document.spans, 1)
    ]
    passage = {"offset": 0, "infons": {}, "text": document.text, "sentences": [], "annotations": annotations}
    return {"id": document.id, "infons": {}, "passages": [passage | {"relations": []}], "relations": []}


_REMEDY = Remedy("field", "names the infon that is the type of an entity")

FORMATS = (
    Format(
        "bioc", "BioC as XML, a file or a folder", (".bioc.xml", ".bioc"), read_xml, write_xml, looks_like_xml,
        raw_text=True, folder=(".xml",), remedy=_REMEDY, shared=(".xml",),
    ),
    Format(
        "bioc-json", "BioC as JSON", (".bioc.json", ".biocjson"), read_json, write_json_collection,
        lambda head: any_object(head, _is_bioc), raw_text=True, remedy=_REMEDY, shared=JSON,
    ),
)  # fmt: skip
