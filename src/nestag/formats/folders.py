"""Folders: the train, dev and test files of a corpus, the files of one format, and file names for documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
"""The splits and the names of their files."""
_AWKWARD = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|%]|\A[.\s]|[.\s]\Z')


def splits_in(path: str, remedy: str = "") -> dict[str, str]:
    """Return the files of a folder that are called train, dev or test, with any suffix."""
    if is_stream(path) or not Path(path).is_dir():
        return {}
    splits: dict[str, str] = {}
    for child in sorted(Path(path).iterdir()):
        role = role_of(child)
        if role in splits:
            which = remedy.format(role=role) or f"say which with {either('its own path', f'--{role}')}"
            raise InputError(
                f"both {Path(splits[role]).name} and {child.name} could be its {role} split; {which}", path
            )
        if role:
            splits[role] = str(child)
    return {role: splits[role] for role in ROLES if role in splits}


def role_of(path: Path) -> str | None:
    """Return the split that a file is by its name.

    >>> role_of(Path("genia/dev.jsonl.gz")), role_of(Path("LICENSE"))
    ('dev', None)
    """
    return next((role for role, names in ROLES.items() if path.name.split(".")[0].lower() in names), None)


def stem_of(path: str | Path) -> str:
    """Return the name of a file up to its first dot.

    >>> stem_of("news/a.jsonl.gz")
    'a'
    """
    return as_text(Path(path).name.split(".")[0])


def as_text(name: str) -> str:
    """Return a file's name as text, also if its bytes are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def has_suffix(path: str | Path, *suffixes: str) -> bool:
    """Return whether a file's name has one of these endings, before `.gz` and in any case.

    >>> has_suffix("news/A.JSONL.gz", ".json", ".jsonl")
    True
    """
    return str(path).lower().removesuffix(".gz").endswith(suffixes)


def visible_files(folder: Path) -> list[Path]:
    """Return every file in a folder, at any depth, except hidden ones, such as temporary files."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def files_of_one_format(folder: Path, suffixes: tuple[str, ...], report: Report) -> list[Path]:
    """Return the files of a folder with a suffix of their format, or else all, and note which are read."""
    visible = visible_files(folder)
    files = [file for file in visible if has_suffix(file, *suffixes)] or visible
    if not files:
        raise InputError("there is no file in the folder; check the path", str(folder))
    splits = {role: file for file in files if (role := role_of(file))}
    if len(splits) > 1:
        names = ", ".join(str(file) for file in splits.values())
        raise InputError(f"it holds several splits; name one, such as {names}", str(folder))
    ignored = [file.name for file in visible if file not in files]
    report.note(f"{folder}: {len(files):,} files read" + (f"; ignored: {', '.join(ignored[:3])}" if ignored else ""))
    return files


def files_in(path: Path, suffixes: tuple[str, ...]) -> list[tuple[Path, str]]:
    """Return the files with these suffixes in a folder and their names below it, or else the one file."""
    if not path.is_dir():
        return [(path, path.name)]
    files = [file for file in visible_files(path) if file.suffix.lower() in suffixes]
    if not files:
        raise InputError(f"the folder has no {' or '.join(suffixes)} file; name one that has", str(path))
    return [(file, file.relative_to(path).as_posix()) for file in files]


def file_name(name: str) -> str:
    """Return a file name for a document, with percent escapes for characters that file systems cannot hold.

    >>> file_name("news/1: a"), document_name("news%2F1%3A a")
    ('news%2F1%3A a', 'news/1: a')
    """
    return _AWKWARD.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name) or "document"


def document_name(name: str) -> str:
    """Invert `file_name`."""
    return unquote(as_text(name), errors="replace")


def named_documents(documents: Iterable[Document], report: Report) -> Iterator[tuple[str, Document]]:
    """Yield documents with the names of their files, each with a number if its name is taken."""
    used: set[str] = set()
    for document in documents:
        plain = name = file_name(document.id)
        number = 1
        while name.lower() in used:
            number += 1
            name = f"{plain}~{number}"
        if number > 1:
            report.add("document renamed because another has its name", document.id, name)
        used.add(name.lower())
        yield name, document


def only_document(documents: Iterator[Document], path: str | Path, name: str, report: Report) -> Document:
    """Return the document of a file that can hold one, and report if it has another name than the file."""
    document = next(documents, Document("", ""))
    if next(documents, None):
        suffix = Path(str(path).removesuffix(".gz")).suffix
        raise InputError(f"one {suffix} file holds one document, and there are several; name a folder", str(path))
    if document.id not in ("", name):
        report.add("document renamed because its file has another name", document.id, name)
    return document
