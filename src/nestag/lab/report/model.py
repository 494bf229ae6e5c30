"""The report of one model: how good it is on sentences that it has not seen, in the words of whoever uses it.

One HTML file that loads nothing: scores in all, by type, by depth and by length, how far confidences can be trusted,
sentences that it gets right, and its worst mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from nestag.data import Sentence
from nestag.evaluation import display
from nestag.evaluation.calibration import Calibration, Rated, calibration
from nestag.evaluation.judge import judged
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import Evaluation, Interval, Intervals
from nestag.lab.report.page import resource, template
from nestag.lab.report.sentences import drawn
from nestag.predictor import ScoredEntity
from nestag.rendering import Html, sentence_html, style
from nestag.rendering.boxes import Mark
from nestag.tables import Figure, Section, Table
from nestag.tables.html import to_html

EXAMPLES = 5
"""Sentences that are shown because all of their entities were found."""
WORST = 20
"""Sentences that are shown because of their mistakes."""


class Trial(NamedTuple):
    """A model, the sentences it was tested on, and what it found in them."""

    model: str
    test: str
    gold: Sequence[Sentence]
    found: Sequence[Sequence[ScoredEntity]]


class Tile(NamedTuple):
    """A figure of the summary: its name, its value, its interval, and what it means."""

    name: str
    value: str
    interval: str
    meaning: str


class PageSection(NamedTuple):
    """A section of the page."""

    name: str
    title: str
    how: str
    html: Html


def model_page(trial: Trial) -> str:
    """The page; equal input gives equal bytes."""
    frame = template("model.html.jinja")  # first: without its library, nothing need be judged
    predicted = [
        sentence.with_entities(one.entity for one in found)
        for sentence, found in zip(trial.gold, trial.found, strict=True)
    ]
    evaluation = judged(map(Pair, trial.gold, predicted))
    kinds = {kind: place for place, kind in enumerate(display.types_of(evaluation))}
    return frame.render(
        name=trial.model,
        test=trial.test,
        sentences=len(trial.gold),
        entities=evaluation.overall.gold,
        types=list(kinds),
        tiles=tiles(evaluation),
        parts=[*parts(evaluation, trial)],
        examples=examples(trial, kinds),
        worst=[drawn(one, kinds) for one in evaluation.mistakes.worst[:WORST]],
        style=Html(resource("style.css") + style()),
    )


def tiles(evaluation: Evaluation) -> list[Tile]:
    """The three figures that count most."""
    score, bounds = evaluation.overall, evaluation.intervals.get("all")
    right, found = f"{100 * score.precision:.0f}", f"{100 * score.recall:.0f}"
    meanings = {
        "precision": f"of 100 entities that it marks, {right} are right",
        "recall": f"of 100 entities that there are, it finds {found}",
        "F1": "both in one figure, their harmonic mean",
    }
    return [
        Tile(name, f"{100 * getattr(score, name.lower()):.1f}", _interval(bounds, name.lower()), meaning)
        for name, meaning in meanings.items()
    ]


def _interval(bounds: Intervals | None, name: str) -> str:
    if bounds is None:
        return ""
    between: Interval = getattr(bounds, name)
    return f"{100 * between.low:.1f} to {100 * between.high:.1f}"


def parts(evaluation: Evaluation, trial: Trial) -> Iterator[PageSection]:
    """The tables, each with a line on how to read it."""
    yield PageSection("types", "By type", "An entity counts as right if both its words and its type are.",
                      _html(display.by_type(evaluation)))  # fmt: skip
    yield PageSection("depth", "Entities inside entities", "Depth 0 is in no other entity, depth 1 in one, and so on.",
                      _html(display.by_depth(evaluation)))  # fmt: skip
    yield PageSection("length", "By length", "How many words an entity has.", _html(display.by_length(evaluation)))
    yield PageSection("confidence", "How sure it is",
                      "Of the entities that it marks with a confidence near 90 %, about 90 % should be right.",
                      _html(confidence_table(rated(trial))))  # fmt: skip
    yield PageSection("kinds", "What goes wrong",
                      "Type: the right words with another type. Boundary: the right type with some"
                      " words more or fewer. Missed: not found at all. Spurious: marked where there is none.",
                      _html(display.mistakes(evaluation)))  # fmt: skip
    if evaluation.mistakes.confusion:
        yield PageSection("confusion", "Types that are mixed up", "True types in rows, what the model said in columns.",
                          _html(display.confusion(evaluation)))  # fmt: skip


def rated(trial: Trial) -> Calibration:
    """How often it is right at each confidence."""
    pairs = zip(trial.gold, trial.found, strict=True)
    return calibration(
        Rated(one.confidence, one.entity in set(sentence.entities)) for sentence, found in pairs for one in found
    )


def confidence_table(found: Calibration) -> Table:
    """A row for each tenth of confidence that has entities."""
    rows = tuple(
        (f"{10 * place} to {10 * place + 10} %", one.entities, Figure(100 * one.mean, form=".1f"),
         Figure(100 * one.share, form=".1f"))
        for place, one in enumerate(found.bins)
        if one.entities
    )  # fmt: skip
    return Table("Confidence", ("confidence", "entities", "mean, %", "right, %"), (Section("", rows),))


def examples(trial: Trial, colours: dict[str, int]) -> list[Html]:
    """The sentences with the most entities of which all were found and nothing else."""
    pairs = zip(trial.gold, trial.found, strict=True)
    right = [(gold, found) for gold, found in pairs if found and {one.entity for one in found} == set(gold.entities)]
    right.sort(key=lambda pair: -len(pair[1]))
    return [
        sentence_html(gold.tokens, [Mark(*one.entity, confidence=one.confidence) for one in found], colours)
        for gold, found in right[:EXAMPLES]
    ]


def _html(table: Table) -> Html:
    """A table whose title stands above it already."""
    return Html(to_html(replace(table, note="")))
