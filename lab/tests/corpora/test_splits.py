"""Splits of the paper's corpora: the published lists, the files, and their counts."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import sample
from nestag_lab.corpora.build import SplitCounts, build, depth
from nestag_lab.corpora.split import SplitSentence, published_list, read_list, subset


@pytest.mark.parametrize(("name", "sizes"), [("ace2004", (356, 41, 46)), ("ace2005", (370, 43, 51))])
def test_published_lists_have_the_published_sizes(name: str, sizes: tuple[int, int, int]) -> None:
    counts = Counter(published_list(name).values())
    assert (counts["train"], counts["dev"], counts["test"]) == sizes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("train a\nd1\n", ":2: 'd1' is not a split"),
        ("training a", ":1: 'training a' is not"),
        ("train a\ndev a", ":2: a is in train already"),
        ("# only\n", "names no document"),
    ],
)
def test_invalid_lists_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "list").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_list(tmp_path / "list")


def test_depth_counts_chains_only() -> None:
    assert depth([]) == 0
    assert depth([Entity(0, 3, "A"), Entity(1, 4, "B")]) == 1
    assert depth([Entity(0, 3, "A"), Entity(1, 4, "B"), Entity(2, 4, "C"), Entity(2, 4, "D")]) == 3


def test_splits_are_written_all_or_none(tmp_path: Path) -> None:
    sentence = Sentence(["a", "b", "c"], [Entity(0, 2, "A"), Entity(1, 3, "B")], "s-1")

    def failing() -> Iterator[SplitSentence]:
        yield SplitSentence("train", sentence)
        raise InputError("no more", "x")

    with pytest.raises(InputError, match="no more"):
        build(failing(), tmp_path / "new" / "deep", packed=False, report=Report())
    assert list(tmp_path.iterdir()) == []
    report = Report()
    tallies = build(iter([SplitSentence("dev", sentence)]), tmp_path / "new", packed=True, report=report)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "dev.jsonl.gz", "test.jsonl.gz", "train.jsonl.gz"
    ]  # fmt: skip
    assert json.loads(gzip.decompress((tmp_path / "new" / "dev.jsonl.gz").read_bytes()))["id"] == "s-1"
    assert tallies["dev"] == SplitCounts(sentences=1, tokens=3, entities=2, deepest=1)
    assert report.counts == {"crossing pair of entities kept as it is": 1}
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        build(iter([]), tmp_path / "file" / "in", packed=False, report=Report())


def test_a_subset_keeps_the_order_of_the_corpus_and_grows() -> None:
    sentences = sample.sentences()
    small, large = (subset(sentences, size) for size in (5, 30))
    assert len(small) == 5
    assert large == [sentence for sentence in sentences if sentence in large]
    assert [sentence for sentence in large if sentence in small] == small
    assert subset(sentences, 0) == sentences
    assert subset(sentences, 5, seed=1) != small
