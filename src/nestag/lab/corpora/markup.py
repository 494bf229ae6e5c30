"""XML from outside as a stream of events, read with nothing fetched and nothing expanded.

A document type is named but never loaded; a declared entity, which could grow without end or reach other files, is
refused. Only the entities that XML itself has are known, in any case (`&amp;`, `&AMP;`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from nestag.errors import InputError

CHUNK = 64 * 2**10
"""Bytes read at a time."""
LARGEST_PIECE = 16 * 2**20
"""Bytes of one tag or comment beyond which a file is taken for something else."""
DEEPEST = 1_000
"""Elements inside one another beyond which a file is taken for something else."""

ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Opened(NamedTuple):
    """A start tag."""

    name: str
    attributes: dict[str, str]
    line: int


class Closed(NamedTuple):
    """An end tag."""

    name: str


class Text(NamedTuple):
    """What stands between tags."""

    text: str


Event = Opened | Closed | Text


def events(stream: BinaryIO, source: str) -> Iterator[Event]:
    """The tags and texts of a file in their order; an InputError names the line that is not XML, or not safe."""
    handler = _Handler(source)
    fed = 0
    try:
        while chunk := stream.read(CHUNK):
            handler.parser.Parse(chunk, False)
            fed += len(chunk)
            yield from handler.taken()
            if fed - handler.parser.CurrentByteIndex > LARGEST_PIECE:
                raise handler.error(f"one tag is longer than {LARGEST_PIECE} bytes; is this the right file?")
        handler.parser.Parse(b"", True)
        yield from handler.taken()
    except expat.ExpatError as error:
        raise InputError(f"not XML ({error}); get the file again", source, error.lineno) from None
    except (LookupError, ValueError) as error:
        raise handler.error(f"not readable as XML ({error}); convert the file to UTF-8") from None


class _Handler:
    """Collects what the parser meets."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.met: list[Event] = []
        self.depth = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._declared
        parser.SkippedEntityHandler = self._skipped

    def taken(self) -> list[Event]:
        """What was met since the last time."""
        met, self.met = self.met, []
        return met

    def error(self, message: str) -> InputError:
        return InputError(message, self.source, self.parser.CurrentLineNumber)

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} elements stand in one another; is this the right file?")
        self.met.append(Opened(name, attributes, self.parser.CurrentLineNumber))

    def _close(self, name: str) -> None:
        self.depth -= 1
        self.met.append(Closed(name))

    def _text(self, text: str) -> None:
        self.met.append(Text(text))

    def _declared(self, name: str, *_: object) -> None:
        raise self.error(f"the entity {name!r} is declared, which is not safe to expand; write it out and remove it")

    def _skipped(self, name: str, *_: object) -> None:
        if name.lower() not in ENTITIES:
            raise self.error(f"the entity &{name}; is not one of XML's own; write the character itself")
        self._text(ENTITIES[name.lower()])
