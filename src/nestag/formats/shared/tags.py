r"""Shared by formats of tokens: B-TYPE tags in all common schemes, escaped words, and limits of a format.

A character of a word or type that a format needs as a mark, a tab or a line end is written `\uXXXX`, and so is a
backslash before what looks like such an escape. Every other backslash is itself, as in files without escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.encodings.notation import BREAKS
from nestag.errors import InputError

JOINT = "|"  # between the tags of one cell
PHRASES = {"ADJP", "ADVP", "CONJP", "INTJ", "LST", "NP", "PP", "PRT", "SBAR", "UCP", "VP"}
"""Types of phrases, which many files have in a column next to entities."""
MOST_LEVELS = 100  # the largest number of entities over one token in formats that repeat each token for each entity
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
_TAG = re.compile(r"(O)|([BIMESWLU])-(.+)", re.DOTALL)
_SAME = {"M": "I", "W": "S"}  # marks of BMES and BMEWO


def write_word(text: str, marks: str = "") -> str:
    r"""Escape line ends, tabs and the characters that the format needs as marks.

    >>> print(write_word("New York", " "), write_word(r"1\/2"), write_word(r"\u0020"))
    New\u0020York 1\/2 \u005cu0020
    """
    return _misread(marks).sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def read_word(text: str, marks: str = "") -> str:
    """Invert `write_word`; an escape that it never writes is ordinary text."""
    if "\\u" not in text:
        return text
    escaped = "\\" + BREAKS + marks
    return _ESCAPE.sub(lambda match: char if (char := chr(int(match[1], 16))) in escaped else match[0], text)


@cache
def _misread(marks: str) -> re.Pattern[str]:
    return re.compile(rf"[{re.escape(BREAKS + marks)}]|\\(?=u[0-9a-f]{{4}})")


def writable(
    sentences: Iterable[Sentence], path: str | Path, report: Report, ids: bool = False
) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences that have tokens and their places for messages, and report what the format cannot hold."""
    for number, sentence in enumerate(sentences, 1):
        place = f"{path}: sentence {number}"
        if sentence.origin:
            report.add("place in a text dropped", place, sentence.origin.document)
        if not sentence.tokens:
            report.add("sentence without tokens dropped", place, repr(sentence.id))
            continue
        if sentence.id is not None and not ids:
            report.add("sentence id dropped", place, sentence.id)
        yield place, sentence


def refuse_deep(spans: Iterable[tuple[int, int, str]], place: str) -> None:
    """Raise an InputError if too many spans overlap in one place."""
    ends: list[int] = []  # of the spans that cover the current place
    for start, end in sorted((start, end) for start, end, _ in spans):
        while ends and ends[0] <= start:
            heappop(ends)
        heappush(ends, end)
        if len(ends) > MOST_LEVELS:
            raise InputError(
                f"more than {MOST_LEVELS:,} entities lie over one token, too many for this format; choose another, such"
                " as jsonl or brackets", place
            )  # fmt: skip


class Tag(NamedTuple):
    """The letter and type of a tag; O has no type."""

    mark: str
    type: str


OUTSIDE = Tag("O", "")


@lru_cache(maxsize=10_000)
def parse_tags(text: str) -> tuple[Tag, ...] | None:
    """Return the tags of a cell, one or several joined, or None if it is something else.

    >>> parse_tags("B-PER|U-GPE"), parse_tags("NNP")
    ((Tag(mark='B', type='PER'), Tag(mark='U', type='GPE')), None)
    """
    whole = _parse_tag(text)
    tags = [tag for part in text.split(JOINT) if (tag := _parse_tag(part))]
    if JOINT in text and len(tags) > text.count(JOINT):
        return tuple(tags)
    return whole and (whole,)


def _parse_tag(text: str) -> Tag | None:
    match = _TAG.fullmatch(text)
    if not match:
        return None
    return OUTSIDE if match[1] else Tag(_SAME.get(match[2], match[2]), read_word(match[3], JOINT))


def entities_of(
    cells: Iterable[Iterable[Tag]], place: Callable[[int], str], report: Report, iob1: bool = False
) -> Iterator[Entity]:
    """Yield the entities of a column, and report those that lack their first tag.

    A cell has a tag for each level, and an entity may change its level from token to token. A tag continues the entity
    of its type on its own level, or else the one begun last.
    """
    opened: dict[str, dict[int, int]] = {}  # where the entities of each type began, by level
    position = -1
    for position, cell in enumerate(cells):
        previous, opened = opened, {}
        complete = []
        for level, (mark, kind) in enumerate(cell):
            if mark == "O":
                continue
            starts = previous.get(kind) if mark in "IEL" else None
            if starts:
                start = starts.pop(level) if level in starts else starts.popitem()[1]
            else:
                start = position
                if mark in "EL" or (mark == "I" and not iob1):
                    report.add("tag repaired to begin an entity", place(position), f"{mark}-{kind}")
            if mark in "ESLU":
                complete.append(Entity(start, position + 1, kind))
            else:
                opened.setdefault(kind, {})[level] = start
        yield from _close(previous, position)
        yield from complete
    yield from _close(opened, position + 1)


def _close(opened: dict[str, dict[int, int]], end: int) -> Iterator[Entity]:
    return (Entity(start, end, kind) for kind, starts in opened.items() for start in starts.values())
