"""How commands show their help: flags without a type, paragraphs as wide as the terminal."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup


class _Flags:
    """Shows no type for options that are there or not: all of them are true or false."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, as the library has them."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return found


class HelpedCommand(_Flags, TyperCommand):
    """A command."""


class HelpedGroup(_Flags, TyperGroup):
    """A group of commands."""


def unwrapped(text: str | None) -> str | None:
    r"""A docstring whose paragraphs are one line each; lines that are indented stay.

    >>> unwrapped("One\nparagraph.\n\nAnother\none.\n    code")
    'One paragraph.\n\nAnother one.\n    code'
    """
    return text and re.sub(r"(?<=\S)\n(?=\S)", " ", text)
