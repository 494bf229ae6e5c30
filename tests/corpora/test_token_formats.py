"""Formats of tokens, all of them: every one gives back what it was given, and is known by its content."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag.corpora.format import Format
from nestag.corpora.formats import brackets, columns, jsonl, nner, parquet
from nestag.corpora.registry import available, format_for, format_of
from nestag.crossing import set_aside_crossing
from nestag.data import Entity, Origin, Sentence
from nestag.errors import InputError
from strategies import typed_places
from token_texts import CORPORA, read, there_and_back, with_corpora, written

TOKEN_FORMATS = [entry for entry in available().values() if entry.write and not entry.raw_text]
TEXTS = [entry for entry in TOKEN_FORMATS if entry != parquet.FORMAT]
OURS = [entry for entry in TEXTS if entry != jsonl.FORMAT]
AWKWARD = (
    " ", "a b", "\t", "\n", "\r", "\u2028", "\x85", "\ufeff", "\xa0", "#", "# doc: x", "#x", "[", "]", "[PER", "\\",
    "\\s", "\\u0020", "\\u005c", "\\\\u0009", "|", ",", "-", "(", ")", "_", "O", "B-PER", "1", "0,0 PER", "Entity=(1",
)  # fmt: skip


texts = st.sampled_from(AWKWARD) | st.text(min_size=1, max_size=4)
ids = st.none() | texts | st.just("") | st.builds("{}-{}".format, st.sampled_from("ab"), st.integers(0, 3))
some_tokens = st.lists(texts, min_size=1, max_size=8)


def place_in(folder: Path, entry: Format, packed: str = "") -> Path:
    return folder / f"f{entry.suffixes[0]}{packed}"


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    tokens = draw(some_tokens)
    drawn = draw(typed_places(len(tokens), texts, 6))
    return Sentence(tokens, [Entity(min(a, b), max(a, b), kind) for a, b, kind in drawn if a != b], draw(ids))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
@given(st.lists(sentences(), max_size=4))
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_again(entry: Format, packed: bool, drawn: list[Sentence]) -> None:
    with TemporaryDirectory() as folder:
        path = place_in(Path(folder), entry, ".gz" if packed else "")
        try:
            back, report = there_and_back(entry, drawn, path)
        except InputError as error:
            if "cross" not in str(error):
                raise
            drawn = [sentence.with_entities(set_aside_crossing(sentence.entities).kept) for sentence in drawn]
            back, report = there_and_back(entry, drawn, path)
    assert [(s.tokens, s.entities) for s in back] == [(s.tokens, s.entities) for s in drawn]
    lost = [(a.id, b.id) for a, b in zip(drawn, back, strict=True) if a.id != b.id]
    assert all(after is None for _, after in lost)
    assert len(lost) == report.counts["sentence id left out"]


@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
def test_awkward_words_and_types_survive(entry: Format, tmp_path: Path) -> None:
    for text in AWKWARD:
        given_sentences = [Sentence([text, "x", text], [Entity(0, 2, text), Entity(0, 1, f"a{text}b")])]
        assert there_and_back(entry, given_sentences, place_in(tmp_path, entry))[0] == given_sentences


HOLD_NO_IDS = (brackets.FORMAT, columns.FORMAT, nner.FORMAT)


@pytest.mark.parametrize("entry", [e for e in TOKEN_FORMATS if e not in HOLD_NO_IDS], ids=lambda entry: entry.name)
def test_formats_that_hold_ids_hold_all(entry: Format, tmp_path: Path) -> None:
    given_sentences = [Sentence(["a"], id=name) for name in (None, "", " x ", "d-1", "d-7", None, "e-2", "a\nb")]
    assert there_and_back(entry, given_sentences, place_in(tmp_path, entry))[0] == given_sentences


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_what_no_token_format_holds_is_reported(entry: Format, tmp_path: Path) -> None:
    origin = Origin("d", 0, "a", ((0, 1),))
    back, report = there_and_back(entry, [Sentence([], id="e"), Sentence(["a"], origin=origin)], tmp_path / "f")
    assert [s.tokens for s in back] == [("a",)]
    assert report.counts == {"sentence without tokens left out": 1, "place in a text left out": 1}


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_half_a_character_is_refused_and_leaves_no_file(entry: Format, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sentence 2: .*half of a character"):
        there_and_back(entry, [Sentence(["a"]), Sentence(["\ud800"])], tmp_path / "f")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_files_are_recognised(entry: Format, tmp_path: Path) -> None:
    sentence = Sentence(["the", "USA"], [Entity(0, 2, "GPE")], "a-1")
    text = written(entry, tmp_path / "file", sentence)
    seen = [other.name for other in available().values() if other.looks_like and other.looks_like(text)]
    assert seen == [entry.name]
    assert format_of(tmp_path / "file") == entry
    for suffix in set(entry.suffixes) - {".tsv"}:  # which may be WebAnno's as well
        assert format_for(f"x{suffix}.gz") == entry


def test_an_escape_that_is_never_written_is_ordinary_text(tmp_path: Path) -> None:
    for token in ("1\\/2", "C:\\temp\\new", "\\u00e9", "\\ud800", "\\"):
        assert read(nner.FORMAT, tmp_path / "f", f"{token}\n\n\n")[0] == [Sentence([token])]
        assert read(columns.FORMAT, tmp_path / "f", f"{token}\tO\n")[0] == [Sentence([token])]


@with_corpora
@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
@pytest.mark.parametrize("corpus", ["genia", "germeval2014", "gum", "litbank", "nne_notext"])
def test_corpora_lose_nothing(entry: Format, corpus: str, tmp_path: Path) -> None:
    gold = list(jsonl.read(CORPORA / corpus / "dev.jsonl.gz"))
    if entry == brackets.FORMAT:
        gold = [s.with_entities(set_aside_crossing(s.entities).kept) for s in gold]
    back, _ = there_and_back(entry, gold, place_in(tmp_path, entry, ".gz"))
    assert [(s.tokens, s.entities) for s in back] == [(s.tokens, s.entities) for s in gold]
