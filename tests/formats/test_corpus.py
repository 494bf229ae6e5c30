"""Reading and writing whole corpora from Python."""

from pathlib import Path

import pytest

import nestag
from nestag import Entity, InputError, Sentence, SettingError, UnknownNameError

SENTENCES = [Sentence(["the", "USA"], [Entity(0, 2, "GPE"), Entity(1, 2, "GPE")], "a"), Sentence(["x"], [], "b")]


def test_every_format_round_trips(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.gz", "a.conllu"):
        assert nestag.write_corpus(SENTENCES, tmp_path / name).summary() == []
        found = nestag.read_corpus(tmp_path / name)
        assert found == SENTENCES
        assert found.report.summary() == []


def test_report_lists_merged_duplicates(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"tokens": ["x"], "entities": [{"start": 0, "end": 1, "type": "A"}, {"start": 0, "end": 1, "type": "A"}]}\n'
    )
    found = nestag.read_corpus(file)
    assert len(found) == 1
    assert found.report.counts["duplicate entity merged"] == 1


def test_raw_text_follows_reading_options(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Ada (b.) slept.\n")
    assert nestag.read_corpus(file, "text", tokenizer="whitespace")[0].tokens == ("Ada", "(b.)", "slept.")


def test_invalid_options_formats_and_files_are_refused(tmp_path: Path) -> None:
    nestag.write_corpus(SENTENCES, tmp_path / "a.jsonl")
    with pytest.raises(SettingError, match="tokenizer is 'nltk'; it takes one of spacy, whitespace"):
        nestag.read_corpus(tmp_path / "a.jsonl", tokenizer="nltk")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no format is called 'word'"):
        nestag.read_corpus(tmp_path / "a.jsonl", "word")
    with pytest.raises(InputError, match="there is no such file"):
        nestag.read_corpus(tmp_path / "b.jsonl")
