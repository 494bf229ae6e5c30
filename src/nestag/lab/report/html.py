"""Pieces of a page: text made harmless, and text that already is HTML."""

from __future__ import annotations

import re
from html import escape

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What cannot be shown, and what would turn all that follows it around."""


class Html(str):
    """Text that is HTML already, so that a template shows it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """What templates ask for."""
        return self


def harmless(text: str) -> str:
    r"""Text that a page shows as it is; signs that join letters stay, those of `_UNSEEN` do not.

    >>> harmless('<b onclick="x">\x07')
    '&lt;b onclick=&quot;x&quot;&gt;␇'
    """
    return escape(_UNSEEN.sub(lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "�", text))


def slug(text: str) -> str:
    """A name for a file or an element that every system takes.

    >>> slug("org/model v2")
    'org-model-v2'
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.") or "x"
