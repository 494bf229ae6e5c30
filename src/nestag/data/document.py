"""Documents: a text and typed spans of its characters <-> sentences of tokens.

Formats of raw text read and write documents; everything else takes sentences. Offsets survive the way there and
back, because every sentence keeps its piece of the text. What cannot be exact is counted in the report.
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
from nestag.data.segment import Offsets, Options, Segment, segments
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.errors import DataError, InputError

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
    words: tuple[Segment, ...] | None = field(default=None, compare=False, repr=False)
    """The words of each sentence, where the source says them; else they are found in the text."""


def sentences_of(document: Document, options: Options, report: Report) -> Iterator[Sentence]:
    """The document as sentences, each with its origin; no sentence ends inside a span."""
    spans = _standing(document, report)
    found = words_of(document, options)
    if options.boundaries == "split":
        borders = sorted({place for span in spans for place in span[:2]})
        found = [_cut_at(segment, borders, document, report) for segment in found]
    found = _joined(found, spans, document, report) or [[]]
    words = [word for segment in found for word in segment]
    waiting = sorted(_entities(spans, words, options, document, report), reverse=True)
    starts = [0, *(segment[0][0] for segment in found[1:]), len(document.text)]
    first = 0
    for number, (segment, (start, end)) in enumerate(zip(found, pairwise(starts), strict=True), 1):
        last = first + len(segment)
        own: list[Entity] = []
        while waiting and waiting[-1].start < last:
            entity = waiting.pop()
            own.append(Entity(entity.start - first, entity.end - first, entity.type))
        origin = Origin(document.id, start, document.text[start:end], tuple(segment))
        yield Sentence([document.text[a:b] for a, b in segment], own, f"{document.id}-{number}", origin)
        first = last


def words_of(document: Document, options: Options) -> list[Segment]:
    """The words of each sentence of a document that has any: those it brings, or those found in its text."""
    return segments(document.text, options) if document.words is None else list(filter(None, document.words))


def sentences_at(
    document: Document, options: Options, report: Report, source: str, line: int | None = None
) -> Iterator[Sentence]:
    """The same for a document read from a file, whose place is named in errors."""
    try:
        yield from sentences_of(document, options, report)
    except DataError as error:
        raise InputError(str(error), source, line) from None


def documents_of(
    sentences: Iterable[Sentence], report: Report | None = None, keeps_words: bool = False
) -> Iterator[Document]:
    """The inverse: pieces of one document that touch are joined; tokens without a text, by spaces and line ends.

    A document keeps its name and the order of its sentences; other ids of sentences go into the report, and so do
    tokens of white space, unless the format `keeps_words` and not only the text.
    """
    report = Report() if report is None else report
    pieces: list[Sentence] = []
    for given in sentences:
        sentence = _consistent(given, report)
        if pieces and not follows(pieces[-1], sentence):
            yield _document(pieces, report, keeps_words)
            pieces = []
        pieces.append(sentence)
    if pieces:
        yield _document(pieces, report, keeps_words)


def document_of(sentence: Sentence) -> str:
    """The name of the document that a sentence is from: its origin's, or its id without the number at the end.

    >>> document_of(Sentence(["a"], id="MEDLINE:931-4")), document_of(Sentence(["a"], id="12"))
    ('MEDLINE:931', '')

    An `@2` after it says that a document of that name was there before.

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
    """Whether a sentence continues the document of the one before it."""
    if not before.origin or not sentence.origin:
        return not before.origin and not sentence.origin and document_of(before) == document_of(sentence)
    end = before.origin.start + len(before.origin.text)
    return before.origin.document == sentence.origin.document and 0 < sentence.origin.start == end


def text_of(sentence: Sentence) -> str:
    """A sentence's piece of its document's text, or its tokens with spaces between and a line end after."""
    return sentence.origin.text if sentence.origin else " ".join(sentence.tokens) + "\n"


def count_blank(sentence: Sentence, report: Report) -> None:
    """Report the tokens that whoever reads the text again will not find, because they are white space."""
    for token in filter(str.isspace, sentence.tokens):
        report.add("token of white space, which is no word in a text", sentence.id or "", repr(token))


def _standing(document: Document, report: Report) -> list[TextSpan]:
    """Each span once; one that covers nothing or is outside the text is a DataError."""
    for span, count in Counter(document.spans).items():
        if not 0 <= span.start < span.end <= len(document.text):
            raise DataError(
                f"document {document.id!r}: span {span.start} to {span.end} {span.type} is not inside the text of"
                f" {len(document.text)} characters; count characters from 0, the end exclusive"
            )
        for _ in range(count - 1):
            report.add("duplicate entity merged", document.id, _quote(span, document))
    return list(dict.fromkeys(document.spans))


