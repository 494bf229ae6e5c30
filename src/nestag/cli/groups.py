"""From functions to commands: groups of options that a command takes as one value, and the look of help pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from nestag.cli.boundary import guard

Command = Callable[..., None]

TYPES = {int: "INT", float: "FLOAT", str: "TEXT", bool: ""}
"""How help pages name the types of options."""


def with_option_groups(command: Command) -> Command:
    """Return the command with an option for each field of its parameters that are dataclasses.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 80
    >>> def draw(*, size: Size, title: str = "") -> None: print(size)
    >>> list(signature(with_option_groups(draw)).parameters)
    ['width', 'title']
    >>> with_option_groups(draw)(width=60)
    Size(width=60)
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, type] = {}
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            parameters += options_of(hints[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            values = {field.name: options.pop(field.name) for field in fields(group) if field.name in options}
            options[name] = group(**values)
        command(**options)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    for annotation in run.__annotations__.values():
        _name_type(annotation)
    return run


def options_of(group: type) -> list[Parameter]:
    """Return the fields of a dataclass as parameters."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=_annotation(field, hints[field.name]),
        )
        for field in fields(group)
    ]


def _annotation(field: Field[Any], hint: Any) -> Any:
    """Return the option of a field; a `setting` gives it a help text and a minimum."""
    if "help" not in field.metadata:
        return hint
    return Annotated[hint, typer.Option(min=field.metadata["limits"].minimum, help=field.metadata["help"])]


def _name_type(annotation: Any) -> None:
    """Show INT, FLOAT or TEXT for an option that does not name its value."""
    hint, option = (*get_args(annotation), None, None)[:2]
    kinds = [kind for kind in (hint, *get_args(hint)) if kind in TYPES]
    if kinds and getattr(option, "metavar", "") is None:
        option.metavar = TYPES[kinds[0]]


class _Types:
    """Shows no type for flags, and `TEXT` or `TEXT...` for arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters of the command."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
            if isinstance(parameter, TyperArgument):
                kind = "TEXT" if parameter.nargs == 1 else "TEXT..."
                parameter.display_type_rich = lambda ctx, kind=kind: kind  # type: ignore[method-assign, misc]
        return parameters


class HelpedCommand(_Types, TyperCommand):
    """A command."""


def add_command(app: typer.Typer, function: Command) -> None:
    """Add a function as a command of its name that ends every error with a line and an exit code."""
    app.command(function.__name__, cls=HelpedCommand)(with_option_groups(guard(function)))


class HelpedGroup(_Types, TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called; an unknown name gets a suggestion."""
        if self.get_command(ctx, args[0]) is None:
            close = get_close_matches(args[0], self.list_commands(ctx))
            ctx.fail(f"No such command '{args[0]}'." + (f" Did you mean '{close[0]}'?" if close else ""))
        return super().resolve_command(ctx, args)


def unwrap(text: str | None) -> str | None:
    r"""Return a docstring with each paragraph on one line; indented lines stay.

    >>> unwrap("One\nparagraph.\n\nAnother\none.\n    code")
    'One paragraph.\n\nAnother one.\n    code'
    """
    return text and re.sub(r"(?<=\S)\n(?=\S)", " ", text)
