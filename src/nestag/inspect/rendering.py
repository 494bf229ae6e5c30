"""Nested entities as HTML for notebooks, reports and pages: boxes in boxes, the type of each at its end.

    [Lincoln PER] was [president of [the USA GPE] PER]

The boxes are inline, so that lines break anywhere and text may run from right to left. Spans that cross others are
drawn in pieces, open on the side where they continue. Everything is a class and nothing is styled in place, so that a
strict content security policy allows it; `rendering.css` has the style.
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

from nestag.data.sentence import Sentence
from nestag.errors import DataError

_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What cannot be shown, and what would turn all that follows it around; a line end can."""


class Html(str):
    """Text that is HTML already, so that a template shows it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """What templates ask for."""
        return self


def harmless(text: str) -> str:
    r"""Text that a page shows as it is; joiners stay, the invisible characters of `_UNSEEN` are removed.

    >>> harmless('<b onclick="x">\x07')
    '&lt;b onclick=&quot;x&quot;&gt;␇'
    """
    return escape(_UNSEEN.sub(lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "�", text))


COLOURS = 10
"""The number of colours; types share them if there are more."""

COMMON_TYPES_DIFFER = 11816
"""A seed with which the types of common corpora have different colours."""

HIGHEST = 8
"""Boxes inside a box after which it grows no more."""

LONGEST = 20
"""Characters of a type's name that fit a phone."""


class Mark(NamedTuple):
    """A span of characters to draw: its type, how sure a model is of it, and what is wrong with it."""

    start: int
    end: int
    type: str
    confidence: float | None = None
    wrong: str = ""


class Box(NamedTuple):
    """A span that is open while a text is written."""

    mark: Mark
    place: int  # where its tag goes once its height is known
    goes_on: bool  # whether it began before, and a span that it crosses has ended since


@dataclass
class _TextSoFar:
    """What has been written of a text."""

    parts: list[str]
    open: list[Box]
    ends: Counter[int]  # how many of the open boxes end at each place
    heights: list[int]  # of the open boxes, and before them of the whole


class Look(NamedTuple):
    """What the boxes of a drawing share: the colour of each type, and the number of each mark, if they have any."""

    colours: Mapping[str, int]
    numbers: Mapping[Mark, int]


def boxes(
    text: str, marks: Iterable[Mark], colours: Mapping[str, int] | None = None, *, numbered: bool = False
) -> Html:
    """The text in a `p`, with a `span` around each mark; `colours` gives the number of each type.

    If `numbered`, a script finds in `data-entity` which of the marks a box, or a piece of one, belongs to.

    >>> print(boxes("the USA", [Mark(4, 7, "GPE")], {"GPE": 1}))
    <p class="text high-1" dir="auto">the <span class="e k1" title="GPE, 4 to 7">USA<b> <bdi>GPE</bdi></b></span></p>
    """
    given = list(dict.fromkeys(marks))
    found = _checked(text, given)
    own = colours_of(mark.type for mark in found) if colours is None else colours
    so_far = _walked(text, found, Look(own, {mark: i for i, mark in enumerate(given)} if numbered else {}))
    high = min(so_far.heights[0], HIGHEST)
    return Html(f'<p class="text high-{high}" dir="auto">{"".join(so_far.parts)}</p>')


def colour_of(kind: str) -> int:
    """Return the number of a type's colour, which depends on its name alone: it is the same everywhere."""
    return crc32(kind.encode("utf-8", "replace"), COMMON_TYPES_DIFFER) % COLOURS


def colours_of(types: Iterable[str]) -> dict[str, int]:
    """Return the number of each type's colour.

    >>> colours_of(["PER", "GPE"])
    {'PER': 4, 'GPE': 2}
    """
    return {kind: colour_of(kind) for kind in types}


def _checked(text: str, marks: Iterable[Mark]) -> list[Mark]:
    """The marks, outermost first; one outside the text is a DataError."""
    found = sorted(marks, key=lambda mark: (mark.start, -mark.end, mark.type, mark.wrong))
    for mark in found:
        if not 0 <= mark.start < mark.end <= len(text):
            raise DataError(
                f"entity {mark.start} to {mark.end} {mark.type} is not inside the text of {len(text):,} characters;"
                " count characters from 0, the end exclusive"
            )
    return found


def _walked(text: str, marks: list[Mark], look: Look) -> _TextSoFar:
    """One walk over the text, from border to border."""
    borders = sorted({0, len(text), *(place for mark in marks for place in mark[:2])})
    waiting = marks[::-1]
    so_far = _TextSoFar([], [], Counter(), [0])
    for here, end in zip(borders, [*borders[1:], len(text)], strict=True):
        for mark in _close(so_far, here, look):
            _open(so_far, mark, goes_on=True)
        while waiting and waiting[-1].start == here:
            _open(so_far, waiting.pop(), goes_on=False)
        so_far.parts.append(harmless(text[here:end]))
    return so_far


