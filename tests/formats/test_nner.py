"""The .data files of research code: round trips and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import jsonl, nner
from token_texts import CORPORA, read, with_corpora, written


def test_nner_data_of_research_code(tmp_path: Path) -> None:
    text = "Ada was queen of the Isle\n0,0 PER|2,5 PER|4,5 GPE\n\nIt rained\n\n\nWho ?\n0,0 PER\n\n"
    sentences_read = [
        Sentence(
            ["Ada", "was", "queen", "of", "the", "Isle"],
            [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
        ),
        Sentence(["It", "rained"]),
        Sentence(["Who", "?"], [Entity(0, 1, "PER")]),
    ]
    assert read(nner.FORMAT, tmp_path / "f", text) == (sentences_read, {})
    assert written(nner.FORMAT, tmp_path / "g", *sentences_read) == text


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n"])
def test_nner_data_with_tag_lines(tmp_path: Path, end: str) -> None:
    text = f"Ada slept\nNNP VBD\n0,0 PER\n\nIt rained\nPRP VBD\n\n\nAda\nNNP\n0,0 PER\n\nOh\nUH{end}"
    found, counts = read(nner.FORMAT, tmp_path / "f", text)
    assert [(" ".join(s.tokens), len(s.entities)) for s in found] == [
        ("Ada slept", 1),
        ("It rained", 0),
        ("Ada", 1),
        ("Oh", 0),
    ]
    assert not counts


def test_nner_drops_inverted_entities(tmp_path: Path) -> None:
    found, counts = read(nner.FORMAT, tmp_path / "f", "a b c\n2,1 X|1,0 Y|1,1 Z|1,1 Z\n\n")
    assert found == [Sentence(["a", "b", "c"], [Entity(1, 2, "Z")])]
    assert counts == {"entity that ends before it starts dropped": 2, "duplicate entity merged": 1}


def test_nner_keeps_the_order_of_entities(tmp_path: Path) -> None:
    text = "a b\n1,1 Y|0,1 X|0,0 Z\n\n"
    assert written(nner.FORMAT, tmp_path / "g", *read(nner.FORMAT, tmp_path / "f", text)[0]) == text


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a b\n0,0 X\n\na\n\nb\n\n\n", 4, "one blank line after the tokens"),
        ("a b\n0;1 X\n\nc\n\n\n", 2, "is not an entity"),
        ("a b\n0,1 X|\n\n", 2, "is not an entity"),
        ("a b\n0,1 X\n\nb\nX\n\n\n", 5, "is not an entity"),
        ("a b\n\n\nb\nX\n\n\n", 5, "is not an entity"),
        ("a b\n0,2 X\n\n", 2, "ends outside"),
        ("a b\nN N\n0,1\n\n", 3, "is not an entity"),
        ("a b\nN\n0,1 X\n\n", 2, "neither entities nor one tag"),
        ("a\nN\n0,0 X\nb\n", 4, "a fourth line"),
        ("a  b\n\n\n", 1, "token 1"),
        ("a\n0,99999999999 X\n\nb\n\n\n", 2, "is not an entity"),
    ],
)
def test_nner_errors_name_the_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(InputError, match=f"f:{line}: .*{what}"):
        read(nner.FORMAT, tmp_path / "f", text)


@with_corpora
def test_nne_original_format() -> None:
    gold = {s.id: s for file in (CORPORA / "nne_notext").glob("*.jsonl.gz") for s in jsonl.read(file)}
    for file in (CORPORA.parent / "raw/nne").glob("*.mrg"):
        for number, sentence in enumerate(nner.FORMAT.read(file)):
            assert sentence.entities == gold[f"{file.stem}-{number}"].entities
