"""All errors of nestag.

    NestagError
    ├── DataError          an invalid sentence or entity (also a ValueError)
    │   └── CrossingError  two entities that overlap without nesting
    ├── LabelError         a label that is not well formed (also a ValueError)
    ├── InputError         a file or other input that cannot be used, with its place
    │   └── SettingError   a setting that is unknown or has a wrong value (also a ValueError)
    ├── UnknownNameError   an unknown name, such as that of an encoding (also a LookupError)
    └── MissingExtraError  a missing library that an extra of nestag installs (also an ImportError)

Every message names the value, the place and the fix.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 1_000  # characters of a message


class NestagError(Exception):
    """The base class of all errors that nestag raises; its message is safe to print.

    Very long messages are cut in the middle, since they begin with the place and end with the fix.
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
    """A name that is not registered."""


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
    """Turn any error of a library about an untrusted file into an InputError.

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
            raise  # torch's error has its own advice; a panic of tokenizers is not an Exception
        reason = " ".join(f"{kind}: {error}".split())[:300]
        raise InputError(f"{failure} ({reason}); was it saved by nestag?", source) from None


class SettingError(InputError, ValueError):
    """An unknown setting, or a wrong value of a setting."""


class MissingExtraError(NestagError, ImportError):
    """A missing library that an extra of nestag installs.

    >>> str(MissingExtraError("figures need matplotlib", "plot"))
    "figures need matplotlib, which is not installed; pip install 'nestag[plot]'"
    """

    def __init__(self, need: str, extra: str, otherwise: str = "") -> None:
        super().__init__(f"{need}, which is not installed; pip install 'nestag[{extra}]'{otherwise}")
        self.extra = extra


def visible(text: str) -> str:
    r"""Replace control characters and line ends with visible symbols.

    >>> visible("a\tb")
    'a␉b'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _symbol(char) for char in text)


def _symbol(char: str) -> str:
    return chr(0x2400 + ord(char)) if char < " " else "�"


# Messages name an argument as in Python, or as on the command line while a command runs:
#
#     named("field")            field=...         --field
#     named("skip_bad", True)   skip_bad=True     --skip-bad
#     named("columns", (1, 4))  columns=(1, 4)    --columns 1,4

_OPTIONS = {"format": "--from"}  # arguments whose option has another name

_on_command_line = False


@contextmanager
def named_as_options() -> Iterator[None]:
    """Name command-line options instead of Python arguments in messages of this block."""
    global _on_command_line
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def named(argument: str, value: object = None) -> str:
    """Return an argument for a message, optionally with a value.

    >>> named("by", "order")
    'by="order"'
    >>> with named_as_options():
    ...     named("by", "order")
    '--by order'
    """
    option = _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")
    if value is None:
        return either(f"{argument}=...", option)
    if value is True:
        return either(f"{argument}=True", option)
    python = f'"{value}"' if isinstance(value, str) else repr(value)
    typed = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return either(f"{argument}={python}", f"{option} {typed}")


def either(python: str, command_line: str) -> str:
    """Return one text for messages to Python callers, the other for messages on the command line."""
    return command_line if _on_command_line else python
