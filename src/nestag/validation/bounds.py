"""What a field takes: its type and its bounds, also in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

Choices = Iterable[str] | Callable[[], Iterable[str]]
"""The names that a field takes, or a function that finds them."""


@dataclass(frozen=True)
class Bounds:
    """What a value must also be; None is no limit."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: Choices | None = None
    none: str = "none"  # how None is written

    @property
    def names(self) -> tuple[str, ...]:
        """The names to choose from, none if any text will do."""
        found = self.choices() if callable(self.choices) else self.choices
        return tuple(found or ())

    def hold(self, number: float) -> bool:
        """Whether a number is finite and within them."""
        return (
            math.isfinite(number)
            and (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        words = {"of at least": self.minimum, "above": self.above, "of at most": self.maximum, "below": self.below}
        return " and ".join(f"{word} {limit:g}" for word, limit in words.items() if limit is not None)


ANY = Bounds()


def takes(kind: Any, limits: Bounds = ANY) -> str:
    """What a field of a type takes, in words.

    >>> takes(int, Bounds(minimum=1)), takes(float | None, Bounds(above=0, below=1)), takes(tuple[str, ...])
    ('a whole number of at least 1', 'a number above 0 and below 1, or none', 'a list, each text')
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return ", or ".join(takes(part, limits) for part in parts)
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin in (tuple, list):
        return f"a list, each {takes(parts[0], limits)}"
    if kind is str and limits.names:
        return f"one of {', '.join(limits.names)}"
    simple = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: limits.none}
    found = simple.get(kind, "a list" if is_named_tuple(kind) else "a table")
    return f"{found} {limits}" if kind in (int, float) and str(limits) else found


def is_named_tuple(kind: Any) -> bool:
    """Whether a type is a NamedTuple."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
