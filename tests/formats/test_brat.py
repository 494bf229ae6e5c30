"""brat standoff: entities, spans over lines, folders, and errors."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from nestag.data.document import Document, TextSpan, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import brat
from nestag.formats.registry import format_of
from raw_texts import EXACT, read_all, read_documents, saved, spans_of


def pair(folder: Path, content: str, annotations: str, name: str = "a") -> Path:
    (folder / f"{name}.txt").write_bytes(content.encode())
    return saved(folder, f"{name}.ann", annotations)


def test_brat_reads_entities_and_counts_the_rest(tmp_path: Path) -> None:
    lines = [
        "T1\tPER 0 3\tBob",
        "T2\tPER 8 12\tAl 😀",
        "T3\tX 0 3;8 10\tBob Al",
        "T4\tX 4 7;8 10\tsaw Al",
        "T5\tX 4 7\tsee",
        "E1\tX:T1",
        "R1\tr Arg1:T1 Arg2:T2",
        "*\tEquiv T1 T2",
        "A1\tNegation E1",
        "M1\tNegation E1",
        "N1\tReference T1 W:1\tBob",
        "#1\tAnnotatorNotes T1\tsure",
        "",
    ]
    path = pair(tmp_path, "Bob saw Al 😀.\n", "\r\n".join(lines))
    (document,), report = read_documents(brat.FORMAT, path)
    assert document.id == "a"
    assert spans_of(document) == [(0, 3, "PER"), (4, 7, "X"), (4, 10, "X"), (8, 12, "PER")]
    assert report.counts == {
        "discontinuous entity dropped": 1, "text that differs from what the offsets cover": 1, "event dropped": 1,
        "relation dropped": 2, "attribute dropped": 2, "link dropped": 1, "note dropped": 1,
        "token cut at a span's border": 1, "trigger of an event read as an entity": 1,
    }  # fmt: skip


def test_brat_counts_every_character(tmp_path: Path) -> None:
    content = "\ufeffone\r\ntwo 😀\r\n\r\nthree"
    path = pair(tmp_path, content, "T1\tX 6 9\ttwo\nT2\tX 15 20\tthree\n")
    (document,), report = read_documents(brat.FORMAT, path)
    assert document.text == content
    assert [document.text[a:b] for a, b, _ in spans_of(document)] == ["two", "three"]
    assert not report.counts


def test_brat_splits_spans_at_line_ends(tmp_path: Path) -> None:
    document = Document("d", "Bank of \n\nNew\r\nYork.", (TextSpan(0, 19, "ORG"), TextSpan(10, 19, "GPE")))
    brat.FORMAT.write(sentences_of(document, EXACT, Report()), tmp_path / "a.ann")
    assert (tmp_path / "a.ann").read_bytes().decode() == (
        "T1\tORG 0 7;10 13;15 19\tBank of New York\nT2\tGPE 10 13;15 19\tNew York\n"
    )
    (found,), report = read_documents(brat.FORMAT, tmp_path / "a.ann")
    assert (found.text, spans_of(found)) == (document.text, spans_of(document))
    assert report.counts == {"sentences joined because a span covers both": 2, "token cut at a span's border": 1}


def test_brat_reads_and_writes_folders(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    pair(tmp_path, "Bob", "T1\tP 0 3\tBob\n", "b")
    pair(tmp_path / "sub", "Al", "", "a%2Fb")
    saved(tmp_path, "alone.txt", "text")
    found, report = read_documents(brat.FORMAT, tmp_path)
    assert [(document.id, document.text) for document in found] == [("b", "Bob"), ("sub/a/b", "Al")]
    assert report.counts == {"text without an .ann file skipped": 1}
    target = tmp_path / "out"
    brat.FORMAT.write([Sentence(["x"], [], "../a-1"), Sentence(["y"], [], "A-1"), Sentence(["z"], [], "a-1")], target)
    assert sorted(path.name for path in target.iterdir()) == [
        "%2E.%2Fa.ann", "%2E.%2Fa.txt", "A.ann", "A.txt", "a~2.ann", "a~2.txt",
    ]  # fmt: skip
    with pytest.raises(InputError, match="out: is there already; remove it"):
        brat.FORMAT.write([], target)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ("T1 PER 0 3 Bob", "a.ann:1: 'T1 PER 0 3 Bob' is not an annotation"),
        ("T1\tPER 0 3\tBob\nT2\tPER 0 x\tBob", "a.ann:2: .* is not an annotation"),
        ("T1\tPER 0 4\tBob", "a.ann:1: 0 to 4 is not inside the text of 3 characters"),
        ("T1\tPER 2 2\t", "a.ann:1: 2 to 2 is not inside"),
        ("Bob", "is not an annotation"),
    ],
)
def test_brat_errors_name_the_place(annotations: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_all(brat.FORMAT, pair(tmp_path, "Bob", annotations))


def test_brat_refuses_unsupported_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="brat cannot hold the type 'a b', which has white space"):
        brat.FORMAT.write([Sentence(["x"], [Entity(0, 1, "a b")], "d-1")], tmp_path / "out")
    with pytest.raises(InputError, match=r"one .ann file holds one document, and there are several"):
        brat.FORMAT.write([Sentence(["x"], [], "d-1"), Sentence(["x"], [], "e-1")], tmp_path / "a.ann")
    report = Report()
    brat.FORMAT.write([Sentence(["x", "\n"], [Entity(1, 2, "X")], "d-1")], tmp_path / "b.ann", report=report)
    assert report.counts["entity of white space dropped"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.ann", "b.txt"]
    with pytest.raises(InputError, match=r"there is no c.txt"):
        read_all(brat.FORMAT, saved(tmp_path, "c.ann", ""))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder has no \.ann"):
        read_all(brat.FORMAT, tmp_path / "empty")


def test_brat_reads_folders_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "batch 1").mkdir()
    saved(tmp_path, "annotation.conf", "[entities]\nPER\n[relations]\n[events]\n[attributes]\n")
    saved(tmp_path, "visual.conf", "[labels]\nPER | Person\n")
    saved(tmp_path, "LICENSE", "Do as you like.\n")
    saved(tmp_path, "README.md", "# Letters\n")
    saved(tmp_path, ".stats_cache", "x")
    pair(tmp_path, "Nothing here.\n", "", "0")
    pair(tmp_path / "batch 1", "Bob slept.\n", "T1\tPER 0 3\tBob\n", "1")
    assert format_of(tmp_path).name == "brat"
    sentences, report = read_all(brat.FORMAT, tmp_path)
    assert [(s.id, len(s.entities)) for s in sentences] == [("0-1", 0), ("batch 1/1-1", 1)]
    assert not report.counts
    brat.FORMAT.write(sentences, tmp_path / "ours")
    assert format_of(tmp_path / "ours").name == "brat"
    assert read_all(brat.FORMAT, tmp_path / "ours")[0] == sentences


def test_brat_skips_bad_lines_and_counts_them(tmp_path: Path) -> None:
    path = pair(tmp_path, "Bob", "T1\tPER 0 3\tBob\nT2 PER 0 3 Bob\nT3\tPER 0 9\tBob\nT4\tX 0 3\tBob\n")
    with pytest.raises(InputError, match=r"a\.ann:2: 'T2 PER 0 3 Bob' is not an annotation.*skip_bad=True"):
        read_all(brat.FORMAT, path)
    (sentence,), report = read_all(brat.FORMAT, path, Options("whitespace", skip_bad=True))
    assert [entity.type for entity in sentence.entities] == ["PER", "X"]
    assert report.counts == {"bad record skipped": 2}
    assert [finding.place for finding in report.findings] == [f"{path}:2", f"{path}:3"]


@pytest.mark.parametrize("name", ["d.a1", "d.a2", ""])
def test_bionlp_a1_and_a2_files_are_read_together(name: str, tmp_path: Path) -> None:
    saved(tmp_path, "d.txt", "Induction of BAX by p53")
    saved(tmp_path, "d.a1", "T1\tProtein 13 16\tBAX\nT2\tProtein 20 23\tp53\n")
    saved(tmp_path, "d.a2", "T3\tPositive_regulation 0 9\tInduction\nE1\tPositive_regulation:T3 Theme:T1 Cause:T2\n")
    path = tmp_path / name
    assert format_of(path).name == "brat"
    (sentence,), report = read_all(brat.FORMAT, path)
    assert [entity.type for entity in sentence.entities] == ["Positive_regulation", "Protein", "Protein"]
    assert report.counts == {"event dropped": 1, "trigger of an event read as an entity": 1}


@pytest.mark.skipif("NESTAG_CORPORA" not in os.environ, reason="NESTAG_CORPORA does not say where corpora are")
def test_litbank_matches_its_conversion() -> None:
    corpora = Path(os.environ["NESTAG_CORPORA"])
    converted: dict[str, list[tuple[Any, Any]]] = {}
    for file in sorted((corpora / "litbank").glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                entities = sorted((e["start"], e["end"], e["type"]) for e in record["entities"])
                converted.setdefault(record["id"].rpartition("-")[0], []).append((tuple(record["tokens"]), entities))
    sentences, report = read_all(brat.FORMAT, corpora.parent / "raw" / "litbank")
    ours: dict[str, list[tuple[Any, Any]]] = {}
    for sentence in sentences:
        assert sentence.origin
        name = sentence.origin.document.removesuffix("_brat")
        ours.setdefault(name, []).append((sentence.tokens, sorted(map(tuple, sentence.entities))))
    assert len(ours) == 3
    assert ours == {name: converted[name] for name in ours}
    assert set(report.counts) <= {"span widened to token borders", "duplicate entity merged"}
