"""Folders of documents: a file name for every document, and back."""

from __future__ import annotations

import re
from urllib.parse import unquote

from nestag.corpora.report import Report

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
