"""Folders of documents: which of their files are read, a file name for every document, and back."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from nestag.corpora.report import Report
from nestag.corpora.splits import role_of
from nestag.errors import InputError

_AWKWARD = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|%]|\A[.\s]|[.\s]\Z')


def file_name(name: str) -> str:
    """A document's name as that of a file; what file systems cannot hold is written as in addresses of the web.

    >>> file_name("news/1: a"), document_name("news%2F1%3A a")
    ('news%2F1%3A a', 'news/1: a')
    """
    return _AWKWARD.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name) or "document"


def document_name(name: str) -> str:
    """The inverse."""
    return unquote(name, errors="replace")


def visible_files(folder: Path) -> list[Path]:
    """Every file in a folder, however deep, by name."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def files_of_one_format(folder: Path, suffixes: tuple[str, ...], report: Report) -> list[Path]:
    """The files of a folder that are read one after another: those with a suffix of their format, or else all."""
    there = visible_files(folder)
    taken = [file for file in there if file.name.lower().removesuffix(".gz").endswith(suffixes or "/")] or there
    if not taken:
        raise InputError("there is no file in the folder; check the path", str(folder))
    splits = {role: file for file in taken if (role := role_of(file))}
    if len(splits) > 1:
        names = ", ".join(str(file) for file in splits.values())
        raise InputError(f"it holds several splits; name one, such as {names}", str(folder))
    left = [file.name for file in there if file not in taken]
    report.note(f"{folder}: {len(taken):,} files read" + (f"; left alone: {', '.join(left[:3])}" if left else ""))
    return taken


class Names:
    """Names of files, each given once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.taken: set[str] = set()

    def of(self, document: str) -> str:
        """The name for a document; if it is taken, a number makes it another."""
        plain = name = file_name(document)
        number = 1
        while name.lower() in self.taken:
            number += 1
            name = f"{plain}~{number}"
        if number > 1:
            self.report.add("document renamed because another has its name", document, name)
        self.taken.add(name.lower())
        return name
