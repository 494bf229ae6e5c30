"""Validation: dataclasses made from TOML, JSON or text, with every key and value checked.

    @dataclass(frozen=True)
    class Recipe:
        epochs: int = setting(12, minimum=1, help="passes over the training corpus")

    from_mapping(Recipe, {"epochs": 3}, "my.toml")        values as TOML and JSON have them
    from_text(Recipe, {"epochs": "3"}, "--set")           values as a command line has them
    changed(recipe, {"epochs": 3}, "train()")             a copy with other values
    to_mapping(recipe)                                    values as TOML and JSON have them

The annotation of a field says what it takes: int, float, str, bool, Literal, `X | None`, tuple, list, dict, Counter,
a NamedTuple (as a list or a table) or another dataclass (as a table). Limits are given with `setting`; those of a tuple
or dict hold for each of its values. NaN and infinity are refused everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from nestag.errors import SettingError

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


T = TypeVar("T")


def setting(
    default: Any = MISSING,
    *,
    factory: Callable[[], Any] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: Choices | None = None,
    none: str = "none",
    help: str = "",
) -> Any:
    """A field of a dataclass with limits and a line of help.

    `factory` makes a default that is mutable; `none` is the word for None, such as "auto", where a field takes it.
    """
    limits = Bounds(minimum, maximum, above, below, choices, none)
    metadata = {"limits": limits, "help": help}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


def from_mapping(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """A dataclass with the values of a table; `where` is the place that an error names.

    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = setting(80, minimum=1)
    >>> from_mapping(Size, {"width": 0}, "my.toml")
    Traceback (most recent call last):
    nestag.errors.SettingError: my.toml: width is 0; it takes a whole number of at least 1
    """
    return _build(cls, values, _Place(where))


def from_text(cls: type[T], texts: Mapping[str, str], where: str) -> T:
    """A dataclass with values that are written as text, e.g. `{"epochs": "3", "encoder": "minilm"}`."""
    return _build(cls, texts, _Place(where, text=True))


def to_mapping(settings: Any) -> dict[str, Any]:
    """A dataclass as TOML and JSON have it, the inverse of `from_mapping`; a NamedTuple becomes a list."""
    return {field.name: _plain(getattr(settings, field.name)) for field in fields(settings)}


def changed(settings: T, values: Mapping[str, Any], where: str, *, text: bool = False) -> T:
    """A copy with other values; with `text` they are written as text."""
    found = _checked(type(settings), values, _Place(where, text=text))
    return replace(settings, **found)  # type: ignore[type-var]


def validate(settings: Any, where: str = "") -> None:
    """Raise a SettingError if a value of a dataclass is not what its field takes; for use in `__post_init__`."""
    place = _Place(where or type(settings).__name__)
    _checked(type(settings), {field.name: getattr(settings, field.name) for field in fields(settings)}, place)


class Described(NamedTuple):
    """A setting as a help page shows it."""

    name: str
    takes: str
    default: Any  # None if it has none
    help: str


def described(cls: type) -> tuple[Described, ...]:
    """Every setting of a dataclass, in its order."""
    return tuple(
        Described(field.name, takes(_hints(cls)[field.name], _limits(field)), _default(field), field.metadata["help"])
        for field in fields(cls)
        if "help" in field.metadata
    )


@dataclass(frozen=True)
class _Place:
    """Where a value stands, and how it is written."""

    where: str
    key: str = ""  # from the outermost table on, with full stops between
    limits: Bounds = ANY
    text: bool = False

    def inside(self, name: object, limits: Bounds | None = None) -> _Place:
        key = f"{self.key}.{name}" if self.key else str(name)
        return replace(self, key=key, limits=self.limits if limits is None else limits)

    def refuse(self, value: object, kind: Any) -> NoReturn:
        raise SettingError(f"{self.key or 'it'} is {value!r}; it takes {takes(kind, self.limits)}", self.where)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return to_mapping(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _build(cls: type[T], values: Any, place: _Place) -> T:
    found = _checked(cls, values, place)
    for known in fields(cls):  # type: ignore[arg-type]
        if known.name not in found and known.default is MISSING and known.default_factory is MISSING:
            raise SettingError(f"the key {place.inside(known.name).key!r} is missing", place.where)
    return cls(**found)


def _checked(cls: type, values: Any, place: _Place) -> dict[str, Any]:
    """The values that were given, each as its field takes it."""
    if not isinstance(values, Mapping):
        place.refuse(values, dict)
    known = {field.name: field for field in fields(cls) if field.init}
    for name in values:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            key = place.inside(name).key
            raise SettingError(f"there is no setting {key!r}; {hint}there are {', '.join(known)}", place.where)
    return {
        name: _convert(_hints(cls)[name], value, place.inside(name, _limits(known[name])))
        for name, value in values.items()
    }


def _convert(kind: Any, value: Any, place: _Place) -> Any:
    """A value as its type wants it, or a SettingError."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return value
    if origin in (Union, UnionType):
        return _one_of(parts, value, place, kind)
    if origin is Literal:
        return value if value in parts else place.refuse(value, kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return value if isinstance(value, kind) else _build(kind, value, place)
    if is_named_tuple(kind):
        return value if isinstance(value, kind) else _named_tuple(kind, value, place)
    if origin in (tuple, list):
        return _sequence(kind, value, place)
    if isinstance(origin or kind, type) and issubclass(origin or kind, dict):
        return _table(kind, value, place)
    return _scalar(kind, value, place)


def _one_of(parts: tuple[Any, ...], value: Any, place: _Place, kind: Any) -> Any:
    """A value of the first type of a union that takes it."""
    if NoneType in parts and (value is None or value == place.limits.none):
        return None
    *others, last = (part for part in parts if part is not NoneType)
    for part in others:
        try:
            return _convert(part, value, place)
        except SettingError:
            continue
    if not others:
        return _convert(last, value, place)  # its own error says more
    try:
        return _convert(last, value, place)
    except SettingError:
        place.refuse(value, kind)


def _named_tuple(kind: Any, value: Any, place: _Place) -> Any:
    hints = _hints(kind)
    if isinstance(value, list | tuple):
        if not len(hints) - len(kind._field_defaults) <= len(value) <= len(hints):
            place.refuse(value, kind)
        value = dict(zip(hints, value, strict=False))
    if not isinstance(value, Mapping) or not set(hints) - set(kind._field_defaults) <= set(value) <= set(hints):
        place.refuse(value, kind)
    return kind(**{name: _convert(hints[name], one, place.inside(name)) for name, one in value.items()})


def _sequence(kind: Any, value: Any, place: _Place) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if place.text and isinstance(value, str):
        value = [part.strip() for part in value.split(",")] if value.strip() else []
    if not isinstance(value, list | tuple):
        place.refuse(value, kind)
    if origin is tuple and parts[-1] is not ...:
        if len(value) != len(parts):
            place.refuse(value, kind)
        return tuple(
            _convert(part, one, place.inside(n)) for n, (part, one) in enumerate(zip(parts, value, strict=True))
        )
    return origin(_convert(parts[0], one, place.inside(n)) for n, one in enumerate(value))


def _table(kind: Any, value: Any, place: _Place) -> Any:
    if not isinstance(value, Mapping):
        place.refuse(value, kind)
    origin, parts = get_origin(kind) or kind, get_args(kind) or (str, Any)
    of_key, of_value = (*parts, int) if len(parts) == 1 else parts  # a Counter counts in whole numbers
    keys = replace(place, limits=ANY, text=True)  # JSON has text for every key
    return origin(
        {
            _convert(of_key, str(key), keys.inside(key)): _convert(of_value, one, place.inside(key))
            for key, one in value.items()
        }
    )


def _scalar(kind: Any, value: Any, place: _Place) -> Any:
    found = _parsed(kind, value) if place.text and isinstance(value, str) else value
    if kind is float and type(found) is int:
        found = float(found)
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        place.refuse(value, kind)
    if kind in (int, float) and not place.limits.hold(found):
        place.refuse(value, kind)
    if kind is str and place.limits.names and found not in place.limits.names:
        place.refuse(value, kind)
    return found


def _parsed(kind: Any, text: str) -> Any:
    """A text as a number or truth value; the text itself if it is none."""
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _limits(field: Field[Any]) -> Bounds:
    found: Bounds = field.metadata.get("limits", ANY)
    return found


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default
