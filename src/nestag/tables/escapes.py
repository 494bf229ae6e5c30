"""Text that a form would obey, made harmless."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"[\\`*_\[\]|~$<>&]")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def markdown_escaped(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    >>> print(markdown_escaped("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(lambda match: _ENTITIES.get(match[0], "\\" + match[0]), visible(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "±": r"$\pm$",
    "²": "$^2$",
    "³": "$^3$",
    "⁴": "$^4$",
    "–": "--",
    "−": "$-$",
}


def latex_escaped(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    >>> print(latex_escaped("cell_type & 5 %"))
    cell\_type \& 5 \%
    """
    return "".join(_LATEX.get(char, char) for char in visible(text))


def visible(text: str) -> str:
    r"""The text with characters that a terminal would obey, or that end a line, made visible.

    >>> visible("a\tb")
    'a␉b'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _symbol(char) for char in text)


def _symbol(char: str) -> str:
    return chr(0x2400 + ord(char)) if char < " " else "�"
