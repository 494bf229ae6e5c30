"""How sentences and corpora print, and how notebooks draw them."""

from pathlib import Path

from drawn_sentences import Reader
from nestag import Entity, Sentence, read_corpus, render, write_corpus
from nestag.inspect.rendering import SHOWN_SENTENCES, SHOWN_TYPES, draw_corpus, summary_table

NESTED = Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE"), Entity(0, 2, "ORG"), Entity(1, 2, "GPE")])


def test_sentence_prints_as_one_bracketed_line() -> None:
    assert str(NESTED) == "[[the [USA GPE] ORG] GPE] slept"
    assert str(Sentence(["a\nb"], [Entity(0, 1, "X")])) == "[a␊b X]"


def test_sentence_html_equals_render() -> None:
    assert NESTED._repr_html_() == render(NESTED)._repr_html_()


def test_corpus_prints_its_size_and_draws_its_first_sentences(tmp_path: Path) -> None:
    write_corpus([NESTED] * 9, tmp_path / "nine.jsonl")
    corpus = read_corpus(tmp_path / "nine.jsonl")
    rows = [line.split() for line in repr(corpus).splitlines()]
    assert rows[2:5] == [["sentences", "9"], ["tokens", "27"], ["entities", "27"]]
    assert rows[-2:] == [["GPE", "18"], ["ORG", "9"]]
    assert str(corpus) == repr(corpus)
    drawn = Reader(draw_corpus(corpus).html)
    assert len(drawn.boxes) == 3 * SHOWN_SENTENCES
    assert draw_corpus(corpus)._repr_html_() == corpus._repr_html_()


def test_rare_types_share_a_row() -> None:
    many = Sentence(["w"] * 30, [Entity(i, i + 1, f"T{min(i, SHOWN_TYPES + 1)}") for i in range(20)])
    *_, last = summary_table([many]).sections[-1].rows
    assert last == ("2 other types", 2)
    assert [section.title for section in summary_table([]).sections] == [""]
