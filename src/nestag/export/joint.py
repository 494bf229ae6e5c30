r"""Joint labels: n, c and u as one word, for libraries that predict one label a token.

    1|S|PER    0|S|-    -2|S|-    rL|PER'|-    1|a\u007cb|\u0020

Parts are written as encodings/notation.py says, and what would be misread, `|` and all white space, by its number.
The notation reads such numbers as it reads its own, so that nothing has to be undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from nestag.corpora.labels import LabelParsers
from nestag.encodings.base import Encoding, Label
from nestag.encodings.notation import write_chain, write_field, write_name
from nestag.errors import LabelError

SEPARATOR = "|"
_UNFIT = re.compile(r"[\s|]")
_SPACE = re.compile(r"\s")


def joint_writer(encoding: Encoding) -> Callable[[Label], str]:
    r"""How labels of an encoding are written as one word.

    >>> from nestag.encodings import encoding
    >>> from nestag.tree import Name
    >>> print(joint_writer(encoding("rel"))(Label(-2, Name(("a|b",), root=True), ("cell line",))))
    -2|S+a\u007cb|cell\u0020line
    """

    @cache
    def write(label: Label) -> str:
        return SEPARATOR.join((encoding.write_n(label.n), fit(write_name(label.c)), fit(write_chain(label.u))))

    return write


def read_joint(text: str, parts: LabelParsers) -> Label:
    """The inverse; a LabelError says what is not well formed."""
    found = text.split(SEPARATOR)
    if len(found) != len(Label._fields):
        raise LabelError(f"{text!r} is no joint label; it takes n, c and u with | between, as in 1|S|PER")
    return parts.label(*found)


def fit(part: str) -> str:
    """A written part of a label without white space and separators."""
    return _UNFIT.sub(_number, part)


def write_word(token: str) -> str:
    r"""A token as one column without white space.

    >>> print(write_word("New York"))
    New\u0020York
    """
    return _SPACE.sub(_number, write_field(token))


def _number(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
