"""UIMA CAS XMI, as INCEpTION and DKPro write it: a text, its tokens and sentences, and layers of annotations.

    <xmi:XMI ...> <cas:Sofa sofaString="the USA" .../> <ner:NamedEntity begin="0" end="7" value="GPE" .../> </xmi:XMI>

A path is an .xmi file with TypeSystem.xml next to it, a zip export, or a folder of either. `field` names the layer and
the feature that holds the type of an entity, as in `custom.Span:label`. A layer without strings gives its own name.

dkpro-cassis (the extra `cas`) converts offsets from UTF-16 units to characters. The bytes are limited and must have no
document type definition, so that no parser can be made to expand entities or to fetch anything.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple
from warnings import catch_warnings, simplefilter

from nestag.data.document import Document, TextSpan, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options, Segment, check_words, group_words, segments, split_before
from nestag.data.sentence import Sentence
from nestag.errors import InputError, MissingExtraError, named
from nestag.formats.bioc import refuse_unfit_for_xml
from nestag.formats.files import reading, writing, writing_bytes, writing_folder, writing_together
from nestag.formats.folders import document_name, files_in, has_suffix, named_documents, only_document
from nestag.formats.registry import Format, Remedy, library_errors, skipping

LARGEST = 256 * 2**20  # the largest number of bytes of one XMI file
TYPE_SYSTEM = "TypeSystem.xml"
_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
NAMED_ENTITY = _DKPRO + "ner.type.NamedEntity"
TOKEN = _DKPRO + "segmentation.type.Token"
SENTENCE = _DKPRO + "segmentation.type.Sentence"
_ANNOTATION = "uima.tcas.Annotation"
_STRING = "uima.cas.String"
_BROKEN = (AttributeError, LookupError, RuntimeError, SyntaxError, TypeError, UserWarning, ValueError)


class _Xmi(NamedTuple):
    """A document's path below the folder or zip, its place for messages, its bytes and those of its type system."""

    path: str
    place: str
    data: bytes
    type_system: bytes


class _Layer(NamedTuple):
    """A type of annotations, and the feature that holds an entity's type, if there is one."""

    type: str
    feature: str | None


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a document, or of all in a zip or folder."""
    _cassis()
    broken = (*_BROKEN, import_module("cassis.typesystem").TypeNotFoundError)
    for xmi in _xmi_files(Path(path)):
        with library_errors("not a CAS that can be read", xmi.place, *broken):
            document = _document(xmi, options, report)
        with skipping(options, report, xmi.place):
            yield from list(sentences_of(document, options, report))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write one .xmi file with TypeSystem.xml next to it, a .zip, or else a folder of all documents."""
    layer = _split(options.field)
    types = _type_system_for(layer)
    documents = documents_of(sentences, report, keeps_words=True)
    if has_suffix(path, ".xmi"):
        _write_one(documents, Path(path), layer, types, report)
        return
    if str(path).endswith(".gz"):
        raise InputError("only a single .xmi file can be packed so; drop the .gz", str(path))
    files = (
        (f"{name}.xmi", _to_xmi(document, layer, types, path)) for name, document in named_documents(documents, report)
    )
    contents = chain([(TYPE_SYSTEM, types.to_xml().encode())], files)
    if str(path).lower().endswith(".zip"):
        with writing_bytes(path) as stream, zipfile.ZipFile(stream, "w") as archive:
            for name, data in contents:  # without the time, so that equal input gives equal bytes
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    else:
        with writing_folder(path) as folder:
            for name, data in contents:
                (folder / name).write_bytes(data)


def looks_like(head: str) -> bool:
    """Say whether a file begins like XMI or a type system."""
    return bool(re.search(r"<(\w+:)?(XMI|typeSystemDescription)\b[^>]*(omg\.org/XMI|uima\.apache\.org)", head))


def _xmi_files(path: Path) -> Iterator[_Xmi]:
    """Yield the documents of a file, a zip or a folder."""
    base = path if path.is_dir() else path.parent
    systems = base.rglob(TYPE_SYSTEM) if path.is_dir() else base.glob(TYPE_SYSTEM)
    types = {system.relative_to(base).as_posix(): system for system in systems}
    for file, name in files_in(path, (".xmi", ".zip")):
        if file.suffix.lower() == ".zip":
            yield from _in_zip(file, f"{PurePosixPath(name).with_suffix('')}/" if path.is_dir() else "")
        else:
            yield _Xmi(name, str(file), _bytes_of(file), _bytes_of(types[_nearest(name, types, str(file))]))


