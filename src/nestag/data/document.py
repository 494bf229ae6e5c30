"""Documents: a text and typed spans of its characters <-> sentences of tokens.

Formats of raw text read and write documents; everything else takes sentences. Offsets survive the way there and
back, because every sentence keeps its piece of the text. The report counts what cannot be exact.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.segment import Offsets, Options, Segment
from nestag.data.segment import segments as segments_of
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.errors import DataError

_NUMBERED = re.compile(r"(.*?)[-_:./]?\d+(@\d+)?", re.DOTALL)


class TextSpan(NamedTuple):
    """A typed span of characters, half-open."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Document:
    """A text and the entities in it."""

    id: str
    text: str
    spans: tuple[TextSpan, ...] = ()
    words: tuple[Segment, ...] | None = field(default=None, compare=False, repr=False)  # of each sentence, if known


def sentences_of(document: Document, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a document, each with its origin; no sentence ends inside a span."""
    spans = _check_spans(document, report)
    segments = words_of(document, options)
    if options.boundaries == "split":
        borders = sorted({place for span in spans for place in span[:2]})
        segments = [_split_words(segment, borders, document, report) for segment in segments]
    segments = _join(segments, spans, document, report) or [[]]
    words = [word for segment in segments for word in segment]
    pending = sorted(_entities(spans, words, options, document, report), reverse=True)
    starts = [0, *(segment[0][0] for segment in segments[1:]), len(document.text)]
    first = 0
    for number, (segment, (start, end)) in enumerate(zip(segments, pairwise(starts), strict=True), 1):
        last = first + len(segment)
        entities: list[Entity] = []
        while pending and pending[-1].start < last:
            entity = pending.pop()
            entities.append(Entity(entity.start - first, entity.end - first, entity.type))
        origin = Origin(document.id, start, document.text[start:end], tuple(segment))
        yield Sentence([document.text[a:b] for a, b in segment], entities, f"{document.id}-{number}", origin)
        first = last


def words_of(document: Document, options: Options) -> list[Segment]:
    """Return the words of each sentence: those that the document brings, or those found in its text."""
    return segments_of(document.text, options) if document.words is None else list(filter(None, document.words))


def documents_of(
    sentences: Iterable[Sentence], report: Report | None = None, keeps_words: bool = False
) -> Iterator[Document]:
    """Yield the documents of sentences: adjacent pieces of one text are joined, tokens without a text by spaces.

    A document keeps its name and the order of its sentences. Other ids of sentences go into the report, as do tokens
    of white space, unless the format `keeps_words` and not only the text.
    """
    report = Report() if report is None else report
    pieces: list[Sentence] = []
    for sentence in sentences:
        sentence = _check_text(sentence, report)
        if pieces and not follows(pieces[-1], sentence):
            yield _document(pieces, report, keeps_words)
            pieces = []
        pieces.append(sentence)
    if pieces:
        yield _document(pieces, report, keeps_words)


def document_of(sentence: Sentence) -> str:
    """Return the name of a sentence's document: its origin's, or its id without the number at the end.

    >>> document_of(Sentence(["a"], id="MEDLINE:931-4")), document_of(Sentence(["a"], id="12"))
    ('MEDLINE:931', '')

    An `@2` marks the second document of that name.

    >>> document_of(Sentence(["a"], id="MEDLINE:931-4@2"))
    'MEDLINE:931@2'
    """
    if sentence.origin:
        return sentence.origin.document
    match = _NUMBERED.fullmatch(sentence.id or "")
    if not match:
        return sentence.id or ""
    return match[1] and match[1] + (match[2] or "")


def follows(before: Sentence, sentence: Sentence) -> bool:
    """Return whether a sentence continues the document of the one before it."""
    if not before.origin or not sentence.origin:
        return not before.origin and not sentence.origin and document_of(before) == document_of(sentence)
    end = before.origin.start + len(before.origin.text)
    return before.origin.document == sentence.origin.document and 0 < sentence.origin.start == end


def text_of(sentence: Sentence) -> str:
    """Return a sentence's piece of its document's text, or its tokens joined by spaces and a line end."""
    return sentence.origin.text if sentence.origin else " ".join(sentence.tokens) + "\n"


def count_blank(sentence: Sentence, report: Report) -> None:
    """Report the tokens of white space, which are lost when the text is read again."""
    for token in filter(str.isspace, sentence.tokens):
        report.add("token of white space, which is not a word in a text", sentence.id or "", repr(token))


def span_in(text: str, start: int, end: int, kind: str) -> TextSpan:
    """Return a span, or raise a DataError if it is empty or outside the text."""
    if not 0 <= start < end <= len(text):
        raise DataError(
            f"{start} to {end} is not inside the text of {len(text)} characters; count from 0, the end exclusive"
        )
    return TextSpan(start, end, kind)


def same_text(text: str, other: str) -> bool:
    """Say whether two texts are equal up to white space."""
    return "".join(text.split()) == "".join(other.split())


class Utf16:
    """Offsets in characters <-> offsets in UTF-16 units, which JavaScript and Java count.

    A character beyond U+FFFF, such as an emoji, is two units.

    >>> units = Utf16("😀 Bob")
    >>> units.from_units(3), units.to_units(2), units.differs
    (2, 3, True)
    """

    def __init__(self, text: str) -> None:
        wide = [] if text.isascii() else [place for place, character in enumerate(text) if character > "\uffff"]
        self.differs = bool(wide)
        self._characters = wide  # the places of the characters of two units
        self._units = [place + before for before, place in enumerate(wide)]

    def to_units(self, place: int) -> int:
        """Convert an offset from characters."""
        return place + bisect_left(self._characters, place)

    def from_units(self, place: int) -> int:
        """Convert an offset from units, or raise a DataError if it is inside a character."""
        before = bisect_left(self._units, place)
        if before and self._units[before - 1] + 1 == place:
            raise DataError(f"offset {place} is inside a character; count UTF-16 units, not characters or bytes")
        return place - before


def _check_spans(document: Document, report: Report) -> list[TextSpan]:
    """Return each span once, or raise a DataError if one is empty or outside the text."""
    for span, count in Counter(document.spans).items():
        if not 0 <= span.start < span.end <= len(document.text):
            raise DataError(
                f"document {document.id!r}: span {span.start} to {span.end} {span.type} is not inside the text of"
                f" {len(document.text)} characters; count characters from 0, the end exclusive"
            )
        for _ in range(count - 1):
            report.add("duplicate entity merged", document.id, _quote(span, document))
    return list(dict.fromkeys(document.spans))


def _split_words(segment: Segment, borders: Sequence[int], document: Document, report: Report) -> Segment:
    """Split the words wherever a span begins or ends inside one."""
    words: Segment = []
    for start, end in segment:
        inside = borders[bisect_right(borders, start) : bisect_left(borders, end)]
        if inside:
            report.add("token cut at a span's border", document.id, repr(document.text[start:end]))
        pieces = pairwise([start, *inside, end])
        words += [(a, b) for a, b in pieces if not inside or not document.text[a:b].isspace()]
    return words


def _join(segments: list[Segment], spans: Sequence[TextSpan], document: Document, report: Report) -> list[Segment]:
    """Join the sentences that a span connects."""
    joined: list[Segment] = []
    reach = 0  # the furthest end of the spans that begin before the current sentence
    pending = sorted(spans, reverse=True)
    for segment in segments:
        start = segment[0][0]
        if joined and reach > start:
            around = f"at character {start}: {document.text[max(0, start - 20) : start + 20]!r}"
            report.add("sentences joined because a span covers both", document.id, around)
            joined[-1] += segment
        else:
            joined.append(list(segment))
        while pending and pending[-1].start < segment[-1][1]:
            reach = max(reach, pending.pop().end)
    return joined


def _entities(
    spans: Iterable[TextSpan], words: Sequence[Offsets], options: Options, document: Document, report: Report
) -> Iterator[Entity]:
    """Yield the spans in tokens, counted from the beginning of the document, each once."""
    seen: set[Entity] = set()
    for span in spans:
        entity = _on_tokens(span, words, options, document, report)
        if entity in seen:
            report.add("duplicate entity merged", document.id, f"{_quote(span, document)} on the tokens of another")
        elif entity:
            seen.add(entity)
            yield entity


def _on_tokens(
    span: TextSpan, words: Sequence[Offsets], options: Options, document: Document, report: Report
) -> Entity | None:
    """Return the tokens that a span touches, or None if there are none."""
    first = bisect_right(words, span.start, key=lambda word: word[1])
    last = bisect_left(words, span.end, key=lambda word: word[0])
    if first >= last:
        blank = document.text[span.start : span.end].isspace()
        kind = "span of white space dropped" if blank else "span without a token dropped"
        report.add(kind, document.id, _quote(span, document))
        return None
    start, end = words[first][0], words[last - 1][1]
    if start < span.start or end > span.end:
        if options.boundaries == "refuse":
            raise DataError(
                f"document {document.id!r}: span {_quote(span, document)} begins or ends inside the token"
                f" {document.text[start:end]!r}; correct it, or widen spans or split tokens"
            )
        tokens = f"{_quote(span, document)} in {document.text[start:end]!r}"
        report.add("span widened to token borders", document.id, tokens)
    elif (start, end) != span[:2]:
        report.add("white space trimmed from a span", document.id, _quote(span, document))
    return Entity(first, last, span.type)


def _check_text(sentence: Sentence, report: Report) -> Sentence:
    """Return the sentence, without its origin if the text there has other words; the report says so."""
    if not sentence.origin:
        return sentence
    document, first, text, offsets = sentence.origin
    for token, (start, end) in zip(sentence.tokens, offsets, strict=True):
        if text[start - first : end - first] != token:
            words = f"{text[start - first : end - first][:60]!r} where the token is {token[:60]!r}"
            report.add("text dropped because it contradicts the tokens", sentence.id or document, words)
            return Sentence(sentence.tokens, sentence.annotated, sentence.id)
    return sentence


def _document(pieces: Sequence[Sentence], report: Report, keeps_words: bool) -> Document:
    """Join pieces to one document; the name of a document without its beginning says where it starts."""
    at = 0
    texts: list[str] = []
    spans: list[TextSpan] = []
    words: list[Segment] = []
    for sentence in pieces:
        origin = sentence.origin
        if origin:
            offsets = [(start + at - origin.start, end + at - origin.start) for start, end in origin.offsets]
        else:
            offsets = join_offsets(sentence.tokens, at)
        spans += [TextSpan(offsets[e.start][0], offsets[e.end - 1][1], e.type) for e in sentence.entities]
        words.append(offsets)
        texts.append(text_of(sentence))
        at += len(texts[-1])
    name = document_of(pieces[0])
    if pieces[0].origin and pieces[0].origin.start:
        name += f"@{pieces[0].origin.start}"
    for number, sentence in enumerate(pieces, 1):
        if sentence.id is not None and sentence.id != f"{name}-{number}":
            report.add("sentence id dropped", name, sentence.id)
        if not keeps_words:
            count_blank(sentence, report)
    return Document(name, "".join(texts), tuple(spans), tuple(words))


def join_offsets(tokens: Iterable[str], at: int = 0) -> Segment:
    """Return the offsets of tokens in a text in which single spaces join them.

    >>> join_offsets(["the", "USA"])
    [(0, 3), (4, 7)]
    """
    offsets: Segment = []
    for token in tokens:
        offsets.append((at, at + len(token)))
        at += len(token) + 1
    return offsets


def _quote(span: TextSpan, document: Document) -> str:
    return f"{span.start} to {span.end} {span.type} {document.text[span.start : span.end][:60]!r}"
