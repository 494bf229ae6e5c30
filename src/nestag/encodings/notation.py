r"""Labels as text in files.

    S        the root                     -      no unary chain
    PER      an entity type               S+PER  the root and an entity over the whole sentence
    PER'     a helper of binarization     A+B    two entities over the same tokens, A outside

A type name may have any characters. A backslash escapes those that would be misread: `+`, `'` and the backslash
itself, `S` and `-` if they are a whole type name, characters that end a column or a line, and the byte order mark.
"""

from __future__ import annotations

import re

from nestag.data.tree import Name
from nestag.errors import LabelError

BREAKS = "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\ufeff"
"""Characters that end a line or a column in some program, and the byte order mark."""
_WRITTEN = {char: f"\\u{ord(char):04x}" for char in BREAKS} | {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\"}
_FIELD = re.compile(rf"[\\{BREAKS}]")
_TYPE = re.compile(rf"[\\+'{BREAKS}]")
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.|$)", re.DOTALL)
_READ = {"t": "\t", "n": "\n", "r": "\r"}
_PRIME = re.compile(r"(?<!\\)(?:\\\\)*'\Z")  # not escaped
_PART = re.compile(r"(?:[^\\+]|\\.)+", re.DOTALL)


def write_field(text: str) -> str:
    r"""Write any text as one column of one line.

    >>> write_field("a\tb")
    'a\\tb'
    """
    return _FIELD.sub(lambda match: _WRITTEN[match[0]], text)


def read_field(text: str, marks: str = "\\") -> str:
    """Read what `write_field` writes; a backslash may come before the characters `marks`."""
    if "\\" not in text:
        return text

    def char(match: re.Match[str]) -> str:
        escaped = match[1]
        if len(escaped) == 5:
            if escaped.startswith(("ud8", "ud9", "uda", "udb", "udc", "udd", "ude", "udf")):
                raise LabelError(f"{text!r} has half of a character (\\{escaped}); write the whole character as it is")
            return chr(int(escaped[1:], 16))
        if escaped in _READ:
            return _READ[escaped]
        if not escaped or escaped not in marks:
            raise LabelError(f"{text!r} has the unknown escape \\{escaped}; write a backslash as \\\\")
        return escaped

    return _ESCAPE.sub(char, text)


def write_chain(types: tuple[str, ...]) -> str:
    r"""Write a unary chain, `-` if it is empty.

    >>> print(write_chain(("PER",)), write_chain(()), write_chain(("S", "a+b")))
    PER - \S+a\+b
    """
    return "+".join(map(_write_type, types)) if types else "-"


def read_chain(text: str) -> tuple[str, ...]:
    """Read what `write_chain` writes."""
    if text == "-":
        return ()
    name = read_name(text)
    if name.root or name.prime:
        raise LabelError(f"u is {text!r}; it takes entity types alone (write \\S and \\' where a type has that name)")
    return name.types


def write_name(name: Name) -> str:
    """Write a node's name.

    >>> write_name(Name(("PER",), root=True)), write_name(Name(("PER",), prime=True))
    ('S+PER', "PER'")
    """
    parts = ["S"] * name.root + [_write_type(kind) for kind in name.types]
    return ("+".join(parts) if parts else "-") + "'" * name.prime


def read_name(text: str) -> Name:
    """Read what `write_name` writes."""
    prime = bool(_PRIME.search(text))
    body = text[:-1] if prime else text
    if body == "-":
        return Name((), prime=prime)
    parts = _PART.findall(body)
    if "+".join(parts) != body or not parts:
        raise LabelError(f"{text!r} is not a chain of types; join them with single + signs")
    root = parts[0] == "S"
    return Name(tuple(_read_type(part, text) for part in parts[root:]), root, prime)


def _write_type(kind: str) -> str:
    if kind in ("S", "-"):
        return "\\" + kind
    return _TYPE.sub(lambda match: _WRITTEN.get(match[0], "\\" + match[0]), kind)


def _read_type(part: str, text: str) -> str:
    if part in ("S", "-") or re.search(r"(?<!\\)(?:\\\\)*'", part):
        raise LabelError(f"{text!r} has {part!r} inside a chain; escape it with a backslash if a type has that name")
    return read_field(part, "\\+'S-")
