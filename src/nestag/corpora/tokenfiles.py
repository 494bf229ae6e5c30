r"""What formats of tokens share: words without the characters that a format needs as marks, and what they cannot hold.

What would be misread is written `\uXXXX`: tabs and line ends, the marks of the format, and a backslash before what
looks like such an escape. Every other backslash is itself, as in files that know of no escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TextIO

from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.errors import InputError

_BREAKS = "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\ufeff"
"""What ends a line or a column for some program, and the mark that may open a file."""
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def write_word(text: str, marks: str = "") -> str:
    r"""A token or type without line ends, tabs and the characters that the format needs as marks.

    >>> print(write_word("New York", " "), write_word(r"1\/2"), write_word(r"\u0020"))
    New\u0020York 1\/2 \u005cu0020
    """
    return _misread(marks).sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def read_word(text: str, marks: str = "") -> str:
    """The inverse of `write_word`; an escape that it never writes is ordinary text."""
    if "\\u" not in text:
        return text
    escaped = "\\" + _BREAKS + marks
    return _ESCAPE.sub(lambda match: char if (char := chr(int(match[1], 16))) in escaped else match[0], text)


@cache
def _misread(marks: str) -> re.Pattern[str]:
    return re.compile(rf"[{re.escape(_BREAKS + marks)}]|\\(?=u[0-9a-f]{{4}})")


class HeldSentence(NamedTuple):
    """A sentence to write, and what to call it when it cannot be written."""

    place: str
    sentence: Sentence


def holdable(
    sentences: Iterable[Sentence], path: str | Path, report: Report | None, ids: bool = False
) -> Iterator[HeldSentence]:
    """The sentences that a format of tokens can hold; what it leaves out goes into the report."""
    report = Report() if report is None else report
    for number, sentence in enumerate(sentences, 1):
        place = f"{path}: sentence {number}"
        if sentence.origin:
            report.add("place in a text left out", place, sentence.origin.document)
        if not sentence.tokens:
            report.add("sentence without tokens left out", place, repr(sentence.id))
            continue
        if sentence.id is not None and not ids:
            report.add("sentence id left out", place, sentence.id)
        yield HeldSentence(place, sentence)


def put(text: str, stream: TextIO, place: str) -> None:
    """Write to a stream; half of a character, which no UTF-8 file can hold, is an InputError."""
    try:
        stream.write(text)
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 20) : error.end + 20]
        raise InputError(
            f"{around!r} holds half of a character (a lone surrogate); write the whole one", place
        ) from None
