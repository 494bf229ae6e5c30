"""Text for a page: made harmless, or already HTML."""

from __future__ import annotations

import re
from html import escape

_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What cannot be shown, and what would turn all that follows it around; a line end can."""


class Html(str):
    """Text that is HTML already, so that a template shows it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """What templates ask for."""
        return self


def harmless(text: str) -> str:
    r"""Text that a page shows as it is; joiners stay, the invisible characters of `_UNSEEN` are removed.

    >>> harmless('<b onclick="x">\x07')
    '&lt;b onclick=&quot;x&quot;&gt;␇'
    """
    return escape(_UNSEEN.sub(lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "�", text))
