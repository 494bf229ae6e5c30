"""NNE from its standoff files: structure, the treebank's words, and splits by section."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag_lab.corpora import nne
from source_files import CORPORA, nne_file, real, shared

TREES = """
( (S (NP-SBJ-1 (NNP Ada) (NNP Li) )
    (VP (VBD slept) (S (NP-SBJ (-NONE- *-1) )))
    (. .) ))
( (S (NP (PRP He)) (VP (VBD -LRB-) (NP (-NONE- 0)))) )
(S (NN rain) (VBD fell) (. .))
"""


def test_nne_structure_without_words(tmp_path: Path) -> None:
    report = Report()
    found = list(nne.read(nne_file(tmp_path / "nne").parent, None, report))
    assert [sentence.id for _, sentence in found] == ["wsj_0001-0", "wsj_0001-1", "wsj_0001-2"]
    assert found[0].sentence.tokens == ("_", "_", "_", "_")
    assert found[0].sentence.entities == (Entity(0, 2, "PER"), Entity(0, 1, "FIRST"), Entity(1, 2, "NAME"))
    assert found[1].sentence.entities == ()
    assert found[2].sentence.entities == (Entity(0, 1, "NAME"), Entity(0, 1, "ORG:X"))
    assert report.counts == {
        "sentence without words (every token is _)": 3,
        "entity with inverted boundaries dropped": 1,
        "duplicate entity merged": 1,
    }


def test_nne_reads_words_from_the_treebank(tmp_path: Path) -> None:
    nne_file(tmp_path / "nne" / "00")
    nne_file(tmp_path / "wsj" / "00", TREES)
    report = Report()
    found = [sentence.tokens for _, sentence in nne.read(tmp_path / "nne", tmp_path / "wsj", report)]
    assert found == [("Ada", "Li", "slept", "."), ("He", "-LRB-"), ("rain", "fell", ".")]
    assert not any("without words" in kind for kind in report.counts)


def test_nne_with_words_needs_no_treebank(tmp_path: Path) -> None:
    [(_, sentence)] = nne.read(nne_file(tmp_path, "Ada slept\nNNP VBD\n0,0 PER\n"))
    assert sentence == Sentence(["Ada", "slept"], [Entity(0, 1, "PER")], "wsj_0001-0")


@pytest.mark.parametrize(
    ("trees", "problem"),
    [
        (TREES.replace("VBD fell", "VBZ fell"), "wsj_0001.mrg:9: token 1 is VBD here and VBZ in the treebank .*tree 3"),
        (TREES.replace(" (. .))\n", ")\n"), "3 tokens here and 2 in the treebank"),
        (TREES + "( (NN more) )", "more than its 3 sentences"),
        (TREES.replace("(S (NN rain) (VBD fell) (. .))", ""), "there is no .*tree 3"),
        (TREES + "(S (NN", "2 brackets are still open"),
        (TREES + ")", "outside a tree"),
        ("(S (NN a b))", "more than a word"),
    ],
)
def test_different_treebank_is_refused_at_the_first_difference(tmp_path: Path, trees: str, problem: str) -> None:
    nne_file(tmp_path / "nne")
    nne_file(tmp_path / "wsj", trees)
    with pytest.raises(InputError, match=problem):
        list(nne.read(tmp_path / "nne", tmp_path / "wsj"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0 1\nNN\n\n", ":1: 2 positions, but 1 parts"),
        ("0 1\nNN NN", "fewer than three lines"),
        ("0\nNN\n0-0 PER\n", ":3: '0-0 PER' is not an entity"),
        ("0\nNN\n0,1 PER\n", ":3: entity .* outside the sentence"),
    ],
)
def test_invalid_standoff_file_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        list(nne.read(nne_file(tmp_path, text)))


def test_nne_is_split_by_section_and_needs_every_file(tmp_path: Path) -> None:
    sections = {"wsj_0207.mrg": "dev", "wsj_2300.mrg": "test", "wsj_2454.mrg": "test", "wsj_2200.mrg": "train"}
    for name in sections:
        nne_file(tmp_path / "nne", "0\nNN\n\n", name)
    found = {f"{sentence.id}".removesuffix("-0") + ".mrg": split for split, sentence in nne.read(tmp_path / "nne")}
    assert found == sections
    nne_file(tmp_path / "wsj", "(NN a)", "wsj_0207.mrg")
    with pytest.raises(InputError, match=r"has no wsj_2200\.mrg"):
        list(nne.read(tmp_path / "nne", tmp_path / "wsj"))
    nne_file(tmp_path / "wsj" / "again", "(NN a)", "wsj_0207.mrg")
    for read in (nne.read, nne.find_files):
        with pytest.raises(InputError, match=r"there is another wsj_0207\.mrg"):
            list(read(tmp_path / "wsj"))
    nne_file(tmp_path / "nne", name="other.mrg")
    with pytest.raises(InputError, match="section is not known"):
        list(nne.read(tmp_path / "nne"))
    for read in (nne.read, nne.find_files):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(InputError, match=r"no \.mrg file"):
            list(read(tmp_path / "empty"))


@real
def test_nne_release_has_the_published_counts() -> None:
    expected = shared("nne_notext")
    found = list(nne.read(f"{CORPORA}/../raw/nne"))
    assert len(found) == 77
    for split, sentence in found:
        assert expected[str(sentence.id)] == (split, list(sentence.tokens), set(sentence.entities))