def _cut_at(segment: Segment, borders: Sequence[int], document: Document, report: Report) -> Segment:
    """The words, cut wherever a span begins or ends inside one."""
    cut: Segment = []
    for start, end in segment:
        inside = borders[bisect_right(borders, start) : bisect_left(borders, end)]
        if inside:
            report.add("token cut at a span's border", document.id, repr(document.text[start:end]))
        pieces = pairwise([start, *inside, end])
        cut += [(a, b) for a, b in pieces if not inside or not document.text[a:b].isspace()]
    return cut


def _joined(found: list[Segment], spans: Sequence[TextSpan], document: Document, report: Report) -> list[Segment]:
    """The sentences, joined where a span goes from one into the next."""
    joined: list[Segment] = []
    reach = 0  # the furthest end of the spans that begin before the sentence at hand
    by_start = sorted(spans)
    next_span = 0
    for segment in found:
        if joined and reach > segment[0][0]:
            report.add("sentences joined because a span covers both", document.id, _around(segment[0][0], document))
            joined[-1] += segment
        else:
            joined.append(list(segment))
        while next_span < len(by_start) and by_start[next_span].start < segment[-1][1]:
            reach = max(reach, by_start[next_span].end)
            next_span += 1
    return joined


def _entities(
    spans: Iterable[TextSpan], words: Sequence[Offsets], options: Options, document: Document, report: Report
) -> Iterator[Entity]:
    """The spans in tokens, counted from the beginning of the document, each once."""
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
    """The tokens that a span touches; None if it covers white space alone."""
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
        report.add(
            "span widened to token borders", document.id, f"{_quote(span, document)} in {document.text[start:end]!r}"
        )
    elif (start, end) != span[:2]:
        report.add("white space trimmed from a span", document.id, _quote(span, document))
    return Entity(first, last, span.type)


def _consistent(sentence: Sentence, report: Report) -> Sentence:
    """The sentence; if the text it is said to stand in has other words, without that text, which the report says."""
    if not sentence.origin:
        return sentence
    document, first, text, offsets = sentence.origin
    for token, (start, end) in zip(sentence.tokens, offsets, strict=True):
        if text[start - first : end - first] != token:
            found = f"{text[start - first : end - first][:60]!r} where the token is {token[:60]!r}"
            report.add("text left out because it contradicts the tokens", sentence.id or document, found)
            return Sentence(sentence.tokens, sentence.annotated, sentence.id)
    return sentence


def _document(pieces: Sequence[Sentence], report: Report, keeps_words: bool) -> Document:
    """Touching pieces as one document; a document whose beginning is missing says where it starts."""
    at = 0
    texts: list[str] = []
    spans: list[TextSpan] = []
    words: list[Segment] = []
    for sentence in pieces:
        offsets = _offsets(sentence, at)
        spans += [TextSpan(offsets[e.start][0], offsets[e.end - 1][1], e.type) for e in sentence.entities]
        words.append(offsets)
        texts.append(text_of(sentence))
        at += len(texts[-1])
    origin = pieces[0].origin
    name = document_of(pieces[0])
    name = f"{name}@{origin.start}" if origin and origin.start else name
    for number, sentence in enumerate(pieces, 1):
        if sentence.id is not None and sentence.id != f"{name}-{number}":
            report.add("sentence id left out", name, sentence.id)
        if not keeps_words:
            count_blank(sentence, report)
    return Document(name, "".join(texts), tuple(spans), tuple(words))


def _offsets(sentence: Sentence, at: int) -> Segment:
    """Where the tokens of a sentence stand in a text in which its piece begins at `at`."""
    if sentence.origin:
        shift = at - sentence.origin.start
        return [(start + shift, end + shift) for start, end in sentence.origin.offsets]
    return joined_offsets(sentence.tokens, at)


def joined_offsets(tokens: Iterable[str], at: int = 0) -> Segment:
    """Where tokens are in a text in which single spaces join them.

    >>> joined_offsets(["the", "USA"])
    [(0, 3), (4, 7)]
    """
    offsets: Segment = []
    for token in tokens:
        offsets.append((at, at + len(token)))
        at += len(token) + 1
    return offsets


def _quote(span: TextSpan, document: Document) -> str:
    return f"{span.start} to {span.end} {span.type} {document.text[span.start : span.end][:60]!r}"


def _around(place: int, document: Document) -> str:
    return f"at character {place}: {document.text[max(0, place - 20) : place + 20]!r}"
