"""Characters of files: bytes that are none, and units of UTF-16."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.corpora.characters import read_text
from nestag.corpora.utf16 import Utf16
from nestag.errors import InputError
from raw_texts import saved


@pytest.mark.parametrize("at", [0, 5, 2**20 - 1, 2**20, 2**20 + 1])
def test_bytes_that_are_no_text_are_named(at: int, tmp_path: Path) -> None:
    content = b"\xc3\xa9" * (2**19 + 5)
    content = content[: at - at % 2] + b"\xff" + content[at - at % 2 :]
    with pytest.raises(InputError, match=rf"byte {at - at % 2} \(0xff\) is not UTF-8"):
        read_text(saved(tmp_path, "x.txt", content))
    with pytest.raises(InputError, match=r"byte 2 \(0xc3\) is not UTF-8"):
        read_text(saved(tmp_path, "x.txt", b"ab\xc3"))


@given(st.text(st.sampled_from("a😀é👍"), max_size=12))
def test_units_and_characters_are_inverse(content: str) -> None:
    units = Utf16(content)
    for place in range(len(content) + 1):
        assert units.to_units(place) == len(content[:place].encode("utf-16-le")) // 2
        assert units.from_units(units.to_units(place)) == place
    assert units.differs == any(sign > "\uffff" for sign in content)
