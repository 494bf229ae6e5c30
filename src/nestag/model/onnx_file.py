"""Check that an ONNX file holds a plain graph, such as `nestag export onnx` writes.

ONNX can name other files (external data, compiled contexts), hold functions, loops and operators of other libraries.
The file is walked as the protobuf that it is, and only the fields listed here may occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

from nestag.errors import InputError

_SKIPPED = ""  # a value that holds no message, or a message that can name nothing
_OPERATOR, _DOMAIN, _LOCATION = "operator", "domain", "location"
_VARINT, _LENGTH = 0, 2
_WIDTHS = {1: 8, 5: 4}

FIELDS = {
    "model": dict.fromkeys((1, 2, 3, 4, 5, 6, 8, 14), _SKIPPED) | {7: "graph"},
    "graph": dict.fromkeys((2, 10, 11, 12, 13, 14, 16), _SKIPPED) | {1: "node", 5: "tensor"},
    "node": dict.fromkeys((1, 2, 3, 6, 9), _SKIPPED) | {4: _OPERATOR, 5: "attribute", 7: _DOMAIN},
    "attribute": dict.fromkeys((1, 2, 3, 4, 7, 8, 9, 13, 20), _SKIPPED) | {5: "tensor"},
    "tensor": dict.fromkeys((1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 16), _SKIPPED) | {14: _LOCATION},
}
"""Field numbers of each message in onnx.proto, and what they hold."""

MICROSOFT = "com.microsoft"
OPERATORS = {
    "BiasGelu", "EmbedLayerNormalization", "FastGelu", "Gelu", "MultiHeadAttention",
    "QuickGelu", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
}  # fmt: skip
"""Operators of onnxruntime itself, of which others open files; those of ONNX compute and do nothing else."""


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
    names = {_OPERATOR: "", _DOMAIN: ""}
    for field in _fields(data, start, end):
        kind = FIELDS[message].get(field.number)
        if kind is None:
            raise ValueError(f"a {message} has field {field.number}")
        if kind == _LOCATION and (field.wire, field.value) != (_VARINT, 0):
            raise ValueError("its weights are in other files")
        if kind in FIELDS or kind in names:
            if field.wire != _LENGTH:
                raise ValueError(f"field {field.number} of a {message} has the wire type {field.wire}")
            if kind in FIELDS:
                _check(data, kind, field.start, field.end)
            else:
                names[kind] = data[field.start : field.end].decode()
    operator, domain = names.values()
    if domain not in ("", MICROSOFT) or (domain == MICROSOFT and operator not in OPERATORS):
        raise ValueError(f"it has the operator {domain}.{operator}")


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
    """Return a number and where it ends; one that takes more bytes than it needs is refused."""
    value = 0
    for at in range(start, min(end, start + 10)):
        value |= (data[at] & 127) << 7 * (at - start)
        if data[at] < 128:
            if (data[at] == 0 and at > start) or value >= 2**64:
                break
            return value, at + 1
    raise ValueError("a number is malformed")
