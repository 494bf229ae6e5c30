"""LitBank and GUM as in their repositories, in small."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag_lab.commands.corpus import table
from nestag_lab.corpora import gum, litbank
from nestag_lab.corpora.build import SplitCounts

BOOKS = {"1_first": "train", "2_second": "test"}
SPLITS = """# Splits
## dev
  * GUM_news_rain
  * GUM_fiction_tale
## test
  * GUM_textbook_free
  * GUM_textbook_other
## test2
  * GENTLE_proof_wave
"""
CONLLU = """# newdoc id = {name}
# global.Entity = eid-etype-head-other
# meta::sourceURL = https://{source}/books/x
# sent_id = {name}-1
1\tAda\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1-person)
2\tslept\t_\t_\t_\t_\t_\t_\t_\t_

"""


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "entities" / "brat"
    folder.mkdir(parents=True)
    for name in (*BOOKS, "3_third"):
        (folder / f"{name}_brat.txt").write_text("The old man 's wife\nslept .\n")
        (folder / f"{name}_brat.ann").write_text("T1\tPER 0 19\tThe old man 's wife\nT2\tPER 0 11\tThe old man\n")
    return tmp_path


@pytest.fixture
def genres(tmp_path: Path) -> Path:
    (tmp_path / "dep").mkdir()
    (tmp_path / "splits.md").write_text(SPLITS)
    sources = {"GUM_textbook_free": "openstax.org", "GUM_textbook_other": "press.example"}
    for name in ("GUM_news_rain", "GUM_fiction_tale", *sources):
        text = CONLLU.format(name=name, source=sources.get(name, "news.example"))
        (tmp_path / "dep" / f"{name}.conllu").write_text(text)
    return tmp_path


def test_litbank_keeps_the_words_and_lines_of_its_files(books: Path) -> None:
    found = list(litbank.read(books, splits=BOOKS))  # type: ignore[arg-type]
    assert [split for split, _ in found] == ["train", "train", "test", "test"]  # a book of no split is dropped
    expected = Sentence(["The", "old", "man", "'s", "wife"], [Entity(0, 5, "PER"), Entity(0, 3, "PER")], "1_first-1")
    assert found[0].sentence == expected
    assert found[3].sentence == Sentence(["slept", "."], [], "2_second-2")
    assert list(litbank.read(books / "entities" / "brat", splits=BOOKS)) == found  # type: ignore[arg-type]


def test_missing_book_is_named(books: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no \w+_brat.ann; is the copy of LitBank whole"):
        list(litbank.read(books))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"name a copy of github\.com/dbamman/litbank"):
        list(litbank.read(tmp_path / "empty"))


def test_gum_excludes_texts_that_are_not_free(genres: Path) -> None:
    found = list(gum.read(genres))
    assert [(split, sentence.id) for split, sentence in found] == [
        ("dev", "GUM_news_rain-1"),
        ("test", "GUM_textbook_free-1"),
    ]
    assert found[0].sentence.entities == (Entity(0, 1, "person"),)


def test_empty_document_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "splits.md").write_text("nothing")
    with pytest.raises(InputError, match=r"name a copy of github\.com/amir-zeldes/gum"):
        list(gum.read(tmp_path))


def test_counts_without_a_published_value_are_shown_alone() -> None:
    counts = {"train": SplitCounts(4, 20, 3, 2), "dev": SplitCounts(1, 5, 0, 0), "test": SplitCounts()}
    lines = [line.split() for line in table("gum", counts)]  # type: ignore[arg-type]
    assert lines[0] == ["train", "dev", "test", "all"]
    assert lines[1] == ["sentences", "4", "1", "0", "5"]
