"""Folders of documents: a file's name for every document, and folders written whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from nestag.corpora.files import PIPE
from nestag.corpora.report import Report
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


@contextmanager
def writing_folder(path: str | Path) -> Iterator[Path]:
    """A folder that takes its place when the block ends well, and leaves nothing behind when it does not.

    A folder that has something in it is never replaced.
    """
    target = Path(path)
    if str(path) == PIPE:
        raise InputError("a folder cannot go through a pipe; name one", str(path))
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise InputError("is there already; remove it, or write to a new folder", str(path))
    try:
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
        try:
            yield part
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o777 & ~mask)
            part.replace(target)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", str(path)
        ) from None
