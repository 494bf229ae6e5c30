"""All formats of tokens round-trip and are detected by content."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from full_disk import full_disk
from nestag.data.crossing import drop_crossing
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.errors import InputError
from nestag.formats import brackets, columns, jsonl, nner, parquet
from nestag.formats.registry import Format, available, format_for, format_of
from raw_texts import read_all, saved
from token_texts import CORPORA, read, there_and_back, with_corpora, written

TOKEN_FORMATS = [entry for entry in available().values() if not entry.raw_text]
TEXTS = [entry for entry in TOKEN_FORMATS if entry != parquet.FORMAT]
OURS = [entry for entry in TEXTS if entry != jsonl.FORMAT]


def place_in(folder: Path, entry: Format, packed: str = "") -> Path:
    return folder / f"f{entry.suffixes[0]}{packed}"


@pytest.mark.parametrize("entry", [columns.FORMAT, parquet.FORMAT], ids=lambda entry: entry.name)
def test_full_temporary_folder_is_named(entry: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with pytest.raises(InputError) as caught, full_disk():
        entry.write([Sentence(["word"] * 10_000)], tmp_path / "f")
    assert caught.value.source == str(temporary)
    assert list(tmp_path.rglob("*")) == [temporary]


HOLD_NO_IDS = (brackets.FORMAT, columns.FORMAT, nner.FORMAT)


@pytest.mark.parametrize("entry", [e for e in TOKEN_FORMATS if e not in HOLD_NO_IDS], ids=lambda entry: entry.name)
def test_formats_with_ids_keep_all_ids(entry: Format, tmp_path: Path) -> None:
    given_sentences = [Sentence(["a"], id=name) for name in (None, "", " x ", "d-1", "d-7", None, "e-2", "a\nb")]
    assert there_and_back(entry, given_sentences, place_in(tmp_path, entry))[0] == given_sentences


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_losses_of_token_formats_are_reported(entry: Format, tmp_path: Path) -> None:
    origin = Origin("d", 0, "a", ((0, 1),))
    back, report = there_and_back(entry, [Sentence([], id="e"), Sentence(["a"], origin=origin)], tmp_path / "f")
    assert [s.tokens for s in back] == [("a",)]
    assert report.counts == {"sentence without tokens dropped": 1, "place in a text dropped": 1}


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_formats_are_detected(entry: Format, tmp_path: Path) -> None:
    sentence = Sentence(["the", "USA"], [Entity(0, 2, "GPE")], "a-1")
    text = written(entry, tmp_path / "file", sentence)
    seen = [other.name for other in available().values() if other.looks_like and other.looks_like(text)]
    assert seen == [entry.name]
    assert format_of(tmp_path / "file") == entry
    for suffix in set(entry.suffixes) - {".tsv"}:  # which may be WebAnno's as well
        assert format_for(f"x{suffix}.gz") == entry


@pytest.mark.parametrize(
    ("entry", "text"),
    [(brackets.FORMAT, "a\n[PER b\nc\n"), (nner.FORMAT, "a\n\n\nb\nPER\n\nc\n\n\n")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_an_invalid_sentence_is_skipped_on_request(entry: Format, text: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "f", text)
    with pytest.raises(InputError, match="skip_bad=True"):
        read_all(entry, path)
    sentences, report = read_all(entry, path, Options(skip_bad=True))
    assert [sentence.tokens for sentence in sentences] == [("a",), ("c",)]
    assert report.counts == {"bad record skipped": 1}


def test_unknown_escape_is_ordinary_text(tmp_path: Path) -> None:
    for token in ("1\\/2", "C:\\temp\\new", "\\u00e9", "\\ud800", "\\"):
        assert read(nner.FORMAT, tmp_path / "f", f"{token}\n\n\n")[0] == [Sentence([token])]
        assert read(columns.FORMAT, tmp_path / "f", f"{token}\tO\n")[0] == [Sentence([token])]


@with_corpora
@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
@pytest.mark.parametrize("corpus", ["genia", "germeval2014", "gum", "litbank", "nne_notext"])
def test_corpora_round_trip(entry: Format, corpus: str, tmp_path: Path) -> None:
    gold = list(jsonl.read(CORPORA / corpus / "dev.jsonl.gz"))
    if entry == brackets.FORMAT:
        gold = [s.with_entities(drop_crossing(s.entities).nested) for s in gold]
    back, _ = there_and_back(entry, gold, place_in(tmp_path, entry, ".gz"))
    assert [(s.tokens, s.entities) for s in back] == [(s.tokens, s.entities) for s in gold]