def _open(so_far: _TextSoFar, mark: Mark, goes_on: bool) -> None:
    so_far.open.append(Box(mark, len(so_far.parts), goes_on))
    so_far.ends[mark.end] += 1
    so_far.heights.append(0)
    so_far.parts.append("")


def _close(so_far: _TextSoFar, place: int, look: Look) -> list[Mark]:
    """End the boxes that end here, and those inside them; the marks of the latter go on and are returned."""
    cut: list[Mark] = []
    while so_far.ends[place]:
        box, height = so_far.open.pop(), so_far.heights.pop()
        so_far.ends[box.mark.end] -= 1
        so_far.heights[-1] = max(so_far.heights[-1], height + 1)
        stays = box.mark.end > place
        so_far.parts[box.place] = _tag(box, height, stays, look)
        so_far.parts.append("</span>" if stays else f"{_label(box.mark)}</span>")
        cut += [box.mark] * stays
    return cut[::-1]


def _tag(box: Box, height: int, stays: bool, look: Look) -> str:
    """The beginning of a box; it is open on a side where its span goes on."""
    mark = box.mark
    names = [f"k{look.colours[mark.type] % COLOURS}", *([f"h{min(height, HIGHEST)}"] if height else [])]
    names += ["wrong"] * bool(mark.wrong) + ["from"] * box.goes_on + ["on"] * stays
    sure = "" if mark.confidence is None else f", confidence {mark.confidence:.2f}"
    number = f' data-entity="{look.numbers[mark]}"' if look.numbers else ""
    said = f"{harmless(mark.type)}, {mark.start} to {mark.end}{sure}"
    return f'<span class="e {" ".join(names)}" title="{said}"{number}>'


def _label(mark: Mark) -> str:
    """The type, and what is wrong; only long names may be broken, so that a label stays with its last word."""
    long = ' class="long"' * (len(mark.type) > LONGEST)
    return f"<b{long}> <bdi>{harmless(mark.type)}</bdi>{f' <i>{harmless(mark.wrong)}</i>' if mark.wrong else ''}</b>"


@dataclass(frozen=True)
class Drawing:
    """Nested entities as HTML: shown by notebooks as it is, or saved as a page of its own."""

    html: Html

    def _repr_html_(self) -> str:
        return f'<div class="nestag"><style>{style()}</style>{self.html}</div>'

    def page(self, title: str = "nestag") -> str:
        """A whole page that loads nothing."""
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

    `entities` are what a recognizer found, or tuples of start, end and type: in characters of a text, or in tokens if
    a list of tokens is given. A `Sentence` brings its own.

    >>> drawing = render("the USA", [(4, 7, "GPE")])
    >>> drawing.page("USA").startswith("<!doctype html>")
    True
    """
    if isinstance(text, Sentence):
        return Drawing(sentence_html(text.tokens, map(mark_of, text.entities if entities is None else entities)))
    found = [mark_of(entity) for entity in entities or ()]
    if isinstance(text, str):
        return Drawing(boxes(text, found))
    return Drawing(sentence_html(text, found))


def sentence_html(tokens: Sequence[str], marks: Iterable[Mark], colours: Mapping[str, int] | None = None) -> Html:
    """Tokens with marks that count tokens, drawn with a space between two tokens."""
    starts = [0, *accumulate(len(token) + 1 for token in tokens)]
    moved: list[Mark] = []
    for mark in marks:
        if not 0 <= mark.start < mark.end <= len(tokens):
            raise DataError(f"entity {mark[:3]} is not inside the {len(tokens)} tokens; count tokens from 0")
        moved.append(mark._replace(start=starts[mark.start], end=starts[mark.end] - 1))
    return boxes(" ".join(tokens), moved, colours)


def mark_of(entity: Any) -> Mark:
    """An entity of any kind that has start, end and type, as a mark."""
    if isinstance(entity, Mark):
        return entity
    try:
        start, end, kind = (entity[0], entity[1], entity[2]) if isinstance(entity, tuple | list) else _fields(entity)
        if type(start) is int and type(end) is int and isinstance(kind, str):
            return Mark(start, end, kind, getattr(entity, "confidence", None))
    except (IndexError, KeyError, AttributeError):
        pass
    raise DataError(f"{entity!r:.80} is no entity; give (start, end, type), or what a recognizer found")


def _fields(entity: Any) -> tuple[Any, Any, Any]:
    if isinstance(entity, dict):
        return entity["start"], entity["end"], entity["type"]
    return entity.start, entity.end, entity.type


def style() -> Html:
    """The style sheet of drawings; all of it is under the class `nestag`."""
    return Html((files("nestag.inspect") / "rendering.css").read_text(encoding="utf-8"))
