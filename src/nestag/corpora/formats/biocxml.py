"""BioC as XML: a collection of documents, whose elements are what the fields of its JSON are.

    <collection><source/><date/><key/><document><id>1</id><passage><offset>0</offset><text>the USA</text>
    <annotation id="T1"><infon key="type">GPE</infon><location offset="0" length="7"/><text>the USA</text>
    </annotation></passage></document></collection>

A path is one file or a folder of them. What a document holds is said in corpora/bioc.py. Files are read document by
document with defusedxml, which refuses definitions of entities; the DOCTYPE that BioC files have defines none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from nestag.corpora.bioc import document_from, to_record
from nestag.corpora.document import Document, documents_of, sentences_at
from nestag.corpora.format import DEFAULT, Format, Options, Remedy, skipping
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.errors import DataError, InputError
from nestag.files import reading, writing

_DOCTYPE = re.compile(r"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>]*>\s*|<!--.*?-->\s*)*<collection\b", re.DOTALL)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
    """The sentences of the documents of a file, or of all files in a folder."""
    report = Report() if report is None else report
    folder = Path(path)
    files: list[str | Path] = [path]
    if folder.is_dir():
        files = sorted(file for file in folder.rglob("*") if file.suffix.lower() == ".xml" and file.is_file())
    for file in files:
        stem = Path(file).name.split(".")[0]
        for number, fields in enumerate(_documents(file), 1):
            document = None
            with skipping(options, report):
                document = _document(fields, f"{stem}:{number}", str(file), number, options, report)
            if document:
                yield from sentences_at(document, options, report, str(file))


def write(
    sentences: Iterable[Sentence], path: str | Path, options: Options = DEFAULT, report: Report | None = None
) -> None:
    """One collection of all documents."""
    with writing(path) as stream:
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        stream.write("<collection><source></source><date></date><key></key>\n")
        for document in documents_of(sentences, report):
            stream.write(_written(document, path))
        stream.write("</collection>\n")


def looks_like(head: str) -> bool:
    """Whether the first element of a file is a collection with a source, a key or a document."""
    start = _DOCTYPE.match(head.removeprefix("\ufeff"))
    return start is not None and bool(re.search("<(source|key|document|infon)\\b", head))


def _documents(path: str | Path) -> Iterator[dict[str, Any]]:
    """The documents of a file as objects of BioC's JSON, one at a time."""
    etree = import_module("defusedxml.ElementTree")
    refused = import_module("defusedxml.common").DefusedXmlException
    with reading(path) as stream:
        try:
            root = None
            for event, element in etree.iterparse(stream, events=("start", "end")):
                root = root or element.tag
                if root not in ("collection", "document"):
                    raise InputError(f"begins with <{root}>; a file of BioC has a <collection>", str(path))
                if event == "end" and element.tag == "document":
                    yield _fields(element)
                    element.clear()
        except (etree.ParseError, refused, ValueError, LookupError) as error:
            reason = "it defines entities" if isinstance(error, refused) else error
            raise InputError(f"not XML that can be read ({reason}); save it again", str(path)) from None


def _fields(element: Any) -> dict[str, Any]:
    """A document, passage, sentence or annotation as an object."""
    fields: dict[str, Any] = {"infons": {infon.get("key"): infon.text or "" for infon in element.findall("infon")}}
    for key in ("id", "text"):
        if (inner := element.find(key)) is not None:
            fields[key] = inner.text or ""
    if (offset := element.findtext("offset")) is not None:
        fields["offset"] = _number(offset)
    for kind in ("passage", "sentence", "annotation", "relation"):
        fields[f"{kind}s"] = [_fields(inner) for inner in element.findall(kind)]
    if element.tag == "annotation":
        places = element.findall("location")
        fields["locations"] = [{key: _number(place.get(key)) for key in ("offset", "length")} for place in places]
    return {"id": element.get("id")} | fields


def _number(text: str | None) -> object:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 16 else text or None


def _document(
    fields: dict[str, Any], name: str, source: str, number: int, options: Options, report: Report
) -> Document:
    try:
        return document_from(fields, name, f"{source}: document {number}", options, report)
    except DataError as error:
        raise InputError(str(error), f"{source}: document {number}") from None


def _written(document: Document, path: str | Path) -> str:
    """A document as XML; what XML cannot hold is an InputError."""
    for text in (document.id, document.text, *(span.type for span in document.spans)):
        if wrong := _NOT_XML.search(text):
            raise InputError(
                f"XML cannot hold the character U+{ord(wrong[0]):04X} of document {document.id!r}; remove it", str(path)
            )
    record = to_record(document)
    (passage,) = record["passages"]
    annotations = "".join(map(_annotation, passage["annotations"]))
    return (
        f"<document><id>{_escaped(record['id'])}</id><passage><offset>0</offset>"
        f"<text>{_escaped(passage['text'])}</text>{annotations}</passage></document>\n"
    )


def _annotation(annotation: dict[str, Any]) -> str:
    (place,) = annotation["locations"]
    return (
        f'\n<annotation id={quoteattr(annotation["id"])}><infon key="type">{_escaped(annotation["infons"]["type"])}'
        f'</infon><location offset="{place["offset"]}" length="{place["length"]}"/>'
        f"<text>{_escaped(annotation['text'])}</text></annotation>"
    )


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


FORMAT = Format(
    "bioc",
    "BioC as XML, a file or a folder",
    (".bioc.xml", ".bioc"),
    read,
    write,
    looks_like,
    raw_text=True,
    folder=(".xml",),
    remedy=Remedy("field", "names the infon that is the type of an entity"),
)
