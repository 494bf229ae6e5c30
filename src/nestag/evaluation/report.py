"""The report on one model as a page: how good it is on sentences that it has not seen.

One HTML file that loads nothing: scores in all, by type, by depth and by length, how far confidences can be trusted,
sentences that it gets right, and its worst mistakes. In these, gold is drawn above predicted, and each mistaken entity
says what is wrong with it:

    gold        Lincoln PER  was [ president of [ the USA GPE ] PER ✗ missed ]
    predicted   Lincoln PER  was   president of [ the USA GPE ]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from nestag.data.sentence import Entity, Sentence
from nestag.errors import MissingExtraError
from nestag.evaluation import display
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import Mistake, mistakes_of
from nestag.evaluation.result import KINDS, Evaluation, Interval, Intervals, Shown
from nestag.evaluation.thresholds import Calibration, Rated, calibration
from nestag.inspect.rendering import Html, Mark, harmless, sentence_html, style
from nestag.inspect.table_forms import to_html
from nestag.inspect.tables import Figure, Section, Table

if TYPE_CHECKING:
    from jinja2 import Template

EXAMPLES = 5
"""Sentences that are shown because all of their entities were found."""
WORST = 20
"""Sentences that are shown because of their mistakes."""


class Trial(NamedTuple):
    """A model, the sentences it was tested on, and the entities that it found in each, with their confidences."""

    model: str
    test: str
    gold: Sequence[Sentence]
    found: Sequence[Mapping[Entity, float]]


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
    frame = template(resource("report.html.jinja"))  # first: without its library, nothing need be scored
    predicted = [sentence.with_entities(found) for sentence, found in zip(trial.gold, trial.found, strict=True)]
    evaluation = evaluate_pairs(map(Pair, trial.gold, predicted))
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
        worst=[mistakes_html(one, kinds) for one in evaluation.mistakes.worst[:WORST]],
        style=stylesheet(),
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
        Rated(confidence, entity in set(sentence.entities))
        for sentence, found in pairs
        for entity, confidence in found.items()
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
    right = [(gold, found) for gold, found in pairs if found and set(found) == set(gold.entities)]
    right.sort(key=lambda pair: -len(pair[1]))
    return [
        sentence_html(gold.tokens, [Mark(*entity, confidence=sure) for entity, sure in found.items()], colours)
        for gold, found in right[:EXAMPLES]
    ]


def _html(table: Table) -> Html:
    """A table whose title stands above it already."""
    return Html(to_html(replace(table, note="")))


def mistakes_html(sentence: Shown, colours: Mapping[str, int]) -> Html:
    """The sentence, its mistakes counted, in an `article`; `colours` gives the number of each type."""
    mistakes = mistakes_of(sentence.gold, sentence.predicted)
    of_gold = {mistake.gold: mistake.kind for mistake in mistakes if mistake.gold}
    of_predicted = {mistake.predicted: mistake.kind for mistake in mistakes if mistake.predicted}
    return Html(
        f'<article class="sentence nestag" data-mistakes="{_keys(mistakes, colours)}">'
        f"<h4>{_heading(sentence, mistakes)}</h4>"
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
    marks = (Mark(*entity, wrong=wrong.get(entity, "")) for entity in entities)
    return f'<div class="side"><span class="name">{name}</span>{sentence_html(tokens, marks, colours)}</div>'


def template(text: str) -> Template:
    """A page before it is filled in; every text is escaped, and a name that is missing is an error."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise MissingExtraError("reports need jinja2", "report") from None
    environment = Environment(
        autoescape=True, finalize=_harmless, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return environment.from_string(text)


def _harmless(value: object) -> object:
    """What is put into a page: HTML as it is, other text without characters that would turn or hide what follows."""
    return Html(harmless(value)) if isinstance(value, str) and not hasattr(value, "__html__") else value


def resource(name: str) -> str:
    """A file of this folder."""
    return (files("nestag.evaluation") / name).read_text(encoding="utf-8")


def stylesheet() -> Html:
    """The style of a report and of the sentences in it."""
    return Html(resource("report.css") + style())
