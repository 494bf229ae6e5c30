"""A sentence as HTML: gold above predicted, entities as boxes in boxes, each mistaken one with what is wrong with it.

    gold        Lincoln PER  was [ president of [ the USA GPE ] PER ✗ missed ]
    predicted   Lincoln PER  was   president of [ the USA GPE ]

The boxes are inline, so that lines break anywhere and text may run from right to left. Entities that cross others are
drawn in pieces. What is a mistake is asked of `evaluation.mistakes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nestag.data import Entity, outermost_first
from nestag.evaluation.mistakes import Mistake, mistakes_of
from nestag.evaluation.result import KINDS, Shown
from nestag.lab.report.html import Html, harmless

COLOURS = 10
"""Colours of types; with more types they come again."""

LONGEST = 20
"""Characters of a type's name that fit a phone."""


class Box(NamedTuple):
    """An entity that is open while a sentence is written."""

    entity: Entity
    place: int  # where its tag goes once its height is known
    goes_on: bool  # whether it began before, and an entity that it crosses has ended since


@dataclass
class _Page:
    """What has been written of a sentence."""

    parts: list[str]
    open: list[Box]
    heights: list[int]  # of the open boxes, and before them of the whole


def drawn(sentence: Shown, colours: Mapping[str, int]) -> Html:
    """The sentence, its mistakes counted, in an `article`; `colours` gives the number of each type."""
    mistakes = mistakes_of(sentence.gold, sentence.predicted)
    of_gold = {mistake.gold: mistake.kind for mistake in mistakes if mistake.gold}
    of_predicted = {mistake.predicted: mistake.kind for mistake in mistakes if mistake.predicted}
    return Html(
        f'<article class="sentence" data-mistakes="{_keys(mistakes, colours)}"><h4>{_heading(sentence, mistakes)}</h4>'
        f"{_side('gold', sentence.tokens, sentence.gold, of_gold, colours)}"
        f"{_side('predicted', sentence.tokens, sentence.predicted, of_predicted, colours)}</article>"
    )


def _keys(mistakes: Iterable[Mistake], colours: Mapping[str, int]) -> str:
    """Each mistake as `kind.type`, in numbers, for a page to choose by."""
    found = {
        f"{KINDS.index(mistake.kind)}.{colours[entity.type]}"
        for mistake in mistakes
        for entity in (mistake.gold, mistake.predicted)
        if entity
    }
    return " ".join(sorted(found))


def _heading(sentence: Shown, mistakes: Sequence[Mistake]) -> str:
    counts = Counter(mistake.kind for mistake in mistakes)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    name = f"<bdi>{harmless(sentence.id)}</bdi> " if sentence.id else ""
    return f"{name}<small>{len(mistakes)} mistake{'s' * (len(mistakes) != 1)}: {told}</small>"


def _side(
    name: str,
    tokens: Sequence[str],
    entities: Iterable[Entity],
    wrong: Mapping[Entity, str],
    colours: Mapping[str, int],
) -> str:
    """One of the two sides, with its name."""
    page = boxes(tokens, entities, wrong, colours)
    high = page.heights[0]
    return (
        f'<div class="side"><span class="name">{name}</span>'
        f'<p dir="auto" style="--high:{high}">{"".join(page.parts)}</p></div>'
    )


def boxes(
    tokens: Sequence[str], entities: Iterable[Entity], wrong: Mapping[Entity, str], colours: Mapping[str, int]
) -> _Page:
    """The words with a `span` around each entity, in one walk over the sentence."""
    waiting = sorted(set(entities), key=outermost_first, reverse=True)
    page = _Page([], [], [0])
    for position, token in enumerate(tokens):
        cut = _close(page, position, wrong, colours)
        page.parts.append(" " * (position > 0))
        for entity in cut:
            _open(page, entity, goes_on=True)
        while waiting and waiting[-1].start == position:
            _open(page, waiting.pop(), goes_on=False)
        page.parts.append(harmless(token))
    _close(page, len(tokens), wrong, colours)
    return page


def _open(page: _Page, entity: Entity, goes_on: bool) -> None:
    page.open.append(Box(entity, len(page.parts), goes_on))
    page.heights.append(0)
    page.parts.append("")


def _close(page: _Page, position: int, wrong: Mapping[Entity, str], colours: Mapping[str, int]) -> list[Entity]:
    """End the boxes that end here, and those inside them; the entities of the latter go on and are returned."""
    ending = [place for place, box in enumerate(page.open) if box.entity.end == position]
    cut: list[Entity] = []
    while ending and len(page.open) > ending[0]:
        box, height = page.open.pop(), page.heights.pop()
        page.heights[-1] = max(page.heights[-1], height + 1)
        stays = box.entity.end > position
        page.parts[box.place] = _tag(box, height, stays, wrong.get(box.entity), colours)
        page.parts.append("</span>" if stays else f"{_label(box.entity, wrong.get(box.entity))}</span>")
        cut += [box.entity] * stays
    return cut[::-1]


def _tag(box: Box, height: int, stays: bool, kind: str | None, colours: Mapping[str, int]) -> str:
    """The beginning of a box; it is open on a side where its entity goes on."""
    names = [f"k{colours[box.entity.type] % COLOURS}"]
    names += ["wrong"] * bool(kind) + ["from"] * box.goes_on + ["on"] * stays
    style = f' style="--h:{height}"' if height else ""
    return f'<span class="e {" ".join(names)}"{style}>'


def _label(entity: Entity, kind: str | None) -> str:
    """The type, and what is wrong; only long names may be broken, so that a label stays with its last word."""
    long = ' class="long"' * (len(entity.type) > LONGEST)
    return f"<b{long}> <bdi>{harmless(entity.type)}</bdi>{f' <i>{kind}</i>' if kind else ''}</b>"
