"""What formats of raw text share: the names of documents and files, offsets in UTF-16, and comparisons of text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from nestag.data.document import Document, TextSpan
from nestag.data.report import Report
from nestag.errors import DataError, InputError
from nestag.formats.folders import as_text, visible_files

_AWKWARD = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|%]|\A[.\s]|[.\s]\Z')


def file_name(name: str) -> str:
    """Return a document's name as that of a file, with percent escapes for what file systems cannot hold.

    >>> file_name("news/1: a"), document_name("news%2F1%3A a")
    ('news%2F1%3A a', 'news/1: a')
    """
    return _AWKWARD.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name) or "document"


def document_name(name: str) -> str:
    """Invert `file_name`."""
    return unquote(as_text(name), errors="replace")


class FileNames:
    """Names of files, each used once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.used: set[str] = set()

    def of(self, document: str) -> str:
        """Return the name for a document, with a number if it is taken."""
        plain = name = file_name(document)
        number = 1
        while name.lower() in self.used:
            number += 1
            name = f"{plain}~{number}"
        if number > 1:
            self.report.add("document renamed because another has its name", document, name)
        self.used.add(name.lower())
        return name


def only_document(documents: Iterator[Document], path: str | Path, name: str, report: Report) -> Document:
    """Return the document of a file that can hold one, and report if it has another name than the file."""
    document = next(documents, Document("", ""))
    if next(documents, None):
        suffix = Path(str(path).removesuffix(".gz")).suffix
        raise InputError(f"one {suffix} file holds one document, and there are several; name a folder", str(path))
    if document.id not in ("", name):
        report.add("document renamed because its file has another name", document.id, name)
    return document


def files_in(path: Path, suffixes: tuple[str, ...]) -> list[tuple[Path, str]]:
    """Return the files with these suffixes in a folder and their names below it, or else the one file."""
    if not path.is_dir():
        return [(path, path.name)]
    files = [file for file in visible_files(path) if file.suffix.lower() in suffixes]
    if not files:
        raise InputError(f"the folder has no {' or '.join(suffixes)} file; name one that has", str(path))
    return [(file, file.relative_to(path).as_posix()) for file in files]


def span_in(text: str, start: int, end: int, kind: str) -> TextSpan:
    """Return a span, or raise a DataError if it is empty or outside the text."""
    if not 0 <= start < end <= len(text):
        raise DataError(
            f"{start} to {end} is not inside the text of {len(text)} characters; count from 0, the end exclusive"
        )
    return TextSpan(start, end, kind)


def same_text(one: str, other: str) -> bool:
    """Say whether two texts are equal up to white space."""
    return "".join(one.split()) == "".join(other.split())


class Utf16:
    """Offsets in characters <-> offsets in UTF-16 units, which JavaScript and Java count.

    A character beyond U+FFFF, such as an emoji, is two units.

    >>> units = Utf16("😀 Bob")
    >>> units.from_units(3), units.to_units(2), units.differs
    (2, 3, True)
    """

    def __init__(self, text: str) -> None:
        wide = [] if text.isascii() else [place for place, character in enumerate(text) if character > "\uffff"]
        self.differs = bool(wide)
        self._characters = wide  # the places of the characters of two units
        self._units = [place + before for before, place in enumerate(wide)]

    def to_units(self, place: int) -> int:
        """Convert an offset from characters."""
        return place + bisect_left(self._characters, place)

    def from_units(self, place: int) -> int:
        """Convert an offset from units, or raise a DataError if it is inside a character."""
        before = bisect_left(self._units, place)
        if before and self._units[before - 1] + 1 == place:
            raise DataError(f"offset {place} is inside a character; count UTF-16 units, not characters or bytes")
        return place - before
