"""Plain text: paragraphs, documents, long lines, bounded memory."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.document import documents_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.formats import text
from nestag.formats.files import sources
from raw_texts import LINES, read_all, saved

pytest.importorskip("spacy")


@given(st.text(st.sampled_from("a \n\r\t."), max_size=60), st.integers(1, 7), st.integers(3, 20))
def test_paragraphs_join_to_the_text(content: str, size: int, longest: int) -> None:
    before, text.LONGEST_PARAGRAPH = text.LONGEST_PARAGRAPH, longest
    try:
        parts = list(text.paragraphs(content[at : at + size] for at in range(0, len(content), size)))
    finally:
        text.LONGEST_PARAGRAPH = before
    assert "".join(parts) == content
    assert all(len(part) <= longest for part in parts)
    assert all(parts) or parts == [""]


def test_text_is_one_document(tmp_path: Path) -> None:
    content = "\n A title\n\nBob came.\r\nHe sat. \r\n\r\n\r\nThe 😀 end"
    path = saved(tmp_path, "my.notes.txt.gz", gzip.compress(content.encode()))
    sentences, report = read_all(text.FORMAT, path, Options())
    assert [" ".join(sentence.tokens) for sentence in sentences] == ["A title", "Bob came .", "He sat .", "The 😀 end"]
    assert [sentence.id for sentence in sentences] == ["my-1", "my-2", "my-3", "my-4"]
    (document,) = documents_of(sentences)
    assert document.text == content
    assert not report.counts


def test_files_are_separate_documents(tmp_path: Path) -> None:
    report = Report()
    given = [Sentence(["a", "b"], [Entity(0, 1, "X")], "d-1"), Sentence(["c"], [], "d-2"), Sentence(["d"], [], "e-1")]
    text.FORMAT.write(given, tmp_path / "x.txt", report=report)
    assert (tmp_path / "x.txt").read_text() == "a b\nc\n\nd\n"
    assert report.counts == {
        "entity dropped from plain text": 1,
        "document joined to the one before it": 1,
        "sentence id dropped": sum(sentence.id is not None for sentence in given),
    }


def test_long_text_is_read_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BYTES_AT_ONCE", 1_000)
    monkeypatch.setattr(text, "LONGEST_PARAGRAPH", 1_000)
    path = tmp_path / "x.txt"
    line = "It rained all day on the roofs of the old town. " * 6
    path.write_text("".join(line + "\n" * (number % 3) for number in range(1_000)) + line * 100)
    tracemalloc.start()
    size = sum(len(sentence.origin.text) for sentence in text.FORMAT.read(path, LINES) if sentence.origin)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == path.stat().st_size > 3 * 10**5
    assert peak < 2 * 10**5


def test_long_lines_are_split_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST_PARAGRAPH", 10)
    sentences, report = read_all(text.FORMAT, saved(tmp_path, "x.txt", "one two three 北京北京北京北京北京北京"))
    assert [sentence.tokens for sentence in sentences] == [
        ("one", "two"),
        ("three",),
        ("北京北京北京北京北京",),
        ("北京",),
    ]
    assert report.counts == {"line split because it is very long": 3}
