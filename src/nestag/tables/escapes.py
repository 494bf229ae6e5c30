"""Escaping of text for each output form."""

from __future__ import annotations

import re

from nestag.visible import visible

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
