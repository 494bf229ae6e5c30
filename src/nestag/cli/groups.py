"""From functions to commands: groups of options that a command takes as one value, and the look of help pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

Command = Callable[..., None]


def grouped(command: Command) -> Command:
    """The command with an option for each field of its parameters that are dataclasses, where the parameter stood.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 80
    >>> def draw(*, size: Size, title: str = "") -> None: print(size)
    >>> list(signature(grouped(draw)).parameters)
    ['width', 'title']
    >>> grouped(draw)(width=60)
    Size(width=60)
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, type] = {}
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            parameters += members_of(hints[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            values = {field.name: given.pop(field.name) for field in fields(group) if field.name in given}
            given[name] = group(**values)
        command(**given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def members_of(group: type) -> list[Parameter]:
    """The fields of a dataclass as parameters."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=_default(field),
            annotation=_annotation(field, hints[field.name]),
        )
        for field in fields(group)
    ]


def _annotation(field: Field[Any], hint: Any) -> Any:
    """The option of a field; the help and the minimum of a `setting` become those of the option."""
    if "help" not in field.metadata:
        return hint
    return Annotated[hint, typer.Option(min=field.metadata["limits"].minimum, help=field.metadata["help"])]


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default


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
