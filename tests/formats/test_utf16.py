"""Offsets in units of UTF-16."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nestag.formats.shared.utf16 import Utf16


@given(st.text(st.sampled_from("a😀é👍"), max_size=12))
def test_units_and_characters_are_inverse(content: str) -> None:
    units = Utf16(content)
    for place in range(len(content) + 1):
        assert units.to_units(place) == len(content[:place].encode("utf-16-le")) // 2
        assert units.from_units(units.to_units(place)) == place
    assert units.differs == any(sign > "\uffff" for sign in content)
