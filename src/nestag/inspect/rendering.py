"""Nested entities as HTML for notebooks, reports and pages: boxes in boxes, the type of each at its end.

    [Lincoln PER] was [president of [the USA GPE] PER]

The boxes are inline, so that lines break anywhere and text may run from right to left. Spans that cross others are
drawn in pieces, open on the side where they continue. All styles are classes of `rendering.css`, so that a strict
content security policy allows the drawings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import accumulate
from typing import Any, NamedTuple
from zlib import crc32

from nestag.data.sentence import Origin, Sentence
from nestag.errors import DataError
from nestag.inspect.table_forms import to_html
from nestag.inspect.tables import Row, Section, Table

COLOURS = 10  # of types, see rendering.css
COMMON_TYPES_DIFFER = 11816  # a seed with which the types of common corpora have different colours
HIGHEST = 8  # boxes inside a box after which it grows no more
LONGEST = 20  # characters of a type's name that fit a phone
SHOWN_TYPES = 10  # of a corpus in a notebook
SHOWN_SENTENCES = 5

_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that cannot be shown or that reverse the text after them; line ends are fine."""


class Html(str):
    """Text that is HTML already, so that a template shows it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text, for templates."""
        return self


def harmless(text: str) -> str:
    r"""Escape text for a page; joiners stay, the invisible characters of `_UNSEEN` are replaced.

    >>> harmless('<b onclick="x">\x07')
    '&lt;b onclick=&quot;x&quot;&gt;␇'
    """
    return escape(_UNSEEN.sub(lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "�", text))


def colour_of(kind: str) -> int:
    """Return the number of a type's colour, which depends on its name alone: it is the same everywhere.

    >>> colour_of("PER"), colour_of("GPE")
    (4, 2)
    """
    return crc32(kind.encode("utf-8", "replace"), COMMON_TYPES_DIFFER) % COLOURS


class Mark(NamedTuple):
    """A span of characters to draw: its type, the model's confidence in it, and what is wrong with it."""

    start: int
    end: int
    type: str
    confidence: float | None = None
    wrong: str = ""


def boxes(text: str, marks: Iterable[Mark], *, numbered: bool = False) -> Html:
    """Return the text in a `p`, with a `span` around each mark.

    If `numbered`, `data-entity` tells a script which of the marks a box, or a piece of one, belongs to.

    >>> print(boxes("the USA", [Mark(4, 7, "GPE")]))
    <p class="text high-1" dir="auto">the <span class="e k2" title="GPE, 4 to 7">USA<b> <bdi>GPE</bdi></b></span></p>
    """
    unique = list(dict.fromkeys(marks))
    writer = _BoxWriter(text, {mark: i for i, mark in enumerate(unique)} if numbered else {})
    writer.write(sorted(unique, key=lambda mark: (mark.start, -mark.end, mark.type, mark.wrong)))
    high = min(writer.heights[0], HIGHEST)
    return Html(f'<p class="text high-{high}" dir="auto">{"".join(writer.parts)}</p>')


class _Box(NamedTuple):
    """A span that is open while a text is written."""

    mark: Mark
    place: int  # where its tag goes once its height is known
    is_rest: bool  # whether it began before, and was cut where a span that it crosses ended


class _BoxWriter:
    """Writes a text with boxes in one walk, from border to border."""

    def __init__(self, text: str, numbers: Mapping[Mark, int]) -> None:
        self.text = text
        self.numbers = numbers
        self.parts: list[str] = []
        self.open: list[_Box] = []
        self.ends: Counter[int] = Counter()  # how many of the open boxes end at each place
        self.heights = [0]  # of the open boxes, and before them of the whole

    def write(self, marks: Sequence[Mark]) -> None:
        """Write the text with these marks, outermost first; one outside the text is a DataError."""
        for mark in marks:
            if not 0 <= mark.start < mark.end <= len(self.text):
                raise DataError(
                    f"entity {mark.start} to {mark.end} {mark.type} is not inside the text of {len(self.text):,}"
                    " characters; count characters from 0, the end exclusive"
                )
        borders = sorted({0, len(self.text), *(place for mark in marks for place in mark[:2])})
        pending = list(marks[::-1])
        for here, end in zip(borders, [*borders[1:], len(self.text)], strict=True):
            for mark in self._close(here):
                self._open(mark, is_rest=True)
            while pending and pending[-1].start == here:
                self._open(pending.pop(), is_rest=False)
            self.parts.append(harmless(self.text[here:end]))

    def _open(self, mark: Mark, is_rest: bool) -> None:
        self.open.append(_Box(mark, len(self.parts), is_rest))
        self.ends[mark.end] += 1
        self.heights.append(0)
        self.parts.append("")

    def _close(self, place: int) -> list[Mark]:
        """End the boxes that end here and those inside them; return the marks that continue."""
        cut: list[Mark] = []
        while self.ends[place]:
            box, height = self.open.pop(), self.heights.pop()
            self.ends[box.mark.end] -= 1
            self.heights[-1] = max(self.heights[-1], height + 1)
            continues = box.mark.end > place
            self.parts[box.place] = self._tag(box, height, continues)
            self.parts.append("</span>" if continues else f"{_label(box.mark)}</span>")
            cut += [box.mark] * continues
        return cut[::-1]

    def _tag(self, box: _Box, height: int, continues: bool) -> str:
        """Return the beginning of a box, which is open on a side where its span continues."""
        mark = box.mark
        names = [f"k{colour_of(mark.type)}", *([f"h{min(height, HIGHEST)}"] if height else [])]
        names += ["wrong"] * bool(mark.wrong) + ["from"] * box.is_rest + ["on"] * continues
        confidence = "" if mark.confidence is None else f", confidence {mark.confidence:.2f}"
        number = f' data-entity="{self.numbers[mark]}"' if self.numbers else ""
        title = f"{harmless(mark.type)}, {mark.start} to {mark.end}{confidence}"
        return f'<span class="e {" ".join(names)}" title="{title}"{number}>'


