"""Raw text -> words and sentences, as character offsets. White space is not a word unless the source says so.

spaCy's tokenizer and sentence rules do the work (the extra `text`); a blank line ends a sentence too. The tokenizer
"whitespace" needs no library: it splits words at white space and sentences at line ends. If a source brings its own
words, only the sentences are found here. A byte order mark at the beginning stays in the text and in no word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import refuse_half_characters
from nestag.errors import MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Boundaries = Literal["widen", "split", "refuse"]
"""Spans that begin or end inside a token: take the whole token, split the token there, or stop with an error."""

TokenizerName = Literal["spacy", "whitespace"]
"""How raw text becomes words and sentences: by spaCy's rules, or by white space and line ends."""


@dataclass(frozen=True)
class Options:
    """Options for reading a corpus, where its format leaves a choice."""

    tokenizer: TokenizerName = "spacy"  # of raw text
    language: str = "en"  # a language code of spaCy's; "xx" is any
    boundaries: Boundaries = "widen"  # of spans that do not end on token borders
    field: str | None = None  # the layer, span group or annotation type to read, if there are several
    columns: tuple[int, ...] | None = None  # of tokens, then of tags, counted from 1, or from the end with a minus
    skip_bad: bool = False  # drop records that cannot be read, instead of stopping at the first


DEFAULT = Options()

Offsets = tuple[int, int]
Segment = list[Offsets]
"""The words of one sentence, each with its start and end in the text."""

BYTE_ORDER_MARK = "\ufeff"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\u2029")
_WORD = re.compile(r"\S+")
_ENDLESS = re.compile(r"(?:[^\w\s]|_){64,}|\S{1000,}")
_PIECE = re.compile(r"\S{0,63}(?:[^\w\s]|_)")
"""The pieces of an endless word: spaCy's tokenizer takes time quadratic in the length of a word."""
_ONE_AT_A_TIME = Lock()  # a pipeline stores words while it works, and uses one core anyway
MOST_REMEMBERED = 500_000  # different words after which a new pipeline is made, since spaCy keeps all of them


class Piece(NamedTuple):
    """A word, or the white space between two, and whether one space follows it, as in spaCy's `Doc`."""

    start: int
    end: int
    space: bool


def segments(text: str, options: Options) -> list[Segment]:
    r"""Return the words of each sentence of a text.

    >>> segments("Lincoln slept .\nHe woke .", Options(tokenizer="whitespace"))
    [[(0, 7), (8, 13), (14, 15)], [(16, 18), (19, 23), (24, 25)]]
    """
    if text.startswith(BYTE_ORDER_MARK):
        return [[(start + 1, end + 1) for start, end in segment] for segment in segments(text[1:], options)]
    if options.tokenizer == "whitespace":
        return group_words([word.span() for word in _WORD.finditer(text)], text, options)
    return _by_rules(text, None, options.language)


def check_cutting(options: Options) -> None:
    """Refuse a language that spaCy does not support; not checked if spaCy is not installed."""
    if options.tokenizer == "spacy" and options.language != DEFAULT.language:  # spaCy takes long to import
        with suppress(MissingExtraError):
            _pipeline(options.language)


def group_words(words: Sequence[Offsets], text: str, options: Options) -> list[Segment]:
    r"""Group the words that a source brings into the sentences of the text.

    >>> group_words([(0, 3), (4, 8)], "New\nYork", Options(tokenizer="whitespace"))
    [[(0, 3)], [(4, 8)]]
    """
    if options.tokenizer == "whitespace":
        if "\n" not in text:
            return [list(words)] if words else []
        return split_before(words, [b[0] for a, b in pairwise(words) if "\n" in text[a[1] : b[0]]])
    return _by_rules(text, words, options.language)


def split_before(words: Sequence[Offsets], starts: Iterable[int]) -> list[Segment]:
    """Group words into sentences that begin at the given places of the text.

    >>> split_before([(0, 2), (3, 5), (6, 8)], [0, 3])
    [[(0, 2)], [(3, 5), (6, 8)]]
    """
    cuts = {bisect_left(words, (start, 0)) for start in starts}
    return [list(words[a:b]) for a, b in pairwise(sorted(cuts | {0, len(words)}))]


