"""Raw text: selection and reading of the sources."""

import lzma
from pathlib import Path

import pytest

from nestag_lab.corpora.split import published_list
from nestag_lab.release import text
from nestag_lab.release.text import amalgum, craft, identity, novels, read_lines, read_texts, select


def test_usual_sentences_are_kept_once_without_held_out_ones() -> None:
    sentences = ["she met ada .", "She met Ada .", "too short", "he met the mayor .", "a b c " + 61 * "d", "x " * 81]
    lines = select(map(str.split, sentences), {identity(["He", "met", "the", "mayor", "."])})
    assert lines == ["she met ada ."]


def test_texts_are_read_in_proportion(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n4\n")
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress(b"5\n\n6\n"))
    assert read_lines(tmp_path / "b.txt.xz") == [["5"], ["6"]]
    assert "".join(one.tokens[0] for one in read_texts([tmp_path / "a.txt", tmp_path / "b.txt.xz"])) == "125346"


def test_each_source_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    books = {split: book for book, split in published_list("litbank").items()}
    monkeypatch.setattr(text, "published_list", lambda _: {book: split for split, book in books.items()})
    for folder in ("original", "amalgum/news/dep", "articles/txt"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "original" / f"{books['train']}.txt").write_text("He met\nher--there.\n\nShe _left_.")
    (tmp_path / "amalgum" / "news" / "dep" / "a.conllu").write_text("1\tRain\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    (tmp_path / "articles" / "txt" / "1.txt").write_text("Cells divide.")
    assert [" ".join(words) for words in novels(tmp_path)] == ["He met her -- there .", "She left ."]
    assert [list(words) for words in amalgum(tmp_path, "news")] == [["Rain"]]
    assert [" ".join(words) for words in craft(tmp_path)] == ["Cells divide ."]
