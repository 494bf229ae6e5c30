"""Folders: which files of a corpus are train, dev and test, which are read, and what documents and files are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import unquote

from nestag.data.document import Document
from nestag.data.report import Report
from nestag.errors import InputError, either
from nestag.formats.files import is_stream

Split = Literal["train", "dev", "test"]

SPLITS: tuple[Split, ...] = get_args(Split)

ROLES = {
    "train": ("train", "training"),
    "dev": ("dev", "devel", "development", "valid", "validation", "val"),
    "test": ("test", "testing"),
}
"""What the splits are called, and the names of files that are taken for them."""


def splits_in(path: str, remedy: str = "") -> dict[str, str]:
    """The files of a folder that are called train, dev or test, whatever their suffix; none if it is no folder."""
    if is_stream(path) or not Path(path).is_dir():
        return {}
    found: dict[str, str] = {}
    for child in sorted(Path(path).iterdir()):
        role = role_of(child)
        if role in found:
            which = remedy.format(role=role) or f"say which with {either('its own path', f'--{role}')}"
            raise InputError(f"both {Path(found[role]).name} and {child.name} could be its {role} split; {which}", path)
        if role:
            found[role] = str(child)
    return {role: found[role] for role in ROLES if role in found}


def role_of(path: Path) -> str | None:
    """The split that a file is by its name.

    >>> role_of(Path("genia/dev.jsonl.gz")), role_of(Path("LICENSE"))
    ('dev', None)
    """
    stem = path.name.split(".")[0].lower()
    return next((role for role, names in ROLES.items() if stem in names), None)


_AWKWARD = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|%]|\A[.\s]|[.\s]\Z')


def file_name(name: str) -> str:
    """A document's name as that of a file; what file systems cannot hold is written as in addresses of the web.

    >>> file_name("news/1: a"), document_name("news%2F1%3A a")
    ('news%2F1%3A a', 'news/1: a')
    """
    return _AWKWARD.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name) or "document"


def document_name(name: str) -> str:
    """The inverse."""
    return unquote(_as_text(name), errors="replace")


def stem_of(path: str | Path) -> str:
    """The name of a file up to its first dot.

    >>> stem_of("news/a.jsonl.gz")
    'a'
    """
    return _as_text(Path(path).name.split(".")[0])


def _as_text(name: str) -> str:
    """A file's name, whose bytes need not be UTF-8, as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def visible_files(folder: Path) -> list[Path]:
    """Every file in a folder, however deep, by name; not what is hidden, such as what is being written."""
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


def only_document(documents: Iterator[Document], path: str | Path, name: str, report: Report) -> Document:
    """The document of a file that can hold one; one with another name than the file is reported."""
    document = next(documents, Document("", ""))
    if next(documents, None):
        suffix = Path(str(path).removesuffix(".gz")).suffix
        raise InputError(f"one {suffix} file holds one document, and there are several; name a folder", str(path))
    if document.id not in ("", name):
        report.add("document renamed because its file has another name", document.id, name)
    return document
