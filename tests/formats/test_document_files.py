"""Documents as files of a folder: names, and limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from full_disk import full_disk
from nestag.data.document import Utf16
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import bioc, brat, cas, parquet, webanno
from nestag.formats.corpus import read_corpus
from nestag.formats.files import writing_folder
from nestag.formats.folders import document_name, file_name
from nestag.formats.registry import Format


@pytest.mark.parametrize(("entry", "path"), [(brat.FORMAT, "x.ann.gz"), (cas.FORMAT, "x.zip.gz"), (brat.FORMAT, "-")])
def test_folders_cannot_be_compressed_or_piped(entry: Format, path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name an \.ann|drop the \.gz|cannot go through a pipe"):
        entry.write([], path if path == "-" else tmp_path / path)


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_file_names_round_trip(name: str) -> None:
    safe = file_name(name)
    assert document_name(safe) == name
    assert "/" not in safe
    assert safe not in (".", "..")


LONG = Sentence(["word"] * 400, [Entity(0, 1, "PER")], id="new-1")
SHORT = Sentence(["word"] * 150, [Entity(place, place + 1, "PER") for place in range(150)], id="new-1")


@pytest.mark.parametrize(
    ("entry", "sentence", "path", "full"),
    [
        (brat.FORMAT, LONG, "out", "out/new.txt"),
        (brat.FORMAT, SHORT, "out", "out/new.ann"),
        (brat.FORMAT, LONG, "x.ann", "x.txt"),
        (webanno.FORMAT, LONG, "out", "out/new.tsv"),
        (cas.FORMAT, LONG, "x.xmi", "x.xmi"),
    ],
)
def test_full_disk_error_names_the_file(
    entry: Format, sentence: Sentence, path: str, full: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if entry is cas.FORMAT:
        cas.FORMAT.write([Sentence(["a"])], "y.xmi")  # its type system is long, and there already
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError) as caught, full_disk():
        entry.write([sentence], path)
    assert caught.value.source == full
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (brat.FORMAT, ""),
        (webanno.FORMAT, ""),
        (cas.FORMAT, ""),
        (parquet.FORMAT, "a.parquet"),
        (bioc.FORMATS[0], "a.xml"),
    ],
)
def test_temporary_files_are_not_read(entry: Format, name: str, tmp_path: Path) -> None:
    corpus = [Sentence(["a", "b"], [Entity(0, 1, "PER")], id="d-1")]
    (tmp_path / "data").mkdir()
    entry.write(corpus, tmp_path / "data" / (name or "whole"))
    with writing_folder(tmp_path / "data" / "half") as part:
        entry.write(corpus, part / (name or "d"))
        assert len(list(entry.read(tmp_path / "data"))) == 1


def test_file_names_may_be_invalid_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt"))
    path.write_text("Ada slept", encoding="utf-8")
    (sentence,) = read_corpus(path, tokenizer="whitespace")
    assert sentence.id == "\ufffd-1"
    path.with_suffix(".ann").write_text("T1\tPER 0 3\tAda\n", encoding="utf-8")
    (sentence,) = read_corpus(path.with_suffix(".ann"), tokenizer="whitespace")
    assert sentence.id == "\ufffd-1"


@given(st.text(st.sampled_from("a😀é👍"), max_size=12))
def test_utf16_units_and_characters_are_inverse(content: str) -> None:
    units = Utf16(content)
    for place in range(len(content) + 1):
        assert units.to_units(place) == len(content[:place].encode("utf-16-le")) // 2
        assert units.from_units(units.to_units(place)) == place
    assert units.differs == any(sign > "\uffff" for sign in content)
