"""Columns of BIO tags: schemes, repairs, comments, and errors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import columns, jsonl
from nestag.formats.registry import format_of
from raw_texts import read_all, saved
from token_texts import CORPORA, read, with_corpora, written


def column_entities(tmp_path: Path, *tags: str) -> tuple[tuple[Entity, ...], Counter[str]]:
    found, counts = read(columns.FORMAT, tmp_path / "f", "".join(f"w\t{tag}\n" for tag in tags))
    return found[0].entities, counts


@pytest.mark.parametrize(
    "tags",
    [
        ("B-A", "I-A", "B-A", "O", "B-B", "I-B", "I-B"),
        ("B-A", "E-A", "S-A", "O", "B-B", "I-B", "E-B"),
        ("B-A", "L-A", "U-A", "O", "B-B", "I-B", "L-B"),
        ("B-A", "E-A", "W-A", "O", "B-B", "M-B", "E-B"),
    ],
)
def test_columns_of_each_tagging_scheme(tmp_path: Path, tags: tuple[str, ...]) -> None:
    assert column_entities(tmp_path, *tags) == ((Entity(0, 2, "A"), Entity(2, 3, "A"), Entity(4, 7, "B")), {})


def test_columns_of_iob1_are_detected(tmp_path: Path) -> None:
    found, counts = column_entities(tmp_path, "I-A", "I-A", "B-A", "O", "I-B", "I-C")
    assert found == (Entity(0, 2, "A"), Entity(2, 3, "A"), Entity(4, 5, "B"), Entity(5, 6, "C"))
    assert counts == {"file read as IOB1, where I- may begin an entity": 1}


@pytest.mark.parametrize(
    ("tags", "found", "repairs"),
    [
        (("B-A", "O", "I-A", "I-A"), ((0, 1, "A"), (2, 4, "A")), 1),
        (("B-A", "I-B", "I-B"), ((0, 1, "A"), (1, 3, "B")), 1),
        (("S-A", "I-A", "E-A"), ((0, 1, "A"), (1, 3, "A")), 1),
        (("B-A", "E-A", "E-A"), ((0, 2, "A"), (2, 3, "A")), 1),
        (("B-A", "O", "L-A"), ((0, 1, "A"), (2, 3, "A")), 1),
    ],
)
def test_columns_are_repaired_as_conlleval_does(
    tmp_path: Path, tags: tuple[str, ...], found: tuple[tuple[int, int, str], ...], repairs: int
) -> None:
    assert column_entities(tmp_path, *tags) == (found, {"tag repaired to begin an entity": repairs})


def test_columns_with_index_and_comments(tmp_path: Path) -> None:
    text = (
        "#\thttp://example.org/1980\t[2009-10-17]\n1\t1\tO\tO\n\n# more\n1\tO\tO\tO\n2\t#\tB-A\tB-B\n3\tIsle\tI-A\tO\n"
    )
    found, counts = read(columns.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["1"]), Sentence(["O", "#", "Isle"], [Entity(1, 3, "A"), Entity(1, 2, "B")])]
    assert not counts


def test_columns_with_numbers_and_hashes_as_tokens(tmp_path: Path) -> None:
    text = "#\thttp://example.org\t[2009]\n1\tO\tO\n2\tB-A\tO\n\n#\tO\tO\n#x\tB-A\tO\n# a comment\n\n# alone\n\n"
    found, _ = read(columns.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["1", "2"], [Entity(1, 2, "A")]), Sentence(["#", "#x"], [Entity(1, 2, "A")])]


def test_number_of_columns_follows_nesting(tmp_path: Path) -> None:
    nested = Sentence(list("abcd"), [Entity(0, 4, "A"), Entity(1, 3, "B")])
    crossing = Sentence(list("ab"), [Entity(0, 1, "A"), Entity(1, 2, "A"), Entity(0, 2, "A"), Entity(0, 1, "B")])
    text = written(columns.FORMAT, tmp_path / "f", Sentence(["x"]), nested, crossing)
    assert text == (
        "x\tO\tO\tO\n\n"
        "a\tB-A\tO\tO\nb\tI-A\tB-B\tO\nc\tI-A\tI-B\tO\nd\tI-A\tO\tO\n\n"
        "a\tB-A\tB-A\tB-B\nb\tI-A\tB-A\tO\n\n"
    )
    assert written(columns.FORMAT, tmp_path / "f", Sentence(["x"])) == "x\tO\n\n"


def test_columns_merge_duplicates_and_count_them(tmp_path: Path) -> None:
    found, counts = read(columns.FORMAT, tmp_path / "f", "a\tB-A\tB-A\n")
    assert found == [Sentence(["a"], [Entity(0, 1, "A")])]
    assert counts == {"duplicate entity merged": 1}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a\tO\nb\n", 2, "1 columns"),
        ("a\n", 1, "1 columns"),
        ("a\tPER\n", 1, "'PER' in column 2 is not a tag"),
        ("a\tB-\n", 1, "'B-' in column 2 is not a tag"),
        ("a\tO\n\tO\n", 2, "the token is empty"),
        ("1\ta\tO\n2\tb\tO\n\n" * columns.LOOKED_AT + "1\ta\tO\n3\tb\tO\n", 302, "it should be 2"),
    ],
)
def test_columns_errors_name_the_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(InputError, match=f"f:{line}: .*{what}"):
        read(columns.FORMAT, tmp_path / "f", text)


def test_columns_separated_by_blanks(tmp_path: Path) -> None:
    text = (
        "-DOCSTART- -X- -X- O\n\nAda NNP B-NP B-PER\nslept VBD B-VP O\n\n-DOCSTART- -X- -X- O\n\n"
        "New NNP B-NP B-LOC\nYork NNP I-NP I-LOC\nwoke VBD B-VP O\n\nIt PRP B-NP O\n"
    )
    path = saved(tmp_path, "eng", text)
    assert format_of(path).name == "columns"
    report = Report()
    assert list(columns.FORMAT.read(path, report=report)) == [
        Sentence(["Ada", "slept"], [Entity(0, 1, "PER")], "eng:1-1"),
        Sentence(["New", "York", "woke"], [Entity(0, 2, "LOC")], "eng:2-1"),
        Sentence(["It"], [], "eng:2-2"),
    ]
    assert report.summary() == [
        f"{path}: read as columns (a token and its BIO tags a line)",
        f"{path}: column 3 holds phrases (NP, VP), ignored; columns=(1, 3) reads it",
        f"{path}: no tags in column 2, ignored; columns=... says which to read",
    ]


def test_columns_can_be_chosen_by_number(tmp_path: Path) -> None:
    path = saved(tmp_path, "f", "x Ada B-NP B-PER 7\ny B. I-NP I-PER 8\n")

    def chosen(*numbers: int) -> list[Sentence]:
        return list(columns.FORMAT.read(path, Options(columns=numbers)))

    assert chosen(2, 4) == [Sentence(["Ada", "B."], [Entity(0, 2, "PER")])]
    assert chosen(1, 3, -2) == [Sentence(["x", "y"], [Entity(0, 2, "NP"), Entity(0, 2, "PER")])]
    with pytest.raises(InputError, match="f:1: 'Ada' in column 2 is not a tag"):
        chosen(1, 2)
    for missing in (9, -9):
        with pytest.raises(InputError, match="f:1: 5 columns"):
            chosen(1, missing)


def test_missing_columns_are_filled(tmp_path: Path) -> None:
    found, counts = read(columns.FORMAT, tmp_path / "f", "a\tB-A\tB-B\nb\tI-A\nc\tO\n\nd\tO\n")
    assert found == [Sentence(["a", "b", "c"], [Entity(0, 2, "A"), Entity(0, 1, "B")]), Sentence(["d"])]
    assert counts == {"tag missing at the end of a line read as O": 3}


@pytest.mark.parametrize(
    "cells",
    [
        ("B-X|U-Y", "I-X|B-X", "L-X|L-X", "O"),
        ("U-Y|B-X", "B-X|I-X", "L-X|L-X", "O"),  # innermost first
        ("B-X|B-Y", "I-X|B-X", "I-X|I-X", "O"),
    ],
)
def test_joined_tags_in_one_column(tmp_path: Path, cells: tuple[str, ...]) -> None:
    found, counts = column_entities(tmp_path, *cells)
    assert found == (Entity(0, 3, "X"), Entity(0, 1, "Y"), Entity(1, 3, "X"))
    assert not counts


def test_joined_tag_without_a_begin_is_repaired(tmp_path: Path) -> None:
    found, counts = column_entities(tmp_path, "B-X|I-Y", "I-Y|E-Z", "B-a|b", "O")
    assert found == (Entity(0, 2, "Y"), Entity(0, 1, "X"), Entity(1, 2, "Z"), Entity(2, 3, "a|b"))
    assert counts == {"tag repaired to begin an entity": 2}


def test_bad_sentences_are_skipped_and_counted(tmp_path: Path) -> None:
    path = saved(tmp_path, "f", "a\tB-A\n\n" * columns.LOOKED_AT + "b\tPER\n\nc\n\nd\tO\n")
    report = Report()
    found = list(columns.FORMAT.read(path, Options(skip_bad=True), report))
    assert len(found) == columns.LOOKED_AT + 1
    assert report.counts == {"bad record skipped": 2}


@pytest.mark.parametrize("text", ["It rained.\nAll day.\n", "A B-2 bomber\n", "# a\n", "", "1-1\t0-3\tAda\t_\n"])
def test_plain_text_is_not_columns(text: str) -> None:
    assert not columns.looks_like(text)


def test_columns_without_blank_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LONGEST_BLOCK", 10)
    with pytest.raises(InputError, match="f:11: 10 lines without a blank one"):
        read(columns.FORMAT, tmp_path / "f", "a\tO\n" * 20)


@with_corpora
def test_germeval_original_format() -> None:
    raw = columns.FORMAT.read(CORPORA.parent / "raw/germeval2014/germ.dev.iob2")
    gold = jsonl.read(CORPORA / "germeval2014/dev.jsonl.gz")
    pairs = [((a.tokens, a.entities), (b.tokens, b.entities)) for a, b in zip(raw, gold, strict=True)]
    assert len(pairs) == 2200
    assert all(a == b for a, b in pairs)


def test_level_that_begins_late_is_read(tmp_path: Path) -> None:
    text = "a B-X\n\n" * 200 + "a B-X B-Y\nb I-X O\n\n" + "a B-X\n\n"
    found, report = read_all(columns.FORMAT, saved(tmp_path, "a.conll", text))
    assert found[200] == Sentence(["a", "b"], [Entity(0, 2, "X"), Entity(0, 1, "Y")])
    assert report.counts == {"tag missing at the end of a line read as O": 1}


def test_late_tags_in_an_ignored_column_are_counted(tmp_path: Path) -> None:
    found, report = read_all(columns.FORMAT, saved(tmp_path, "a.conll", "a _ B-X\n\n" * 200 + "a B-Y B-X\n"))
    assert found[-1].entities == (Entity(0, 1, "X"),)
    assert report.counts == {"tag in a column without tags dropped": 1}
    assert report.lost == 1


def test_ambiguous_column_is_an_error(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.conll", "a NN B-NP B-PER\n\n" * 200 + "a NN B-GPE B-PER\n")
    with pytest.raises(InputError, match=r"a\.conll:401: 'B-GPE' in column 3.*columns="):
        read_all(columns.FORMAT, path)
    assert len(read_all(columns.FORMAT, path, Options(columns=(1, 3, 4)))[0][-1].entities) == 2


def test_joined_tags_continue_at_their_level(tmp_path: Path) -> None:
    text = "a B-X|B-X|B-Y\nb I-Y|I-X\nc I-X\n"
    found, report = read_all(columns.FORMAT, saved(tmp_path, "a.conll", text))
    assert found[0].entities == (Entity(0, 3, "X"), Entity(0, 2, "Y"), Entity(0, 1, "X"))
    assert not report.counts
