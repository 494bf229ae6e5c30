"""From functions to commands: groups of options that a command takes as one value, and the look of help pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
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
    hints = get_type_hints(command)
    groups = {name: hints[name] for name in signature(command).parameters if is_dataclass(hints[name])}

    @wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            values = {field.name: options.pop(field.name) for field in fields(group) if field.name in options}
            options[name] = group(**values)
        command(**options)

    parameters = list(options_of(command))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def options_of(target: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the parameters of a function or a dataclass, with the fields of those that are dataclasses."""
    hints = get_type_hints(target, include_extras=True)
    settings = getattr(target, "__dataclass_fields__", {})
    for name, parameter in signature(target).parameters.items():
        hint = hints[name]
        if is_dataclass(hint):
            yield from options_of(hint)  # type: ignore[arg-type]
            continue
        metadata = settings[name].metadata if name in settings else {}
        if "help" in metadata:  # a `setting` has a help text and limits
            hint = Annotated[hint, typer.Option(min=metadata["limits"].minimum, help=metadata["help"])]
        _name_type(hint)
        yield parameter.replace(annotation=hint, kind=Parameter.KEYWORD_ONLY)


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
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean '{close[0]}'?" if close else ""))
        return super().resolve_command(ctx, args)


def unwrap(text: str | None) -> str | None:
    r"""Return a docstring with each paragraph on one line; indented lines stay.

    >>> unwrap("One\nparagraph.\n\nAnother\none.\n    code")
    'One paragraph.\n\nAnother one.\n    code'
    """
    return text and re.sub(r"(?<=\S)\n(?=\S)", " ", text)
