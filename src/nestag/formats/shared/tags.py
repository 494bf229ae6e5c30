r"""What formats of tokens share: B-TYPE tags in any of the usual schemes, escaped words, and what cannot be written.

A word or type with a character that a format needs as a mark, a tab or a line end is written `\uXXXX`, and so is a
backslash before what looks like such an escape. Every other backslash is itself, as in files without escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError

_BREAKS = "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\ufeff"
"""What ends a line or a column for some program, and the mark that may open a file."""
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
MOST_LEVELS = 100
"""Entities over one token beyond which a format that repeats each on all its tokens refuses a sentence."""


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


def refuse_deep(spans: Iterable[tuple[int, int, str]], place: str) -> None:
    """Raise an InputError if more spans lie over one place than a format with a column for each can hold."""
    ends: list[int] = []  # of the spans over the place reached
    for start, end in sorted((start, end) for start, end, _ in spans):
        while ends and ends[0] <= start:
            heappop(ends)
        heappush(ends, end)
        if len(ends) > MOST_LEVELS:
            raise InputError(
                f"more than {MOST_LEVELS:,} entities lie over one token, too many for this format; choose another, such"
                " as jsonl or brackets", place
            )  # fmt: skip


JOINT = "|"
"""What stands between tags of one cell; types have it escaped."""
PHRASES = {"ADJP", "ADVP", "CONJP", "INTJ", "LST", "NP", "PP", "PRT", "SBAR", "UCP", "VP"}
"""Types of phrases, which many files have in a column beside entities."""
_TAG = re.compile(r"(O)|([BIMESWLU])-(.+)", re.DOTALL)
_SAME = {"M": "I", "W": "S"}  # what BMES and BMEWO call them
_REPAIRED = "tag repaired to begin an entity"


class Tag(NamedTuple):
    """A tag's letter and type; O has none."""

    mark: str
    type: str


OUTSIDE = Tag("O", "")


@lru_cache(maxsize=10_000)
def parsed(text: str) -> tuple[Tag, ...] | None:
    """The tags of a cell, one or several joined; None if it is something else.

    >>> parsed("B-PER|U-GPE"), parsed("NNP")
    ((Tag(mark='B', type='PER'), Tag(mark='U', type='GPE')), None)
    """
    whole = _parsed(text)
    if JOINT not in text:
        return whole and (whole,)
    tags = [_parsed(part) for part in text.split(JOINT)]
    joined = tuple(tag for tag in tags if tag)
    return joined if len(joined) == len(tags) else whole and (whole,)


def _parsed(text: str) -> Tag | None:
    match = _TAG.fullmatch(text)
    if not match:
        return None
    return OUTSIDE if match[1] else Tag(_SAME.get(match[2], match[2]), read_word(match[3], JOINT))


def entities_of(tags: Sequence[Tag], iob1: bool, place: Callable[[int], str], report: Report) -> Iterator[Entity]:
    """The entities of one level; one begun without its first tag is reported."""
    opened: Entity | None = None
    for position, (mark, kind) in enumerate(tags):
        if opened and (mark in "OBSU" or kind != opened.type):
            yield opened
            opened = None
        if mark == "O":
            continue
        if not opened and mark in "IEL" and not (iob1 and mark == "I"):
            report.add(_REPAIRED, place(position), f"{mark}-{kind}")
        opened = Entity(opened.start if opened else position, position + 1, kind)
        if mark in "ESLU":
            yield opened
            opened = None
    if opened:
        yield opened


def joined_entities(tags: Sequence[Sequence[Tag]], place: Callable[[int], str], report: Report) -> Iterator[Entity]:
    """The entities of cells with several tags, where an entity may change its level from one token to the next.

    A tag goes on with the entity of its type on its own level, or else with the one begun last.
    """
    opened: dict[str, dict[int, int]] = {}  # where the entities of each type began, by their levels
    for position, cell in enumerate(tags):
        waiting, opened = opened, {}
        for level, (mark, kind) in enumerate(cell):
            if mark == "O":
                continue
            before = waiting.get(kind) if mark in "IEL" else None
            if before:
                start = before.pop(level) if level in before else before.popitem()[1]
            else:
                start = position
                if mark in "IEL":
                    report.add(_REPAIRED, place(position), f"{mark}-{kind}")
            if mark in "ESLU":
                yield Entity(start, position + 1, kind)
            else:
                opened.setdefault(kind, {})[level] = start
        yield from _closed(waiting, position)
    yield from _closed(opened, len(tags))


def _closed(opened: dict[str, dict[int, int]], end: int) -> Iterator[Entity]:
    return (Entity(start, end, kind) for kind, starts in opened.items() for start in starts.values())
