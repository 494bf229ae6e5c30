"""Documents as files of a folder: names that come back, and what cannot be one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.corpora.folders import document_name, file_name
from nestag.corpora.format import Format
from nestag.corpora.formats import brat, cas
from nestag.errors import InputError


@pytest.mark.parametrize(("entry", "path"), [(brat.FORMAT, "x.ann.gz"), (cas.FORMAT, "x.zip.gz"), (brat.FORMAT, "-")])
def test_folders_are_not_packed_or_piped(entry: Format, path: str, tmp_path: Path) -> None:
    assert entry.write
    with pytest.raises(InputError, match=r"drop the \.gz|cannot go through a pipe"):
        entry.write([], path if path == "-" else tmp_path / path)


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_file_names_come_back(name: str) -> None:
    safe = file_name(name)
    assert document_name(safe) == name
    assert "/" not in safe
    assert safe not in (".", "..")
