"""Text from outside made safe to show: no character in it can move a cursor, change a colour or end a line."""

from __future__ import annotations


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
