"""A check that an ONNX file is a plain graph, such as `nestag export onnx` writes.

ONNX files can name other files and contain functions, subgraphs and operators of other libraries. The file is parsed as
protobuf, and only the fields listed here are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

from nestag.errors import InputError

_ANY, _DOMAIN, _LOCATION = "", "domain", "location"  # fields without messages
_VARINT, _LENGTH = 0, 2
_WIDTHS = {1: 8, 5: 4}

FIELDS = {
    "model": dict.fromkeys((1, 2, 3, 4, 5, 6, 8, 14), _ANY) | {7: "graph"},
    "graph": dict.fromkeys((2, 10, 11, 12, 13, 14, 16), _ANY) | {1: "node", 5: "tensor"},
    "node": dict.fromkeys((1, 2, 3, 4, 6, 9), _ANY) | {5: "attribute", 7: _DOMAIN},
    "attribute": dict.fromkeys((1, 2, 3, 4, 7, 8, 9, 13, 20), _ANY) | {5: "tensor"},
    "tensor": dict.fromkeys((1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 16), _ANY) | {14: _LOCATION},
}
"""Field numbers of each message in onnx.proto, and what they hold."""


class _Field(NamedTuple):
    number: int
    wire: int
    start: int  # of its value
    end: int
    value: int  # of a varint


def check_graph(path: Path) -> None:
    """Refuse a file that is not a plain graph."""
    if not path.stat().st_size:
        raise InputError("it is empty; export it again", str(path))
    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        try:
            _check(data, "model", 0, len(data))
        except ValueError as error:
            raise InputError(f"it is not a graph that nestag wrote: {error}; export it again", str(path)) from None


def _check(data: mmap, message: str, start: int, end: int) -> None:
    for field in _fields(data, start, end):
        kind = FIELDS[message].get(field.number)
        if kind is None:
            raise ValueError(f"a {message} has field {field.number}")
        if kind == _LOCATION and (field.wire, field.value) != (_VARINT, 0):
            raise ValueError("its weights are in other files")
        if kind in FIELDS:
            if field.wire != _LENGTH:
                raise ValueError(f"field {field.number} of a {message} has the wire type {field.wire}")
            _check(data, kind, field.start, field.end)
        elif kind == _DOMAIN and (field.wire, field.start) != (_LENGTH, field.end):
            raise ValueError(f"it has an operator of {data[field.start : field.end][:99]!r}")


def _fields(data: mmap, start: int, end: int) -> Iterator[_Field]:
    while start < end:
        key, start = _varint(data, start, end)
        number, wire = key >> 3, key & 7
        value = 0
        if wire == _VARINT:
            value, stop = _varint(data, start, end)
        elif wire == _LENGTH:
            size, start = _varint(data, start, end)
            stop = start + size
        elif wire in _WIDTHS:
            stop = start + _WIDTHS[wire]
        else:
            raise ValueError(f"there is a wire type {wire}")
        if stop > end:
            raise ValueError("it is cut short")
        yield _Field(number, wire, start, stop, value)
        start = stop


def _varint(data: mmap, start: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = 0
    for at in range(start, min(end, start + 10)):
        value |= (data[at] & 127) << 7 * (at - start)
        if data[at] < 128:
            return value, at + 1
    raise ValueError("a number is malformed")
