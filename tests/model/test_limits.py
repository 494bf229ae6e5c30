"""Unusual but valid input is not slow, not lost silently, and does not fill the memory.

Inputs are so large that quadratic code exceeds the time limit of a test.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.cli.options import threshold_from
from nestag.data.crossing import crossing_pairs, drop_crossing
from nestag.data.document import documents_of
from nestag.data.report import Report
from nestag.data.segment import Options, segments
from nestag.data.sentence import Entity, Origin, Sentence
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import CrossingError, InputError
from nestag.formats import brackets, cas, jsonl
from nestag.formats.corpus import convert
from nestag.inspect.statistics import describe
from nestag.inspect.symptoms import DoctorLimits, find_missed, symptoms_of
from nestag.inspect.terminal import draw_nested

USA = Sentence(["the", "USA"], [Entity(0, 2, "GPE")])


@pytest.mark.parametrize("text", ["!" * 120_000, '_*"' * 40_000, "😀" * 120_000, "'s" * 60_000, "(" * 60_000 + "a"])
def test_tokenization_is_linear_in_the_length_of_a_word(text: str) -> None:
    sentences = segments(text, Options())
    assert "".join(text[start:end] for segment in sentences for start, end in segment) == text


@pytest.mark.parametrize("text", ["a" * 5_000, "see http://a.b/" + "c" * 900 + " now", "wow!!!!!!!! (...)"])
def test_ordinary_words_are_not_split(text: str) -> None:
    assert sum(map(len, segments(text, Options()))) <= 20


def test_doctor_is_linear_in_the_number_of_nested_entities() -> None:
    tokens = ["("] + [f"w{i}" for i in range(40_000)] + [")"]
    deep = Sentence(tokens, [Entity(0, i + 1, "X") for i in range(40_000)])
    noted = symptoms_of([deep], "x", DoctorLimits())
    assert find_missed([deep], [("w1",)], "x") == {}
    assert drop_crossing(deep.entities).dropped == ()
    assert noted.edges["X", "have a bracket without its partner"].count == 40_000


def test_crossing_pairs_are_found_quickly_in_deep_nesting() -> None:
    deep = [Entity(i, 100_000 - i, "X") for i in range(49_990)]
    few, all_of_them = Entity(49_980, 50_015, "Y"), Entity(49_995, 100_001, "Y")
    assert next(crossing_pairs(deep), None) is None
    assert [pair[1].start for pair in crossing_pairs([*deep, few])] == [49_981, 49_982, 49_983, 49_984]
    assert drop_crossing([*deep, few]).dropped == (few,)
    with pytest.raises(CrossingError, match="more than 1,000 entities up to token 100001 cross"):
        drop_crossing([*deep, all_of_them])


def test_crossing_entities_are_counted_and_kept_in_time(tmp_path: Path) -> None:
    """Each of 40,000 entities crosses all others; 1,000 pairs are listed."""
    crossing = Sentence(["w"] * 80_000, [Entity(i, 40_000 + i, "X") for i in range(40_000)])
    jsonl.write([crossing], tmp_path / "a.jsonl")
    done = convert(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert done.report.counts == {"pair of crossing entities kept": 40_000 * 39_999 // 2}
    assert len(done.report.findings) == 1_000
    assert describe({"a": [crossing]})["a"].crossing == 40_000 * 39_999 // 2


def test_very_many_types_are_learned_in_time() -> None:
    types = Sentence(["w"] * 200_000, [Entity(i, i + 1, f"T{i}") for i in range(200_000)])
    assert Vocabulary.learn([types], "rel").sizes == (2, 1, 200_000)


def test_brackets_inside_entities_are_still_compared() -> None:
    for words, odd in (("a ( b ) c", 0), ("a ( b ] c", 1), ("( a )", 0), ("a )", 1), ("(", 1)):
        tokens = words.split()
        noted = symptoms_of([Sentence(tokens, [Entity(0, len(tokens), "X")])], "x", DoctorLimits())
        assert sum(symptom.count for (_, what), symptom in noted.edges.items() if "bracket" in what) == odd


def test_drawing_is_linear_in_the_length_of_a_sentence() -> None:
    long = Sentence(["word"] * 60_000, [Entity(i, i + 2, "PER") for i in range(0, 60_000, 3)])
    lines = list(draw_nested(long, 80))
    assert sum("PER" in piece.text for line in lines for piece in line) > 1_000


def test_small_compressed_file_cannot_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brackets, "MOST_PIECES", 1_000)
    path = tmp_path / "x.nested.gz"
    path.write_bytes(gzip.compress(b"a " * 999 + b"a\n"))
    assert [len(sentence) for sentence in brackets.FORMAT.read(path)] == [1_000]
    path.write_bytes(gzip.compress(b"a " * 1_000 + b"a\n"))
    with pytest.raises(InputError, match=r"x\.nested\.gz:1: more than 1,000 words"):
        list(brackets.FORMAT.read(path))


def test_text_that_contradicts_its_tokens_is_reported() -> None:
    report = Report()
    wrong = Sentence(["New", "York"], [Entity(0, 2, "GPE")], "d-1", Origin("d", 0, "Old York", ((0, 3), (4, 8))))
    (document,) = documents_of([wrong], report)
    assert document.text == "New York\n"
    assert report.counts == {"text dropped because it contradicts the tokens": 1}
    assert "'Old' where the token is 'New'" in report.summary()[0]


def test_long_texts_round_trip_through_cas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real text over 10 MB, where lxml stops unless `huge_tree` is set, would take cassis a quarter of a minute."""
    cassis = pytest.importorskip("cassis")
    load, calls = cassis.load_cas_from_xmi, []
    monkeypatch.setattr(cassis, "load_cas_from_xmi", lambda *args, **more: (calls.append(more), load(*args, **more))[1])
    cas.FORMAT.write([USA], tmp_path / "x.xmi")
    assert [sentence.tokens for sentence in cas.FORMAT.read(tmp_path / "x.xmi")] == [USA.tokens]
    assert [more["trusted"] for more in calls] == [True]


@pytest.mark.parametrize("line", [r"a\ud800" + "\t1\tS\t-", "a\t1\tS\t" + r"X\udfff", "a\t1\t" + r"\udc00" + "\t-"])
def test_lone_surrogates_in_labels_are_refused_in_one_line(line: str, tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text(f"{line}\n\n")
    result = CliRunner().invoke(app, ["decode", str(tmp_path / "labels.tsv")])
    assert result.exit_code == 2
    assert "labels.tsv:1: " in result.stderr
    assert "half of a character" in result.stderr


@pytest.mark.parametrize("text", ["PER=nan", "PER=inf", "PER=-0.1", "PER=1.1", "PER=", "PER"])
def test_thresholds_are_between_0_and_1(text: str) -> None:
    with pytest.raises(InputError, match="is not a threshold"):
        threshold_from(text)
    assert threshold_from("a=b=0.5") == ("a=b", 0.5)


def test_empty_gzip_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl.gz").write_bytes(b"")
    result = CliRunner().invoke(app, ["stats", str(tmp_path / "x.jsonl.gz")])
    assert (result.exit_code, "not a whole gzip file (it is empty)" in result.stderr) == (2, True)
    jsonl.write([], tmp_path / "x.jsonl.gz")
    assert CliRunner().invoke(app, ["convert", str(tmp_path / "x.jsonl.gz"), str(tmp_path / "y.jsonl")]).exit_code == 0
