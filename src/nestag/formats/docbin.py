"""spaCy's DocBin (.spacy): tokens, sentences, and entities as a group of spans (`doc.spans["sc"]`).

`field` names the group, or "ents" for `doc.ents`. Without it that is "sc", or the only group that has spans, or
`doc.ents` if none has any. The group's attributes keep what the format has no place for: the name of the document and
the words that are white space. The file is packed data (msgpack in zlib, no pickle), which spaCy loads as a whole: at
most 1 GiB unpacked. User data in it is ignored.
"""

from __future__ import annotations

import gc
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nestag.data.document import Document, TextSpan, documents_of, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options, check_words, group_words, pieces_of, split_before
from nestag.data.sentence import Sentence
from nestag.errors import InputError, MissingExtraError, named
from nestag.formats.files import reading, writing_bytes
from nestag.formats.folders import stem_of
from nestag.formats.registry import Format, Remedy, library_errors, skipping

if TYPE_CHECKING:
    from spacy.tokens import Doc, DocBin, Span
    from spacy.vocab import Vocab

GROUP = "sc"  # the group of spans that spaCy's own span categorizer uses
ENTS = "ents"
LARGEST = 2**30  # the largest number of bytes, unpacked
_BROKEN = (
    ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, struct.error, zlib.error
)  # fmt: skip
_NAME = "document"  # the attribute of a group that is the name of the document
_BLANK = "words_of_white_space"  # the one that numbers the tokens of white space that are words


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of the documents of a file."""
    vocabulary = _vocabulary()
    with _loading(path):
        packed = _load(path)
        counts: Counter[str] = Counter()
        for example in packed.get_docs(vocabulary):
            counts[ENTS] += len(example.ents)
            counts.update({str(key): len(group) for key, group in example.spans.items()})
        key = _group(counts, path, options.field, report)
        documents = enumerate(packed.get_docs(vocabulary), 1)
    while True:
        with _loading(path):
            number, doc = next(documents, (0, None))
            if doc is None:
                return
            document = _document(doc, key, f"{stem_of(path)}:{number}", options, report)
        with skipping(options, report, path):
            yield from list(sentences_of(document, options, report))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write every document, its sentences, and its entities in the group "sc" (or the field's)."""
    vocabulary = _vocabulary()
    from spacy.tokens import DocBin

    packed = DocBin(attrs=["SENT_START"])
    for document in documents_of(sentences, report, keeps_words=True):
        packed.add(_doc(document, vocabulary, options.field or GROUP))
    with writing_bytes(path) as stream:
        stream.write(packed.to_bytes())


def _vocabulary() -> Vocab:
    try:
        from spacy.vocab import Vocab
    except ImportError:
        raise MissingExtraError(".spacy files need spaCy", "text") from None
    return Vocab()


def _load(path: str | Path) -> DocBin:
    from spacy.tokens import DocBin

    with reading(path) as stream:
        data = stream.read(LARGEST + 1)
    if len(zlib.decompressobj().decompress(data, LARGEST + 1)) > LARGEST:
        raise InputError(f"more than {LARGEST} bytes when unpacked; split it into several", str(path))
    packed = DocBin().from_bytes(data)
    packed.user_data = []
    return packed


@contextmanager
def _loading(path: str | Path) -> Iterator[None]:
    """Turn spaCy's errors on a broken file into an InputError, and restart the garbage collector, which spaCy stops."""
    collecting = gc.isenabled()
    try:
        with library_errors("not a whole DocBin of spaCy", path, *_BROKEN):
            yield
    finally:
        if collecting:
            gc.enable()


def _document(doc: Doc, key: str, name: str, options: Options, report: Report) -> Document:
    group = doc.spans[key] if key in doc.spans and key != ENTS else None
    attributes = {} if group is None else group.attrs
    name = str(attributes.get(_NAME, name))
    blank = frozenset(attributes.get(_BLANK, ()))
    spans = tuple(_text_spans(doc.ents if key == ENTS else group or (), doc, name, report))
    offsets = [(token.idx, token.idx + len(token)) for token in doc if not token.text.isspace() or token.i in blank]
    words = check_words(doc.text, offsets, name, report)
    if doc.has_annotation("SENT_START"):
        segments = split_before(words, [token.idx for token in doc if token.is_sent_start])
    else:
        segments = group_words(words, doc.text, options)
    return Document(name, doc.text, spans, tuple(segments))


def _group(counts: Counter[str], path: str | Path, field: str | None, report: Report) -> str:
    """Return the group to read and note the others, or raise an InputError if it is unclear."""
    sizes = {key: f"{key} ({count:,} spans)" for key, count in counts.items() if count}
    names = ", ".join(sizes.values())
    if field is not None:
        if field not in counts:
            raise InputError(f"no group of spans is called {field!r}; {named('field')} is one of {names}", str(path))
        return field
    groups = [key for key in sizes if key != ENTS] or list(sizes)
    if len(groups) > 1 and GROUP not in groups:
        raise InputError(f"several groups have spans: {names}; say with {named('field')} which to read", str(path))
    group = GROUP if GROUP in groups or not groups else groups[0]
    others = [key for key in sizes if key != group]
    if others:
        report.lost += sum(counts[key] for key in others)
        ignored = ", ".join(sizes[key] for key in others)
        report.note(f"{path}: read from {sizes[group]}; ignored: {ignored}, which {named('field')} reads")
    return group


def _text_spans(spans: Iterable[Span], doc: Doc, name: str, report: Report) -> Iterator[TextSpan]:
    for span in spans:
        if not 0 <= span.start <= span.end <= len(doc) or not span.label_:
            raise ValueError(f"{name}: span {span.start} to {span.end} {span.label_!r} of {len(doc)} tokens")
        if span.start == span.end:
            report.lose("empty span dropped", name, f"token {span.start} {span.label_}")
        else:
            last = doc[span.end - 1]
            yield TextSpan(doc[span.start].idx, last.idx + len(last), span.label_)


def _doc(document: Document, vocabulary: Vocab, group: str) -> Doc:
    from spacy.tokens import Doc, Span, SpanGroup

    segments = [segment for segment in document.words or () if segment]
    pieces = pieces_of(document.text, [word for segment in segments for word in segment])
    starts = {0, *(segment[0][0] for segment in segments)}
    doc = Doc(
        vocabulary,
        words=[document.text[piece.start : piece.end] for piece in pieces],
        spaces=[piece.space for piece in pieces],
        sent_starts=[piece.start in starts for piece in pieces],
    )
    first = {piece.start: number for number, piece in enumerate(pieces)}
    last = {piece.end: number for number, piece in enumerate(pieces)}
    spans = [Span(doc, first[start], last[end] + 1, label=kind) for start, end, kind in document.spans]
    words = {word[0] for segment in segments for word in segment}
    blank = [token.i for token in doc if token.text.isspace() and token.idx in words]
    doc.spans[group] = SpanGroup(doc, name=group, attrs={_NAME: document.id, _BLANK: blank}, spans=spans)
    return doc


FORMAT = Format(
    "spacy", "spaCy's DocBin with a group of spans", (".spacy",), read, write, raw_text=True,
    remedy=Remedy("field", "names a group of spans, or ents"),
)  # fmt: skip
