"""XML as a stream of events, read with defusedxml: nothing is fetched and nothing expanded.

A document type is named but never loaded; a declared entity, which could grow without end or reach other files, is
refused. Only the entities that XML itself has are known, in any case (`&amp;`, `&AMP;`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple
from xml.sax import ContentHandler, SAXParseException

from nestag.errors import InputError

CHUNK = 64 * 2**10
"""Bytes read at a time."""
LARGEST_PIECE = 16 * 2**20
"""Bytes of one tag or comment beyond which a file is taken for something else."""
DEEPEST = 1_000
"""Elements inside one another beyond which a file is taken for something else."""

ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class StartTag(NamedTuple):
    """A start tag."""

    name: str
    attributes: dict[str, str]
    line: int


class EndTag(NamedTuple):
    """An end tag."""

    name: str


class CharacterData(NamedTuple):
    """Text between tags."""

    text: str


Event = StartTag | EndTag | CharacterData


def events(stream: BinaryIO, source: str) -> Iterator[Event]:
    """Return the tags and texts of a file in order; an InputError names a line that is not XML or not safe."""
    from defusedxml.common import EntitiesForbidden
    from defusedxml.expatreader import create_parser

    parser = create_parser(forbid_dtd=False, forbid_external=False)  # a document type is named and never loaded
    handler = _Handler(source, parser)
    silent = 0  # bytes since the last event
    try:
        parser.feed(b"")  # so that an empty file too is read, and refused
        while chunk := stream.read(CHUNK):
            parser.feed(chunk)
            met = handler.taken()
            silent = 0 if met else silent + len(chunk)
            yield from met
            if silent > LARGEST_PIECE:
                raise handler.error(f"one tag is longer than {LARGEST_PIECE} bytes; is this the right file?")
        parser.close()
        yield from handler.taken()
    except EntitiesForbidden as error:
        reason = f"the entity {error.name!r} is declared, which is not safe to expand; write it out and remove it"
        raise handler.error(reason) from None
    except SAXParseException as error:
        raise InputError(f"not XML ({error.getMessage()}); get the file again", source, error.getLineNumber()) from None
    except (LookupError, ValueError) as error:
        raise handler.error(f"not readable as XML ({error}); convert the file to UTF-8") from None


class _Handler(ContentHandler):
    """Collects what the parser meets."""

    def __init__(self, source: str, parser: Any) -> None:
        super().__init__()
        self.source, self.parser = source, parser
        self.met: list[Event] = []
        self.depth = 0
        parser.setContentHandler(self)

    def taken(self) -> list[Event]:
        """Return the events since the last call."""
        met, self.met = self.met, []
        return met

    def error(self, message: str) -> InputError:
        """Return an error at the current line."""
        return InputError(message, self.source, self.parser.getLineNumber())

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 - the name that the parser calls
        """Collect a start tag."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} nested elements; is this the right file?")
        self.met.append(StartTag(name, dict(attrs), self.parser.getLineNumber()))

    def endElement(self, name: str) -> None:  # noqa: N802
        """Collect an end tag."""
        self.depth -= 1
        self.met.append(EndTag(name))

    def characters(self, content: str) -> None:
        """Collect text between tags."""
        self.met.append(CharacterData(content))

    def skippedEntity(self, name: str) -> None:  # noqa: N802
        """Replace an XML entity in capitals; any other undeclared entity is an error."""
        if name.lower() not in ENTITIES:
            raise self.error(f"the entity &{name}; is not one of XML's own; write the character itself")
        self.characters(ENTITIES[name.lower()])
