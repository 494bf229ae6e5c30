"""Offsets as JavaScript and Java count them <-> offsets in characters.

They count units of UTF-16, in which a character beyond U+FFFF (an emoji, say) is two:

    😀 Bob   characters   0 1 2 3 4       Bob is 2 to 5
             units        0 2 3 4 5       Bob is 3 to 6
"""

from __future__ import annotations

from bisect import bisect_left

from nestag.errors import DataError


class Utf16:
    """The two ways to count the places of one text.

    >>> units = Utf16("😀 Bob")
    >>> units.from_units(3), units.to_units(2), units.differs
    (2, 3, True)
    """

    def __init__(self, text: str) -> None:
        wide = [] if text.isascii() else [place for place, character in enumerate(text) if character > "\uffff"]
        self._characters = wide  # where the characters of two units stand
        self._units = [place + before for before, place in enumerate(wide)]

    @property
    def differs(self) -> bool:
        """Whether the text has a character of two units."""
        return bool(self._characters)

    def to_units(self, place: int) -> int:
        """A place in characters, counted in units."""
        return place + bisect_left(self._characters, place)

    def from_units(self, place: int) -> int:
        """A place in units, counted in characters; a DataError if it is inside a character."""
        before = bisect_left(self._units, place)
        if before and self._units[before - 1] + 1 == place:
            raise DataError(
                f"offset {place} is inside a character when units of UTF-16 are counted; count those, not characters"
            )
        return place - before
