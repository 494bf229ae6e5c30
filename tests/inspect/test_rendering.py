"""Nested entities as HTML: nested boxes for any entities, and a page that loads nothing."""

import re

import pytest
from hypothesis import given

import nestag
from drawn_sentences import Reader, sentences
from nestag.data.crossing import drop_crossing
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.inspect.rendering import COLOURS, Mark, boxes, colour_of, harmless, render
from nestag.inspect.terminal import COLOURS as ANSI
from nestag.model.predictor import SHOWN_TEXTS, SeveralTexts, TextEntities, TextEntity

DEEP = [(0, end, kind) for end, kind in zip((1, 3, 6, 9, 12), ("A", "B", "C", "D", "E"), strict=True)]


def classes(text: str) -> list[str | None]:
    return [attributes["class"] for tag, attributes in Reader(text).seen if tag == "span"]


@given(sentences())
def test_boxes_nest_and_hold_every_word_and_label_once(given: tuple[list[str], list[Entity]]) -> None:
    tokens, entities = given
    read = Reader(render(tokens, entities).html)
    assert read.words == " ".join(tokens).replace("\x00", "␀")
    assert sorted(read.labels) == sorted(entity.type for entity in set(entities))


@given(sentences())
def test_nested_entities_are_nested_boxes(given: tuple[list[str], list[Entity]]) -> None:
    tokens, entities = given
    nested = drop_crossing(entities).nested
    read = Reader(render(tokens, nested).html)
    words = [" ".join(tokens[e.start : e.end]).replace("\x00", "␀") for e in set(nested)]
    assert sorted(read.boxes) == sorted(words)


def test_crossing_span_is_drawn_in_open_pieces() -> None:
    text = boxes("abcde", [Mark(0, 3, "PER"), Mark(2, 5, "GPE")])
    assert Reader(text).boxes == ["c", "abc", "de"]
    assert classes(text) == ["e k4 h1", "e k2 on", "e k2 from"]


def test_heights_grow_outwards_up_to_a_limit() -> None:
    text = boxes("abcd", [Mark(0, 4, "P"), Mark(0, 2, "G"), Mark(1, 2, "P")])
    p, g = colour_of("P"), colour_of("G")
    assert classes(text) == [f"e k{p} h2", f"e k{g} h1", f"e k{p}"]
    assert '<p class="text high-3"' in text
    deep = boxes("x" * 3000, [Mark(0, end, "P") for end in range(1, 3001)])
    assert '<p class="text high-8"' in deep


def test_hostile_text_is_escaped() -> None:
    bad = "<script>alert(1)</script>"
    read = Reader(render(bad, [(0, 8, bad), (0, 3, '"onmouseover=')]).html)
    assert {tag for tag, _ in read.seen} == {"p", "span", "b", "bdi"}
    assert {name for _, attributes in read.seen for name in attributes} == {"class", "dir", "title"}
    assert read.words == bad


def test_page_loads_nothing_and_uses_classes() -> None:
    page = render("the USA", DEEP[:2]).page("a < b")
    assert "<title>a &lt; b</title>" in page
    assert not re.search(r"://|@import|url\(|<script| style=", page)
    used = {name for found in re.findall(r'class="([^"]*)"', page) for name in found.split()}
    assert all(f".{name}" in page for name in used)


def test_type_has_the_same_colour_everywhere() -> None:
    assert (
        {colour_of(f"type {number}") for number in range(10 * COLOURS)} == set(range(COLOURS)) == set(range(len(ANSI)))
    )
    for common in ("PER ORG LOC GPE", "protein DNA RNA cell_type cell_line", "PER LOC ORG MISC"):
        assert len({colour_of(kind) for kind in common.split()}) == len(common.split())
    for others in ([], [(2, 3, "ORG")], [(2, 3, "LOC"), (2, 3, "GPE")]):
        assert f"k{colour_of('PER')}" in render("a b", [(0, 1, "PER"), *others]).html


def test_texts_tokens_and_sentences_are_drawn_the_same_way() -> None:
    sentence = Sentence(["the", "USA"], [Entity(1, 2, "GPE")])
    assert render(sentence) == render(sentence.tokens, sentence.entities) == render("the USA", [(4, 7, "GPE")])
    assert render("the USA", [{"start": 4, "end": 7, "type": "GPE"}]) == render(sentence)
    assert str(render(sentence)) == render(sentence).html


def test_result_html_shows_confidences() -> None:
    found = TextEntities("the USA", ["the", "USA"], [TextEntity(4, 7, "GPE", "USA", 0.987, 1, 2)])
    shown = found._repr_html_()
    assert 'title="GPE, 4 to 7, confidence 0.99"' in shown
    assert shown.startswith('<div class="nestag"><style>')


def test_a_list_of_results_draws_the_first_ones_with_one_style() -> None:
    one = TextEntities("the USA", ["the", "USA"], [TextEntity(4, 7, "GPE", "USA", 0.987, 1, 2)])
    shown = SeveralTexts([one] * (SHOWN_TEXTS + 3))._repr_html_()
    assert (shown.count("<style>"), shown.count('title="GPE')) == (1, SHOWN_TEXTS)
    assert "and 3 more" in shown


@pytest.mark.parametrize(
    "wrong", [(4, 8, "GPE"), (2, 2, "GPE"), (-1, 2, "GPE"), (0, 1), "GPE", {"start": 1}, (0, 1, 2)]
)
def test_entities_outside_the_text_are_refused(wrong: object) -> None:
    for text in ("the USA", ["the", "USA"]):
        with pytest.raises(DataError, match=r"is not inside|is not an entity"):
            render(text, [wrong])


def test_render_is_public() -> None:
    assert nestag.render is render


def test_unprintable_characters_are_replaced() -> None:
    assert harmless("a\ud800b\x1b\x85") == "a�b␛�"
    assert harmless("می\u200cخواهم") == "می\u200cخواهم"


def test_bidirectional_text_is_isolated() -> None:
    assert harmless("a\u202eb\u2066c\u2069") == "a�b�c�"
    assert harmless("\u200fא") == "\u200fא"  # a mark turns nothing but itself


def test_deep_nesting_is_drawn_in_linear_time() -> None:
    reads = 0

    class Counted(Mark):
        @property
        def end(self) -> int:  # type: ignore[override]
            nonlocal reads
            reads += 1
            return self[1]

    levels = 2_000
    drawn = boxes("ab" * levels, [Counted(i, 2 * levels - i, "A") for i in range(levels)])
    assert drawn.count("<span") == levels
    assert reads < 20 * levels
