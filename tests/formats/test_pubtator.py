"""PubTator: titles, abstracts, mentions, relations, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestag.data.document import Document, TextSpan, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import pubtator
from raw_texts import LINES, read_all, read_documents, saved, spans_of

TWO = (
    "10|t|Angina after nifedipine.\r\n"
    "10|a|It got worse | much worse.\r\n"
    "10\t0\t6\tAngina\tDisease\tD000787\r\n"
    "10\t13\t23\tnifedipine\tChemical\tD009543|D1\tnife|dipine\r\n"
    "10\t25\t27\tit\tX\r\n"
    "10\t28\t31\twas\tX\t-1\r\n"
    "10\tCID\tD009543\tD000787\r\n"
    "\r\n"
    "PMC_2|t|Only a title\r\n"
    "PMC_2|a|\r\n"
)


def test_pubtator_documents_mentions_and_relations(tmp_path: Path) -> None:
    found, report = read_documents(pubtator.FORMAT, saved(tmp_path, "x.txt", TWO))
    assert [(document.id, document.text) for document in found] == [
        ("10", "Angina after nifedipine.\nIt got worse | much worse."),
        ("PMC_2", "Only a title"),
    ]
    assert spans_of(found[0]) == [(0, 6, "Disease"), (13, 23, "Chemical"), (25, 27, "X"), (28, 31, "X")]
    assert report.counts["relation dropped"] == 1
    assert report.counts["text that differs from what the offsets cover"] == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\t0\t9\tA\tX", "0 to 9 is not inside the text of 1 characters"),
        ("1\t1\t1\t\tX", "1 to 1 is not inside"),
        ("2\t0\t1\tA\tX", "a mention of 2 among those of 1"),
        ("1 0 1 A X", "is not a mention; write PMID"),
        ("1\t0\t1\tA", "is not a mention"),
    ],
)
def test_line_errors_name_the_place(line: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.txt", f"1|t|A\n1|a|\n{line}\n1\t0\t1\tA\tY\n\n2|t|B\n")
    with pytest.raises(InputError, match=rf"x\.txt:3: .*{message}"):
        read_documents(pubtator.FORMAT, path)
    found, report = read_documents(pubtator.FORMAT, path, Options("whitespace", skip_bad=True))
    assert [spans_of(document) for document in found] == [[(0, 1, "Y")], []]
    assert report.counts == {"bad record skipped": 1}


def test_pubtator_block_without_a_title_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.txt:3: no title; write PMID\|t\|TITLE"):
        read_documents(pubtator.FORMAT, saved(tmp_path, "x.txt", "1|t|A\n\n1\t0\t1\tA\tX\n"))


def test_changed_names_and_line_ends_are_counted(tmp_path: Path) -> None:
    document = Document("a|b", "one\ntwo\nthree", (TextSpan(4, 13, "X"),))
    report = Report()
    pubtator.FORMAT.write(sentences_of(document, LINES, Report()), tmp_path / "x", report=report)
    assert (tmp_path / "x").read_text() == "a_b|t|one\na_b|a|two three\na_b\t4\t13\ttwo three\tX\n\n"
    assert report.counts["document renamed because PubTator cannot hold its name"] == 1
    assert report.counts["text whose line ends became spaces"] == 1
    wrong = Document("d", "a", (TextSpan(0, 1, "a\tb"),))
    with pytest.raises(InputError, match="PubTator cannot hold the type"):
        pubtator.FORMAT.write(sentences_of(wrong, LINES, Report()), tmp_path / "y")


@pytest.mark.parametrize("name", ["\ufeffx-1", "a|b", "x\ty", "\n", " ", "1"])
def test_any_id_and_final_line_end_round_trip_or_are_counted(name: str, tmp_path: Path) -> None:
    sentence = Sentence(["a", "\n"], [Entity(0, 1, "X"), Entity(0, 2, "Y"), Entity(1, 2, "Z")], name)
    report = Report()
    pubtator.FORMAT.write([sentence], tmp_path / "a.pubtator", report=report)
    (found,), _ = read_all(pubtator.FORMAT, tmp_path / "a.pubtator")
    assert found.entities == (Entity(0, 1, "X"), Entity(0, 1, "Y"))
    assert report.counts["entity of white space dropped"] == 1
    assert report.counts["white space at the ends of an entity dropped"] == 1
