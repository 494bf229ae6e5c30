"""Tokens and sentence ends for corpora whose sources have none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag_lab.corpora import ace
from nestag_lab.corpora.words import sentences, words


def spelled(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return " ".join(text[start:end] for start, end in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cells (n=3) died.", "The cells ( n = 3 ) died ."),
        ("(Abc)-kappa and factor(s) cannot rise.", "( Abc ) -kappa and factor ( s ) can not rise ."),
        ("t(8;21) [3H]thymidine CD4(+) 1,25(OH)2D3 (+)", "t(8;21) [3H]thymidine CD4(+) 1,25(OH)2D3 (+)"),
        ("(A/T)GATA (P<0.05) C-->T 5' ends", "(A/T)GATA ( P < 0.05 ) C --> T 5' ends"),
        ("See 27;271(52):33705] i.e. there", "See 27 ; 271 ( 52 ) : 33705 ] i.e. there"),
        ('"They can\'t," he said.', '" They ca n\'t , " he said .'),
        ("``We're gonna pay US$5.2 million...''", "`` We 're gon na pay US$ 5.2 million ... ''"),
        ("the boys' 'old' house at 5 p.m.", "the boys ' ' old ' house at 5 p.m."),
        ("Mr. Li's 50% (in the '90s), etc.", "Mr. Li 's 50 % ( in the '90s ) , etc ."),
        ("He (she.)", "He ( she . )"),
    ],
)
def test_tokenizer_examples(text: str, expected: str) -> None:
    assert spelled(text, words(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. A. Li left. He slept.", ["Mr. A. Li left.", "He slept."]),
        ("In the U.S. The end.", ["In the U.S.", "The end."]),
        ("In the U.S. Senate, Co. men", ["In the U.S. Senate, Co. men"]),
        ('He said "No." Then No. 5 left?! Yes', ['He said "No."', "Then No. 5 left?!", "Yes"]),
        ("A title\n \n  so it. went on... and on", ["A title", "so it.", "went on... and on"]),
        (" \n\n ", []),
    ],
)
def test_sentence_splitter_examples(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


NEWSY = st.text(st.sampled_from("abS.!?'’\"`()[]{}-/<>=$%&;:,5 \n\u2028é"), max_size=40)


def uncovered(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text outside of spans, which must be sorted and not empty."""
    before, left = 0, ""
    for start, end in spans:
        assert before <= start < end <= len(text)
        left, before = left + text[before:start], end
    return left + text[before:]


@given(NEWSY)
def test_words_lose_nothing_but_white_space(text: str) -> None:
    spans = words(text)
    assert not uncovered(text, spans).strip()
    assert not any(text[start:end].split() != [text[start:end]] for start, end in spans)


@given(NEWSY)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert not uncovered(text, list(sentences(text))).strip()


@given(NEWSY)
def test_layout_maps_every_character(text: str) -> None:
    layout = ace.laid_out(text)
    assert len(layout.places) == len(text) + 1
    for before, character in enumerate(text):
        if not character.isspace():
            assert layout.text[layout.places[before]] == character
    assert "".join(layout.text.split()) == "".join(text.split())


def test_layout_maps_entities_to_characters() -> None:
    layout = ace.laid_out("AT&amp;T &LT;&unknown;")
    assert layout.text == "AT&T < &unknown ;"
    assert layout.places[7] == layout.text.index("T", 2)
