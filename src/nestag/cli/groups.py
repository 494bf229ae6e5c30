"""Options that several commands share: a command takes them as one value, a person still gives them one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

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
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name])
        for field in fields(group)
    ]


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default