def check_words(text: str, offsets: Iterable[Offsets], place: str, report: Report) -> list[Offsets]:
    """Return the words that a source brings in order, without overlaps, and with the text that it has no words for."""
    words: list[Offsets] = []
    at = 0
    for start, end in sorted(offsets):
        if not at <= start < end <= len(text):
            report.add("token dropped because it is empty, overlaps another or is outside", place, f"{start} to {end}")
        else:
            words += [*_missing(text, at, start, place, report), (start, end)]
            at = end
    return words + _missing(text, at, len(text), place, report)


def pieces_of(text: str, words: Sequence[Offsets]) -> list[Piece]:
    r"""Return words and the white space between them; a single space belongs to the piece before it.

    >>> [text[a:b] for text in ["a \nb"] for a, b, _ in pieces_of(text, [(0, 1), (3, 4)])]
    ['a', '\n', 'b']
    """
    pieces: list[Piece] = []
    for (_, before), (start, end) in pairwise([(0, 0), *words, (len(text), len(text))]):
        gap = before
        if pieces and text.startswith(" ", gap, start):
            pieces[-1] = pieces[-1]._replace(space=True)
            gap += 1
        if gap < start:
            pieces.append(Piece(gap, start, space=False))
        if start < end:
            pieces.append(Piece(start, end, space=False))
    return pieces


def _missing(text: str, start: int, end: int, place: str, report: Report) -> list[Offsets]:
    """Return the text between two words as words, without white space."""
    words = [word.span() for word in _WORD.finditer(text, start, end) if word[0] != BYTE_ORDER_MARK]
    for a, b in words:
        report.add("text without a token made a token", place, repr(text[a:b]))
    return words


def _by_rules(text: str, words: Sequence[Offsets] | None, language: str) -> list[Segment]:
    """Split into sentences by spaCy's rules, over its own words or other ones."""
    refuse_half_characters(text)
    with _ONE_AT_A_TIME:
        pipeline = _pipeline(language)
        words = _words_in_parts(text, pipeline) if words is None and _ENDLESS.search(text) else words
        document = pipeline.make_doc(text) if words is None else _document(text, words, pipeline)
        for _, component in pipeline.pipeline:
            document = component(document)
        sentences = [segment for segment in _sentences(document) if segment]
        if words is not None:  # words of white space go with the sentence before them
            starts = [segment[0][0] for segment in sentences]
            sentences = [segment for segment in split_before(words, starts) if segment]
        if len(pipeline.vocab.strings) > MOST_REMEMBERED:
            _pipeline.cache_clear()
        return sentences


def _words_in_parts(text: str, pipeline: Language) -> list[Offsets]:
    """Return the words of a text with extremely long words, which are split at punctuation."""
    pieces = (piece for word in _ENDLESS.finditer(text) for piece in _PIECE.finditer(text, *word.span()))
    cuts = [0, *(piece.end() for piece in pieces), len(text)]
    return [
        (start + token.idx, start + token.idx + len(token))
        for start, end in pairwise(cuts)
        for token in pipeline.make_doc(text[start:end])
        if not token.is_space
    ]


def _document(text: str, words: Sequence[Offsets], pipeline: Language) -> Doc:
    from spacy.tokens import Doc

    pieces = pieces_of(text, words)
    return Doc(pipeline.vocab, [text[a:b] for a, b, _ in pieces], [piece.space for piece in pieces])


def _sentences(document: Doc) -> Iterator[Segment]:
    segment: Segment = []
    for token in document:
        if segment and (token.is_sent_start or (token.is_space and _BLANK_LINE.search(token.text))):
            yield segment
            segment = []
        if not token.is_space:
            segment.append((token.idx, token.idx + len(token)))
    yield segment


@lru_cache(maxsize=4)
def _pipeline(language: str) -> Language:
    """Return a blank pipeline of the language that ends sentences at punctuation."""
    try:
        import spacy
    except ImportError:
        raise MissingExtraError(
            "raw text needs spaCy's tokenizer", "text", ", or choose the tokenizer 'whitespace'"
        ) from None
    try:
        pipeline = spacy.blank(language if language.isalpha() else "")  # it imports the module of that name
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"spaCy cannot tokenize {language!r} ({' '.join(str(error).split())})") from None
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 10**9  # the limit is for parsers; tokenizing needs little memory
    return pipeline