def _label(mark: Mark) -> str:
    """Return the type, and what is wrong; only long names may be broken, so that a label stays with its last word."""
    long = ' class="long"' * (len(mark.type) > LONGEST)
    return f"<b{long}> <bdi>{harmless(mark.type)}</bdi>{f' <i>{harmless(mark.wrong)}</i>' if mark.wrong else ''}</b>"


@dataclass(frozen=True)
class Drawing:
    """Nested entities as HTML, which notebooks show and `page` makes a page of."""

    html: Html

    def _repr_html_(self) -> str:
        return f'<div class="nestag"><style>{style()}</style>{self.html}</div>'

    def page(self, title: str = "nestag") -> str:
        """Return a whole page that loads nothing."""
        return (
            '<!doctype html>\n<html><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{harmless(title)}</title><style>{style()}</style></head>"
            f'<body class="nestag">{self.html}</body></html>\n'
        )

    def __str__(self) -> str:
        return self.html


def render(text: str | Sequence[str] | Sentence, entities: Iterable[Any] | None = None) -> Drawing:
    """Draw the nested entities of a text as HTML, for a notebook or a page.

    `entities` are those of a recognizer, or tuples of start, end and type. They count the characters of a text, or the
    tokens of a list. A `Sentence` brings its own.

    >>> drawing = render("the USA", [(4, 7, "GPE")])
    >>> drawing.page("USA").startswith("<!doctype html>")
    True
    """
    if isinstance(text, Sentence):
        entities = text.entities if entities is None else entities
        text = text.tokens
    marks = [mark_of(entity) for entity in entities or ()]
    return Drawing(boxes(text, marks) if isinstance(text, str) else sentence_html(text, marks))


def sentence_html(tokens: Sequence[str], marks: Iterable[Mark], origin: Origin | None = None) -> Html:
    """Draw tokens as in the text they come from, or with a space between two, and marks that count tokens."""
    starts = accumulate((len(token) + 1 for token in tokens), initial=0)
    text, offsets, first = " ".join(tokens), [(i, i + len(token)) for i, token in zip(starts, tokens, strict=False)], 0
    if origin is not None:
        text, offsets = origin.text.strip(), list(origin.offsets)
        first = origin.start + origin.text.index(text)
    in_characters: list[Mark] = []
    for mark in marks:
        if not 0 <= mark.start < mark.end <= len(tokens):
            raise DataError(f"entity {mark[:3]} is not inside the {len(tokens)} tokens; count tokens from 0")
        start, end = offsets[mark.start][0] - first, offsets[mark.end - 1][1] - first
        in_characters.append(mark._replace(start=start, end=end))
    return boxes(text, in_characters)


def mark_of(entity: Any) -> Mark:
    """Return any entity that has start, end and type as a mark: an object, a tuple or a dict."""
    if isinstance(entity, Mark):
        return entity
    try:
        if isinstance(entity, dict):
            start, end, kind = entity["start"], entity["end"], entity["type"]
        elif isinstance(entity, tuple | list):
            start, end, kind = entity[:3]
        else:
            start, end, kind = entity.start, entity.end, entity.type
        if type(start) is int and type(end) is int and isinstance(kind, str):
            return Mark(start, end, kind, getattr(entity, "confidence", None))
    except (ValueError, KeyError, AttributeError):
        pass
    raise DataError(f"{entity!r:.80} is not an entity; give (start, end, type), or a recognizer's entity")


def style() -> Html:
    """Return the style sheet of drawings; all of it is under the class `nestag`."""
    return Html((files("nestag.inspect") / "rendering.css").read_text(encoding="utf-8"))


def summary_table(sentences: Sequence[Sentence]) -> Table:
    """Return the size of a corpus, with a row for each of its most frequent types.

    >>> from nestag.data.sentence import Entity
    >>> from nestag.inspect.table_forms import to_text
    >>> print(to_text(summary_table([Sentence(["the", "USA"], [Entity(0, 2, "GPE")])])))
    corpus     count
    ────────────────
    sentences      1
    tokens         2
    entities       1
    <BLANKLINE>
    entities of type
    GPE            1
    <BLANKLINE>
    """
    types = Counter(entity.type for sentence in sentences for entity in sentence.entities)
    rows: list[Row] = list(types.most_common(SHOWN_TYPES))
    if len(types) > SHOWN_TYPES:
        rest = types.total() - sum(count for _, count in types.most_common(SHOWN_TYPES))
        rows.append((f"{len(types) - SHOWN_TYPES} other types", rest))
    sizes = ("sentences", len(sentences)), ("tokens", sum(map(len, sentences))), ("entities", types.total())
    sections = [Section("", sizes), *([Section("entities of type", tuple(rows))] if rows else [])]
    return Table("", ("corpus", "count"), tuple(sections))


def draw_corpus(sentences: Sequence[Sentence]) -> Drawing:
    """Draw the size of a corpus and its first sentences as HTML, for a notebook."""
    first = "".join(render(sentence).html for sentence in sentences[:SHOWN_SENTENCES])
    return Drawing(Html(to_html(summary_table(sentences)) + first))
