"""Validation: dataclasses made from TOML, JSON or text, with every key and value checked.

    @dataclass(frozen=True)
    class Recipe:
        epochs: int = setting(12, minimum=1, help="epochs of training")

    from_mapping(Recipe, {"epochs": 3}, "my.toml")            values as in TOML and JSON
    changed(recipe, {"epochs": "3"}, "--set", text=True)      a copy with other values, as on a command line
    to_mapping(recipe)                                        the inverse of from_mapping

The annotation of a field says what it takes: int, float, str, bool, Literal, `X | None`, tuple, list, dict, Counter,
a NamedTuple (as a list or a table) or another dataclass (as a table). Limits are given with `setting`; those of a tuple
or dict hold for each of its values. NaN and infinity are always refused.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from nestag.errors import SettingError


@dataclass(frozen=True)
class Bounds:
    """The limits of a value; None is no limit."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: Callable[[], Iterable[str]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names to choose from, none if any text is allowed."""
        return tuple(self.choices()) if self.choices else ()

    def allow(self, number: float) -> bool:
        """Return whether a number is finite and within the limits."""
        return (
            -math.inf < number < math.inf
            and (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        words = {"of at least": self.minimum, "above": self.above, "of at most": self.maximum, "below": self.below}
        return " and ".join(f"{word} {limit:g}" for word, limit in words.items() if limit is not None)


ANY = Bounds()


def describe(kind: Any, limits: Bounds = ANY) -> str:
    """Return what a field of a type takes, in words.

    >>> describe(int, Bounds(minimum=1)), describe(float | None, Bounds(above=0, below=1)), describe(tuple[str, ...])
    ('a whole number of at least 1', 'a number above 0 and below 1, or none', 'a list, each text')
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return ", or ".join(describe(part, limits) for part in parts)
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin in (tuple, list):
        return f"a list, each {describe(parts[0], limits)}"
    if kind is str and limits.names:
        return f"one of {', '.join(limits.names)}"
    simple = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "none"}
    words = simple.get(kind, "a list" if hasattr(kind, "_fields") else "a table")
    return f"{words} {limits}" if kind in (int, float) and str(limits) else words


T = TypeVar("T")


def setting(default: Any = MISSING, *, factory: Callable[[], Any] | None = None, help: str = "", **limits: Any) -> Any:
    """Declare a field of a dataclass with a line of help and the limits of `Bounds`; `factory` makes the default.

    >>> setting(3, minimum=1, help="epochs of training").metadata["limits"].minimum
    1
    """
    metadata = {"limits": Bounds(**limits), "help": help}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


def from_mapping(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """Make a dataclass from the values of a table; errors name `where` as the place.

    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = setting(80, minimum=1)
    >>> from_mapping(Size, {"width": 0}, "my.toml")
    Traceback (most recent call last):
    nestag.errors.SettingError: my.toml: width is 0; it takes a whole number of at least 1
    """
    return _build(cls, values, _Place(where))


def to_mapping(settings: Any) -> dict[str, Any]:
    """Return a dataclass as a table of TOML or JSON, the inverse of `from_mapping`; a NamedTuple becomes a list."""
    return {field.name: _plain(getattr(settings, field.name)) for field in fields(settings)}


def changed(settings: T, values: Mapping[str, Any], where: str, *, text: bool = False) -> T:
    """Return a copy with other values; with `text` they are text, as on a command line."""
    return replace(settings, **_check(type(settings), values, _Place(where, text=text)))  # type: ignore[type-var]


class Described(NamedTuple):
    """A setting for a help page."""

    name: str
    takes: str
    default: Any  # None if it has none
    help: str


def described(cls: type) -> tuple[Described, ...]:
    """Return every setting of a dataclass that has a line of help."""
    settings = []
    for known in fields(cls):
        if "help" in known.metadata:
            default = known.default if known.default_factory is MISSING else known.default_factory()
            takes = describe(_hints(cls)[known.name], _limits(known))
            default = None if default is MISSING else default
            settings.append(Described(known.name, takes, default, known.metadata["help"]))
    return tuple(settings)


@dataclass(frozen=True)
class _Place:
    """The place of a value, its limits, and whether it is text."""

    where: str
    key: str = ""  # with those of the tables around it, joined by full stops
    limits: Bounds = ANY
    text: bool = False

    def inside(self, name: object, limits: Bounds | None = None) -> _Place:
        key = f"{self.key}.{name}" if self.key else str(name)
        return replace(self, key=key, limits=self.limits if limits is None else limits)

    def refuse(self, value: object, kind: Any) -> NoReturn:
        raise SettingError(f"{self.key or 'it'} is {value!r}; it takes {describe(kind, self.limits)}", self.where)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return to_mapping(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _build(cls: type[T], values: Any, place: _Place) -> T:
    checked = _check(cls, values, place)
    for known in fields(cls):  # type: ignore[arg-type]
        if known.name not in checked and known.default is MISSING and known.default_factory is MISSING:
            raise SettingError(f"the key {place.inside(known.name).key!r} is missing", place.where)
    return cls(**checked)


def _check(cls: type, values: Any, place: _Place) -> dict[str, Any]:
    """Return the values, each converted to the type of its field."""
    if not isinstance(values, Mapping):
        place.refuse(values, dict)
    known = {field.name: field for field in fields(cls) if field.init}
    for name in values:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise SettingError(f"there is no setting {place.inside(name).key!r}; {hint}", place.where)
    return {
        name: _convert(_hints(cls)[name], value, place.inside(name, _limits(known[name])))
        for name, value in values.items()
    }


def _convert(kind: Any, value: Any, place: _Place) -> Any:
    """Return a value as its type, or raise a SettingError."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return value
    if origin in (Union, UnionType):
        return _union(parts, value, place, kind)
    if origin is Literal:
        return value if value in parts else place.refuse(value, kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return value if isinstance(value, kind) else _build(kind, value, place)
    if hasattr(kind, "_fields"):
        return value if isinstance(value, kind) else _named_tuple(kind, value, place)
    if origin in (tuple, list):
        return _sequence(kind, value, place)
    if isinstance(origin or kind, type) and issubclass(origin or kind, dict):
        return _table(kind, value, place)
    return _scalar(kind, value, place)


def _union(parts: tuple[Any, ...], value: Any, place: _Place, kind: Any) -> Any:
    """Return a value as the first type of a union that takes it."""
    if NoneType in parts and (value is None or value == "none"):
        return None
    others = [part for part in parts if part is not NoneType]
    if len(others) == 1:
        return _convert(others[0], value, place)  # its own error says more
    for part in others:
        try:
            return _convert(part, value, place)
        except SettingError:
            continue
    return place.refuse(value, kind)


def _named_tuple(kind: Any, value: Any, place: _Place) -> Any:
    hints = _hints(kind)
    is_list = isinstance(value, list | tuple) and len(value) <= len(hints)
    items = dict(zip(hints, value, strict=False)) if is_list else value
    if not isinstance(items, Mapping) or not hints.keys() - kind._field_defaults.keys() <= items.keys() <= hints.keys():
        place.refuse(value, kind)
    return kind(**{name: _convert(hints[name], item, place.inside(name)) for name, item in items.items()})


def _sequence(kind: Any, value: Any, place: _Place) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if place.text and isinstance(value, str):
        value = [part.strip() for part in value.split(",")] if value.strip() else []
    if not isinstance(value, list | tuple):
        place.refuse(value, kind)
    if origin is list or parts[-1] is ...:
        parts = (parts[0],) * len(value)
    if len(value) != len(parts):
        place.refuse(value, kind)
    items = enumerate(zip(parts, value, strict=True))
    return origin(_convert(part, item, place.inside(number)) for number, (part, item) in items)


def _table(kind: Any, value: Any, place: _Place) -> Any:
    if not isinstance(value, Mapping):
        place.refuse(value, kind)
    origin, parts = get_origin(kind) or kind, get_args(kind) or (str, Any)
    of_key, of_value = (*parts, int) if len(parts) == 1 else parts  # a Counter counts in whole numbers
    keys = replace(place, limits=ANY, text=True)  # JSON has text for every key
    pairs = ((_convert(of_key, str(key), keys.inside(key)), place.inside(key), item) for key, item in value.items())
    return origin({key: _convert(of_value, item, inside) for key, inside, item in pairs})


def _scalar(kind: Any, value: Any, place: _Place) -> Any:
    parsed = _parse(kind, value) if place.text and isinstance(value, str) else value
    if kind is float and type(parsed) is int and abs(parsed) <= sys.float_info.max:
        parsed = float(parsed)
    if (
        not isinstance(parsed, kind)
        or (kind is int and isinstance(parsed, bool))
        or (kind in (int, float) and not place.limits.allow(parsed))
        or (kind is str and place.limits.names and parsed not in place.limits.names)
    ):
        place.refuse(value, kind)
    return parsed


def _parse(kind: Any, text: str) -> Any:
    """Return a text as a number or truth value, or the text itself if it is neither."""
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
    limits: Bounds = field.metadata.get("limits", ANY)
    return limits
