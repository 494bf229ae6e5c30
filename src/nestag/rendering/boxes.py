"""Nested entities as HTML: boxes in boxes over a text, the type of each written at its end.

    [Lincoln PER] was [president of [the USA GPE] PER]

The boxes are inline, so that lines break anywhere and text may run from right to left. Spans that cross others are
drawn in pieces, open where they go on. Everything is a class, nothing is styled in place, so that a strict policy lets
it pass; `style.css` says how it looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nestag.errors import DataError
from nestag.rendering.html import Html, harmless

COLOURS = 10
"""Colours of types; with more types they come again."""

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


def colours_of(types: Iterable[str]) -> dict[str, int]:
    """A number for each type: the same for the same name wherever it can be, no two alike while there are enough.

    >>> colours_of(["PER", "GPE"]) == colours_of(["GPE", "PER", "PER"])
    True
    """
    numbers: dict[str, int] = {}
    for kind in sorted(set(types)):
        wanted = sum(kind.encode("utf-8", "replace")) % COLOURS
        free = ((wanted + step) % COLOURS for step in range(COLOURS))
        numbers[kind] = next((number for number in free if number not in numbers.values()), wanted)
    return numbers


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
    so_far = _TextSoFar([], [], [0])
    for here, end in zip(borders, [*borders[1:], len(text)], strict=True):
        for mark in _close(so_far, here, look):
            _open(so_far, mark, goes_on=True)
        while waiting and waiting[-1].start == here:
            _open(so_far, waiting.pop(), goes_on=False)
        so_far.parts.append(harmless(text[here:end]))
    return so_far


def _open(so_far: _TextSoFar, mark: Mark, goes_on: bool) -> None:
    so_far.open.append(Box(mark, len(so_far.parts), goes_on))
    so_far.heights.append(0)
    so_far.parts.append("")


def _close(so_far: _TextSoFar, place: int, look: Look) -> list[Mark]:
    """End the boxes that end here, and those inside them; the marks of the latter go on and are returned."""
    ending = [number for number, box in enumerate(so_far.open) if box.mark.end == place]
    cut: list[Mark] = []
    while ending and len(so_far.open) > ending[0]:
        box, height = so_far.open.pop(), so_far.heights.pop()
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