def _in_zip(path: Path, prefix: str) -> Iterator[_Xmi]:
    """Yield every .xmi file in a zip."""
    broken = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError)
    with (
        reading(path) as file,
        library_errors("not a zip that can be read", path, *broken),
        zipfile.ZipFile(file) as archive,
    ):
        members = {member.filename: member for member in archive.infolist()}
        documents = sorted(name for name in members if name.lower().endswith(".xmi"))
        if not documents:
            raise InputError("the zip has no .xmi file; export the documents as UIMA CAS XMI", str(path))

        def content(name: str) -> bytes:
            with archive.open(members[name]) as stream:
                return _read_limited(stream, f"{path}/{name}")

        for name in documents:
            place = f"{path}/{name}"
            yield _Xmi(prefix + name, place, content(name), content(_nearest(name, members, place)))


def _nearest(name: str, paths: Container[str], place: str) -> str:
    """Return the type system in the folder of a file, or in the nearest above."""
    for folder in PurePosixPath(name).parents:
        path = (folder / TYPE_SYSTEM).as_posix()
        if path in paths:
            return path
    raise InputError(f"there is no {TYPE_SYSTEM} next to it; export it as well", place)


def _read_limited(stream: IO[bytes], place: str) -> bytes:
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"more than {LARGEST} bytes; split the document", place)
    return data


def _bytes_of(path: Path) -> bytes:
    with reading(path) as stream:
        return _read_limited(stream, str(path))


def _refuse_definitions(data: bytes, place: str) -> None:
    """Raise an InputError if XML in any encoding has a document type definition."""
    etree = import_module("defusedxml.ElementTree")
    forbidden = import_module("defusedxml.common").DTDForbidden
    try:
        next(etree.iterparse(BytesIO(data), events=("start",), forbid_dtd=True), None)
    except forbidden:
        raise InputError("the XML has a document type definition; remove <!DOCTYPE ...>", place) from None
    except (etree.ParseError, LookupError, ValueError) as error:
        raise InputError(f"not XML ({error}); export it again", place) from None


def _cassis() -> Any:
    try:
        return import_module("cassis")
    except ImportError:
        raise MissingExtraError("XMI needs dkpro-cassis", "cas") from None


@lru_cache(maxsize=1)
def _type_system(data: bytes) -> Any:
    return _cassis().load_typesystem(BytesIO(data))


def _load(xmi: _Xmi) -> Any:
    """Return the CAS; an offset outside the text, of which cassis only warns, is an error."""
    _refuse_definitions(xmi.data, xmi.place)
    _refuse_definitions(xmi.type_system, f"{xmi.place} ({TYPE_SYSTEM})")
    with catch_warnings():
        simplefilter("ignore")
        types = _type_system(xmi.type_system)
        simplefilter("error", UserWarning)
        # trusted only lifts the limit of 10 MB on a text: the bytes are limited and have no definitions
        return _cassis().load_cas_from_xmi(BytesIO(xmi.data), typesystem=types, trusted=True)


def _document(xmi: _Xmi, options: Options, report: Report) -> Document:
    cas = _load(xmi)
    layer = _choose_layer(cas.typesystem, options.field, xmi.place)
    text = cas.sofa_string
    if text is None:
        raise ValueError("no text, which should be the sofaString")
    spans = tuple(_spans(cas, layer, xmi.place, report))
    _count_others(cas, layer, xmi.place, report)
    name = document_name(str(PurePosixPath(xmi.path).with_suffix("")))
    return Document(name, text, spans, tuple(_words(cas, text, xmi.place, options, report)))


def _spans(cas: Any, layer: _Layer, place: str, report: Report) -> Iterator[TextSpan]:
    for annotation in cas.select(layer.type):
        start, end = int(annotation.begin), int(annotation.end)
        kind = layer.type.rpartition(".")[2] if layer.feature is None else annotation[layer.feature]
        if not kind:
            report.lose(f"annotation without a {layer.feature} dropped", place, f"{start} to {end}")
        elif start == end:
            report.lose("empty span dropped", place, f"at character {start} {kind}")
        else:
            yield TextSpan(start, end, str(kind))


def _words(cas: Any, text: str, place: str, options: Options, report: Report) -> list[Segment]:
    """Return the tokens and sentences of the CAS, and find in the text those that it lacks."""
    tokens, sentences = _offsets(cas, TOKEN), _offsets(cas, SENTENCE)
    if not tokens and not sentences:
        return segments(text, options)
    if tokens:
        words = check_words(text, tokens, place, report)
    else:
        words = [word for segment in segments(text, options) for word in segment]
    return split_before(words, [start for start, _ in sentences]) if sentences else group_words(words, text, options)


