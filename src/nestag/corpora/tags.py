"""Tags of tokens, B-TYPE, I-TYPE and so on, in any of the usual schemes -> entities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from nestag.corpora.report import Report
from nestag.corpora.tokenfiles import read_word
from nestag.data import Entity

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


class _OpenEntity(NamedTuple):
    level: int
    start: int
    type: str


def joined_entities(tags: Sequence[Sequence[Tag]], place: Callable[[int], str], report: Report) -> Iterator[Entity]:
    """The entities of cells with several tags, where an entity may change its level from one token to the next.

    A tag goes on with the entity of its type on its own level, or else with the one begun last.
    """
    opened: list[_OpenEntity] = []
    for position, cell in enumerate(tags):
        waiting, opened = opened, []
        for level, (mark, kind) in enumerate(cell):
            if mark == "O":
                continue
            before = None if mark in "BSU" else _continued(waiting, level, kind)
            if before:
                waiting.remove(before)
            elif mark in "IEL":
                report.add(_REPAIRED, place(position), f"{mark}-{kind}")
            start = before.start if before else position
            if mark in "ESLU":
                yield Entity(start, position + 1, kind)
            else:
                opened.append(_OpenEntity(level, start, kind))
        yield from (Entity(start, position, kind) for _, start, kind in waiting)
    yield from (Entity(start, len(tags), kind) for _, start, kind in opened)


def _continued(waiting: Sequence[_OpenEntity], level: int, kind: str) -> _OpenEntity | None:
    same = [entity for entity in waiting if entity.type == kind]
    return next((entity for entity in same if entity.level == level), same[-1] if same else None)
