"""What can go wrong, as one small tree.

    NestagError
    ├── DataError          an invalid sentence or entity (also a ValueError)
    │   └── CrossingError  two entities that overlap without nesting
    ├── LabelError         a label that is not well formed (also a ValueError)
    ├── InputError         a file or other input that cannot be used, with its place
    │   └── SettingError   a setting that is unknown or has a wrong value (also a ValueError)
    ├── UnknownNameError   a name that nothing is registered under, such as an encoding (also a LookupError)
    └── MissingExtraError  a library that an extra of nestag installs is missing (also an ImportError)

Every message names the value, the place and the remedy.
"""

from __future__ import annotations

from nestag.visible import visible

LONGEST = 1_000
"""Characters of a message."""


class NestagError(Exception):
    """The root of every error that nestag raises on purpose; names and texts in it can be shown safely.

    A message that quotes very long input is cut in the middle: the place stands first, the remedy last.
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