def _offsets(cas: Any, kind: str) -> list[tuple[int, int]]:
    if not cas.typesystem.contains_type(kind, match_exactly=True):
        return []
    return [(int(annotation.begin), int(annotation.end)) for annotation in cas.select(kind)]


def _count_others(cas: Any, layer: _Layer, place: str, report: Report) -> None:
    types = cas.typesystem
    known = [TOKEN, SENTENCE, layer.type, "uima.tcas.DocumentAnnotation"]
    known = [kind for kind in known if types.contains_type(kind, match_exactly=True)]
    for annotation in cas.select_all_annotations():
        if not any(types.is_instance_of(annotation.type.name, kind) for kind in known):
            what = f"{annotation.begin} to {annotation.end} {annotation.type.name}"
            report.add("annotation of another layer dropped", place, what)


def _split(field: str | None) -> _Layer:
    """Return the layer and feature that a field names."""
    name, _, feature = (field or f"{NAMED_ENTITY}:value").partition(":")
    return _Layer(name, feature or "value")


def _choose_layer(types: Any, field: str | None, place: str) -> _Layer:
    """Return the layer to read, or raise an InputError if it is missing or its feature is unclear."""
    name, wanted = _split(field).type, (field or "").partition(":")[2]
    if not types.contains_type(name, match_exactly=True):
        layers = [kind.name for kind in types.get_types() if types.is_instance_of(kind.name, _ANNOTATION)]
        custom = [layer for layer in layers if not layer.startswith((_DKPRO, "uima."))]
        names = ", ".join(custom or layers) or "none"
        raise InputError(f"there is no layer {name}; name one with {named('field')}: {names}", place)
    strings = [feature.name for feature in types.get_type(name).all_features if feature.rangeType.name == _STRING]
    feature = wanted or ("value" if "value" in strings else next(iter(strings), None))
    if (wanted and wanted not in strings) or (feature != "value" and len(strings) > 1 and not wanted):
        names = ", ".join(f"{name}:{feature}" for feature in strings)
        raise InputError(f"the feature of {name} that is the type is unclear; {named('field')}: {names}", place)
    return _Layer(name, feature)


def _type_system_for(layer: _Layer) -> Any:
    types = _cassis().TypeSystem()
    for kind in (SENTENCE, TOKEN, layer.type):
        types.create_type(kind, supertypeName=_ANNOTATION)
    types.create_feature(types.get_type(layer.type), layer.feature, _STRING)
    return types


def _to_xmi(document: Document, layer: _Layer, types: Any, path: str | Path) -> bytes:
    refuse_unfit_for_xml(document, path)
    cas = _cassis().Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = document.text, "text/plain"
    sentence, token, entity = (types.get_type(kind) for kind in (SENTENCE, TOKEN, layer.type))
    for segment in filter(None, document.words or ()):
        cas.add(sentence(begin=segment[0][0], end=segment[-1][1]))
        cas.add_all([token(begin=start, end=end) for start, end in segment])
    for start, end, kind in document.spans:
        cas.add(entity(begin=start, end=end, **{str(layer.feature): kind}))
    return str(cas.to_xmi()).encode()


def _write_one(documents: Iterator[Document], path: Path, layer: _Layer, types: Any, report: Report) -> None:
    name = document_name(path.name.removesuffix(".gz").removesuffix(".xmi"))
    document = only_document(documents, path, name, report)
    system = path.with_name(TYPE_SYSTEM)
    if system.exists() and system.read_text("utf-8") != types.to_xml():
        raise InputError(f"another {TYPE_SYSTEM} is next to it; write to another folder", str(path))
    data = _to_xmi(document, layer, types, path)
    with writing_together(path.parent) as part:
        if not system.exists():
            with writing(part / TYPE_SYSTEM) as other:
                other.write(types.to_xml())
        with writing_bytes(part / path.name) as stream:
            stream.write(data)


FORMAT = Format(
    "cas", "UIMA CAS XMI of INCEpTION", (".xmi", ".zip"), read, write, looks_like, raw_text=True,
    folder=(".xmi", ".zip"), remedy=Remedy("field", "names the layer and its feature, as in custom.Span:label"),
    shared=(".xml",),
)  # fmt: skip
