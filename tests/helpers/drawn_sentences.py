"""Sentences to draw as HTML, and a parser of the result."""

from html.parser import HTMLParser

from hypothesis import strategies as st

from nestag.data.sentence import Entity

TYPES = ["PER", "GPE", "<script>alert(1)</script>", '"onmouseover=']
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
