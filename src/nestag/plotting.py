"""What all figures share: colours, and settings that make equal input give equal bytes.

Which figure is drawn is left to others. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nestag.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Colours that people who see few colours can tell apart."""

_SETTINGS = {
    "svg.hashsalt": "nestag",  # names inside a file do not change from one call to the next
    "text.parse_math": False,  # a name with dollar signs is a name, not a formula
}


@contextmanager
def drawing(settings: dict[str, Any] | None = None, extra: str = "plot") -> Iterator[None]:
    """Draw and save inside this block: a person's own matplotlib settings do not count there.

    A figure needs the libraries of an extra of nestag; if they are missing, the error names it.
    """
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("figures need matplotlib", extra) from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        current: Any = matplotlib.rcParams
        current.update({**_SETTINGS, **(settings or {})})
        yield


def check_suffix(path: str) -> str:
    """The suffix of a figure, or an InputError that says which there are."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a figure is written as {' or '.join(SUFFIXES)}; name it so", path)
    return suffix


def saved(figure: Figure, suffix: str) -> bytes:
    """The figure as the bytes of a file; no date is in it."""
    stream = BytesIO()
    figure.savefig(stream, format=suffix[1:], dpi=150, metadata={"Date": None} if suffix == ".svg" else None)
    return stream.getvalue()
