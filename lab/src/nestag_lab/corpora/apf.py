"""ACE annotation files (APF): the mentions of entities, by character.

    <entity ID="d-E1" TYPE="PER" ...><entity_mention ID="d-E1-1" TYPE="NOM" ...>
      <extent><charseq START="10" END="25">the president of</charseq></extent>
      <head><charseq START="14" END="22">president</charseq></head></entity_mention></entity>

`START` and `END` count the characters of the SGM file without its tags, the end inclusive. Times and values are left
out and counted; relations and events are no entities and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from nestag.data.report import Report
from nestag.errors import InputError
from nestag.formats.files import reading
from nestag_lab.corpora.markup import CharacterData, EndTag, Event, StartTag, events

TYPES = ("PER", "ORG", "GPE", "LOC", "FAC", "VEH", "WEA")
MentionPart = Literal["extent", "head"]
"""The whole mention, or the word it is about."""

_LEFT_OUT = {"timex2_mention": "time left out", "value_mention": "value left out"}


class AceMention(NamedTuple):
    """A typed span of characters, half-open, with the text that the annotators saw there."""

    start: int
    end: int
    type: str
    text: str
    line: int


def read(path: Path, part: MentionPart, report: Report) -> Iterator[AceMention]:
    """The mentions of a file, each as its extent or its head."""
    inside: list[StartTag] = []
    span: StartTag | None = None
    text = ""
    for event in _events(path):
        match event:
            case StartTag(name, attributes, line):
                inside.append(event)
                if [tag.name for tag in inside[-4:]] == ["entity", "entity_mention", part, "charseq"]:
                    span, text = event, ""
                elif name in _LEFT_OUT:
                    report.add(_LEFT_OUT[name], f"{path}:{line}", attributes.get("ID", ""))
            case CharacterData(piece) if span:
                text += piece
            case EndTag():
                if inside.pop() is span and span:
                    yield from _mention(span, inside[-3].attributes.get("TYPE", ""), text, path, report)
                    span = None


def _events(path: Path) -> Iterator[Event]:
    with reading(path) as stream:
        yield from events(stream, str(path))


def _mention(span: StartTag, kind: str, text: str, path: Path, report: Report) -> Iterator[AceMention]:
    place = f"{path}:{span.line}"
    try:
        start, end = int(span.attributes["START"]), int(span.attributes["END"]) + 1
    except (KeyError, ValueError):
        raise InputError("a charseq lacks the number START or END; get the file again", str(path), span.line) from None
    if kind not in TYPES:
        report.add("mention of an unknown type left out", place, f"{kind or 'no TYPE'} {text!r}")
    elif end <= start:
        report.add("mention with inverted boundaries left out", place, f"{start} to {end - 1} {kind} {text!r}")
    else:
        yield AceMention(start, end, kind, text, span.line)
