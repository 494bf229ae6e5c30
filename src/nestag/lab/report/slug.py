"""Names for files and elements."""

from __future__ import annotations

import re


def slug(text: str) -> str:
    """A name for a file or an element that every system takes.

    >>> slug("org/model v2")
    'org-model-v2'
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.") or "x"
