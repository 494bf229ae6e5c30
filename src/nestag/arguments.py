"""What a message calls an argument: as Python writes it, or as the command line does while a command runs.

named("field")            field=...         --field
named("skip_bad", True)   skip_bad=True     --skip-bad
named("columns", (1, 4))  columns=(1, 4)    --columns 1,4
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_OPTIONS = {"format": "--from"}
"""Arguments whose option is not called as they are."""

_on_command_line = False


@contextmanager
def named_as_options() -> Iterator[None]:
    """Inside the block, messages name command-line options instead of Python arguments."""
    global _on_command_line
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def named(argument: str, value: object = None) -> str:
    """An argument in a message, with a value to give it or without.

    >>> named("by", "order")
    'by="order"'
    >>> with named_as_options():
    ...     named("by", "order")
    '--by order'
    """
    option = _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")
    if value is None:
        return either(f"{argument}=...", option)
    return either(f"{argument}={_in_python(value)}", option if value is True else f"{option} {_typed(value)}")


def either(python: str, command_line: str) -> str:
    """One text for messages to Python callers, another for messages on the command line."""
    return command_line if _on_command_line else python


def _in_python(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _typed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
