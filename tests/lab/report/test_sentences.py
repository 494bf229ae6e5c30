"""Sentences as HTML: boxes in boxes, whatever the entities are."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from nestag.crossing import set_aside_crossing
from nestag.data import Entity
from nestag.evaluation.mistakes import mistakes_of
from nestag.evaluation.result import Shown
from nestag.lab.report.html import harmless
from nestag.lab.report.sentences import boxes, drawn

COLOURS = {"PER": 0, "GPE": 1, "<script>alert(1)</script>": 2, '"onmouseover=': 11}
TYPES = list(COLOURS)
VOID = ("br", "meta", "link")


class Reader(HTMLParser):
    """The elements of a piece of HTML, and its words outside labels and inside each box."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.labels: list[str] = []
        self.boxes: list[str] = []
        self.inside: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes)))
        if tag == "span":
            self.inside.append("")
        if tag == "bdi":
            self.labels.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag
        if tag == "span":
            self.boxes.append(self.inside.pop())

    def handle_data(self, text: str) -> None:
        if any(tag == "b" for tag, _ in self.open):
            if self.open[-1][0] == "bdi":
                self.labels[-1] += text
            return
        self.words += text
        self.inside = [before + text for before in self.inside]


@st.composite
def sentences(draw: st.DrawFn) -> tuple[list[str], list[Entity]]:
    """Words and entities over them, crossing ones too."""
    tokens = draw(st.lists(st.sampled_from(["a", "b<", "&amp;", "קי", "x" * 30, "\x00"]), min_size=1, max_size=8))
    places = st.integers(0, len(tokens))
    spans = st.tuples(places, places).filter(lambda span: span[0] < span[1])
    entities = draw(st.lists(st.builds(lambda span, kind: Entity(*span, kind), spans, st.sampled_from(TYPES))))
    return tokens, entities


@given(sentences())
def test_boxes_close_in_order_and_hold_every_word_and_label_once(given: tuple[list[str], list[Entity]]) -> None:
    tokens, entities = given
    read = Reader("".join(boxes(tokens, entities, {}, COLOURS).parts))
    assert read.words == " ".join(tokens).replace("\x00", "␀")
    assert sorted(read.labels) == sorted(entity.type for entity in set(entities))


@given(sentences())
def test_nested_entities_are_boxes_of_their_words(given: tuple[list[str], list[Entity]]) -> None:
    tokens, entities = given
    nested = set_aside_crossing(entities).kept
    read = Reader("".join(boxes(tokens, nested, {}, COLOURS).parts))
    words = [" ".join(tokens[e.start : e.end]).replace("\x00", "␀") for e in set(nested)]
    assert sorted(read.boxes) == sorted(words)


def test_a_crossing_entity_is_drawn_in_pieces_open_where_it_goes_on() -> None:
    text = "".join(boxes(list("abcde"), [Entity(0, 3, "PER"), Entity(2, 5, "GPE")], {}, COLOURS).parts)
    read = Reader(text)
    assert read.boxes == ["c", "a b c", "d e"]
    assert [attributes["class"] for _, attributes in read.seen if attributes.get("class")] == [
        "e k0",
        "e k1 on",
        "e k1 from",
    ]


def test_heights_grow_outwards() -> None:
    page = boxes(list("abcd"), [Entity(0, 4, "PER"), Entity(0, 2, "GPE"), Entity(1, 2, "PER")], {}, COLOURS)
    assert page.heights == [3]
    read = Reader("".join(page.parts))
    assert [attributes.get("style") for tag, attributes in read.seen if tag == "span"] == ["--h:2", "--h:1", None]


def test_a_very_deep_sentence_is_no_trouble() -> None:
    tokens = ["x"] * 3000
    page = boxes(tokens, [Entity(0, end, "PER") for end in range(1, 3001)], {}, COLOURS)
    assert page.heights == [3000]


def test_mistakes_are_named_on_both_sides() -> None:
    gold = (Entity(0, 1, "PER"), Entity(1, 3, "GPE"), Entity(4, 5, "PER"))
    guess = (Entity(0, 1, "GPE"), Entity(1, 2, "GPE"))
    text = drawn(Shown("s<1>", tuple("abcde"), gold, guess), COLOURS)
    assert "<bdi>s&lt;1&gt;</bdi>" in text
    assert "3 mistakes: 1 type, 1 boundary, 1 missed" in text
    above, below = text.split('<span class="name">predicted</span>')
    assert [above.count(f"<i>{kind}</i>") for kind in ("type", "boundary", "missed", "spurious")] == [1, 1, 1, 0]
    assert [below.count(f"<i>{kind}</i>") for kind in ("type", "boundary", "missed", "spurious")] == [1, 1, 0, 0]
    assert 'data-mistakes="0.0 0.1 1.1 3.0"' in text


@given(sentences())
def test_as_many_marks_as_mistaken_entities(given: tuple[list[str], list[Entity]]) -> None:
    tokens, entities = given
    gold, guess = entities[::2], entities[1::2]
    text = drawn(Shown(None, tuple(tokens), tuple(gold), tuple(guess)), COLOURS)
    found = mistakes_of(gold, guess)
    assert text.count("<i>") == sum((one.gold is not None) + (one.predicted is not None) for one in found)


def test_hostile_text_stays_text() -> None:
    bad = ("<script>alert(1)</script>", '"onmouseover=')
    text = drawn(Shown(bad[0], bad, (Entity(0, 1, bad[0]),), (Entity(1, 2, bad[1]),)), COLOURS)
    read = Reader(text)
    assert {tag for tag, _ in read.seen} <= {"article", "h4", "bdi", "small", "div", "span", "p", "b", "i"}
    assert {name for _, attributes in read.seen for name in attributes} <= {"class", "data-mistakes", "dir", "style"}


def test_what_cannot_be_shown_or_written_is_replaced_and_what_joins_letters_is_not() -> None:
    assert harmless("a\ud800b\x1b\x85") == "a�b␛�"
    assert harmless("می\u200cخواهم") == "می\u200cخواهم"


def test_no_word_turns_the_words_after_it_around() -> None:
    assert harmless("a\u202eb\u2066c\u2069") == "a�b�c�"
    assert harmless("\u200fא") == "\u200fא"  # a mark turns nothing but itself
