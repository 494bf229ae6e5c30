"""Raw text -> words and sentences, as character offsets. White space is never a word.

spaCy's tokenizer and sentence rules do the work (the extra `text`); a blank line ends a sentence as well. The
alternative needs nothing: words are what white space parts, and sentences are lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from nestag.corpora.format import Options
from nestag.errors import UnknownNameError

if TYPE_CHECKING:
    from spacy.language import Language

Offsets = tuple[int, int]
Segment = list[Offsets]
"""The words of one sentence, each with its start and end in the text."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")


def segments(text: str, options: Options) -> list[Segment]:
    r"""The sentences of a text that have words.

    >>> segments("Lincoln slept .\nHe woke .", Options(tokenizer="whitespace"))
    [[(0, 7), (8, 13), (14, 15)], [(16, 18), (19, 23), (24, 25)]]
    """
    by: Callable[[str], Iterator[Segment]] = (
        _by_lines if options.tokenizer == "whitespace" else _by_spacy(options.language)
    )
    return [segment for segment in by(text) if segment]


def _by_lines(text: str) -> Iterator[Segment]:
    for line in _LINE.finditer(text):
        yield [(word.start() + line.start(), word.end() + line.start()) for word in _WORD.finditer(line[0])]


def _by_spacy(language: str) -> Callable[[str], Iterator[Segment]]:
    pipeline = _pipeline(language)

    def cut(text: str) -> Iterator[Segment]:
        segment: Segment = []
        for token in pipeline(text):
            if segment and (token.is_sent_start or (token.is_space and _BLANK_LINE.search(token.text))):
                yield segment
                segment = []
            if not token.is_space:
                segment.append((token.idx, token.idx + len(token)))
        yield segment

    return cut


@lru_cache(maxsize=4)
def _pipeline(language: str) -> Language:
    """A blank pipeline of the language that ends sentences by punctuation."""
    try:
        import spacy
    except ImportError:
        raise UnknownNameError(
            "raw text needs spaCy's tokenizer, which is not installed; pip install 'nestag[text]',"
            " or choose the tokenizer 'whitespace'"
        ) from None
    try:
        pipeline = spacy.blank(language)
    except ImportError as error:
        raise UnknownNameError(f"spaCy cannot tokenize {language!r} ({' '.join(str(error).split())})") from None
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 10**9  # the limit is for parsers; tokenizing needs little memory
    return pipeline
