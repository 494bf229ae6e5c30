"""Mistakes as HTML: nested boxes for any entities."""

from hypothesis import given

from drawn_sentences import Reader, sentences
from nestag.data.sentence import Entity
from nestag.evaluation.mistakes import mistakes_of
from nestag.evaluation.report import mistakes_html
from nestag.evaluation.result import Shown


def test_mistakes_are_named_on_both_sides() -> None:
    gold = (Entity(0, 1, "PER"), Entity(1, 3, "GPE"), Entity(4, 5, "PER"))
    guess = (Entity(0, 1, "GPE"), Entity(1, 2, "GPE"))
    text = mistakes_html(Shown("s<1>", tuple("abcde"), gold, guess))
    assert "<bdi>s&lt;1&gt;</bdi>" in text
    assert "3 mistakes: 1 type, 1 boundary, 1 missed" in text
    above, below = text.split('<span class="name">predicted</span>')
    assert [above.count(f"<i>{kind}</i>") for kind in ("type", "boundary", "missed", "spurious")] == [1, 1, 1, 0]
    assert [below.count(f"<i>{kind}</i>") for kind in ("type", "boundary", "missed", "spurious")] == [1, 1, 0, 0]


@given(sentences())
def test_every_mistake_has_one_mark(given: tuple[list[str], list[Entity]]) -> None:
    tokens, entities = given
    gold, guess = entities[::2], entities[1::2]
    text = mistakes_html(Shown(None, tuple(tokens), tuple(gold), tuple(guess)))
    found = mistakes_of(gold, guess)
    assert text.count("<i>") == sum((one.gold is not None) + (one.predicted is not None) for one in found)


def test_hostile_text_is_escaped() -> None:
    bad = ("<script>alert(1)</script>", '"onmouseover=')
    text = mistakes_html(Shown(bad[0], bad, (Entity(0, 1, bad[0]),), (Entity(1, 2, bad[1]),)))
    read = Reader(text)
    assert {tag for tag, _ in read.seen} <= {"article", "h4", "bdi", "small", "div", "span", "p", "b", "i"}
    assert {name for _, attributes in read.seen for name in attributes} <= {"class", "dir", "title"}
