"""What can go wrong, as one small tree.

    NestagError
    ├── DataError          an invalid sentence or entity (also a ValueError)
    │   └── CrossingError  two entities that overlap without nesting
    ├── LabelError         a label that is not well formed (also a ValueError)
    ├── InputError         a file or other input that cannot be used, with its place
    │   └── SettingError   a setting that is unknown or has a wrong value (also a ValueError)
    ├── UnknownNameError   a name that nothing is registered under, such as an encoding (also a LookupError)
    └── MissingExtraError  a library that an extra of nestag installs is missing (also an ImportError)

Every message names the value, the place and the fix.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 1_000
"""Characters of a message."""


class NestagError(Exception):
    """The root of every error that nestag raises on purpose; names and texts in it can be shown safely.

    A message that quotes very long input is cut in the middle: the place comes first, the fix last.
    """

    def __str__(self) -> str:
        message = visible(super().__str__())
        if len(message) > LONGEST:
            return f"{message[: LONGEST // 2]} … {message[-LONGEST // 2 :]}"
        return message


class DataError(NestagError, ValueError):
    """An invalid sentence or entity."""


class CrossingError(DataError):
    """Two entities overlap and neither contains the other, so no tree holds both."""


class LabelError(NestagError, ValueError):
    """A label that its encoding cannot read."""


class UnknownNameError(NestagError, LookupError):
    """A name that nothing is registered under."""


class InputError(NestagError):
    """Input that cannot be used; the message starts with its place.

    >>> str(InputError("no field 'tokens'; add a list of strings", "a.jsonl", 3))
    "a.jsonl:3: no field 'tokens'; add a list of strings"
    """

    def __init__(self, message: str, source: str, line: int | None = None) -> None:
        self.place = source if line is None else f"{source}:{line}"
        super().__init__(f"{self.place}: {message}")
        self.message = message
        self.source = source
        self.line = line


@contextmanager
def as_input_error(failure: str, source: str) -> Iterator[None]:
    """Turn whatever a library raises over an untrusted file into an InputError.

    >>> with as_input_error("the weights cannot be loaded", "folder"):
    ...     raise KeyError("shape")
    Traceback (most recent call last):
    nestag.errors.InputError: folder: the weights cannot be loaded (KeyError: 'shape'); was it saved by nestag?
    """
    try:
        yield
    except (NestagError, MemoryError):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if kind == "OutOfMemoryError" or not (isinstance(error, Exception) or kind == "PanicException"):
            raise  # torch's message has its own advice; a panic of tokenizers is not an Exception
        reason = " ".join(f"{kind}: {error}".split())[:300]
        raise InputError(f"{failure} ({reason}); was it saved by nestag?", source) from None


class SettingError(InputError, ValueError):
    """A setting that is unknown, or whose value is not what it takes."""


class MissingExtraError(NestagError, ImportError):
    """A library is missing that an extra of nestag installs.

    >>> str(MissingExtraError("figures need matplotlib", "plot"))
    "figures need matplotlib, which is not installed; pip install 'nestag[plot]'"
    """

    def __init__(self, need: str, extra: str, otherwise: str = "") -> None:
        super().__init__(f"{need}, which is not installed; pip install 'nestag[{extra}]'{otherwise}")
        self.extra = extra


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


# How messages name an argument: as Python writes it, or as the command line does while a command runs.
#
#     named("field")            field=...         --field
#     named("skip_bad", True)   skip_bad=True     --skip-bad
#     named("columns", (1, 4))  columns=(1, 4)    --columns 1,4

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
