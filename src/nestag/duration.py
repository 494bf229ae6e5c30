"""Durations in words, for people."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time in words, the two largest units of it.

    >>> duration(3.24), duration(123), duration(7_380)
    ('3 s', '2 min 3 s', '2 h 3 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600:,} h {whole % 3_600 // 60} min"
