"""Lists of JSON objects, read one at a time wherever the blocks of a file end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.corpora import records
from nestag.errors import InputError
from raw_texts import saved


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "begins with ''"),
        ('{"id": 1}', "begins with '{'"),
        ('[{"id": 1}', r"'' after an object; put a comma"),
        ('[{"id": 1} {', r"'{' after an object"),
        ('[{"id": 1},', "not JSON"),
        ('[{"id": 1, "da', "not JSON"),
        ("[1]", "int where an object should be"),
        ("[] x", "'x' after the end of the list"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_lists_that_are_not_whole(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        list(records.read_json_list(saved(tmp_path, "x.json", content)))


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=20), max_size=3), max_size=5), st.integers(1, 9))
def test_lists_are_read_whatever_the_blocks(values: list[dict[str, str]], size: int) -> None:
    content = "\ufeff" + json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    window = records._Window(content[at : at + size] for at in range(0, len(content), size))
    found = []
    sign = window.sign()
    while sign != "]" and window.sign_after() != "]":
        found.append(window.value())
        sign = window.sign()
    assert found == values
