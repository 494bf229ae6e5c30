"""The report on one model: an HTML page on how good it is on sentences that it has not seen.

The page is one file that loads nothing: scores overall, by type, depth and length, plots, calibration, sentences
without mistakes, and the worst mistakes. These show gold above the prediction, and label each mistake:

    gold        Lincoln PER  was [ president of [ the USA GPE ] PER ✗ missed ]
    predicted   Lincoln PER  was   president of [ the USA GPE ]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from nestag.data.sentence import Entity, Origin, Sentence
from nestag.errors import MissingExtraError
from nestag.evaluation import display
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import Mistake, mistakes_of
from nestag.evaluation.result import ALL, KINDS, Shown
from nestag.evaluation.thresholds import Calibration, Candidate, Curve, calibration
from nestag.inspect import plotting
from nestag.inspect.rendering import Html, Mark, colour_of, harmless, sentence_html, style
from nestag.inspect.table_forms import to_html
from nestag.inspect.tables import Figure, Section, Table

if TYPE_CHECKING:
    from jinja2 import Template

EXAMPLES = 5
"""Sentences without mistakes to show."""
WORST = 20
"""Sentences with mistakes to show."""


class Trial(NamedTuple):
    """A model, its test sentences, the predicted entities of each with their confidences, and the model's types."""

    model: str
    test: str
    gold: Sequence[Sentence]
    predicted: Sequence[Mapping[Entity, float]]
    types: Sequence[str] = ()


def model_page(trial: Trial) -> str:
    """Return the page; equal input gives equal bytes."""
    frame = template(resource("report.html.jinja"))  # first: a missing library is an error before any work
    pairs = (
        Pair(gold, gold.with_entities(predicted)) for gold, predicted in zip(trial.gold, trial.predicted, strict=True)
    )
    evaluation = evaluate_pairs(pairs)
    candidates = [
        Candidate(entity.type, confidence, entity in gold.entities)
        for gold, predicted in zip(trial.gold, trial.predicted, strict=True)
        for entity, confidence in predicted.items()
    ]
    reliability = calibration(candidates)
    shown = display.tables(evaluation, "narrow")
    tables = {
        "types": shown["types"],
        "depth": shown["depths"],
        "length": shown["lengths"],
        "confidence": confidence_table(reliability),
        "kinds": shown["mistakes"],
    }
    plots = {
        "depth": plotting.f1_plot(evaluation),
        "confidence": plotting.calibration_plot(reliability),
        "threshold": plotting.threshold_plot(Curve.of(candidates, evaluation.overall.gold)),
    }
    if evaluation.mistakes.confusion:
        tables["confusion"] = shown["confusion"]
        plots["confusion"] = plotting.confusion_plot(shown["confusion"])
    origins = {sentence.tokens: sentence.origin for sentence in trial.gold}
    worst = evaluation.mistakes.worst[:WORST]
    return frame.render(
        trial=trial,
        overall=evaluation.overall,
        bounds=evaluation.intervals[ALL],
        types={kind: colour_of(kind) for kind in trial.types or display.types_of(evaluation)},
        tables=tables,
        plots=plots,
        examples=examples(trial),
        worst=[mistakes_html(sentence, origins[sentence.tokens]) for sentence in worst],
        style=stylesheet(),
    )


def confidence_table(reliability: Calibration) -> Table:
    """Return a row for each tenth of confidence that has entities."""
    rows = tuple(
        (f"{10 * place} to {10 * place + 10}%", tenth.entities, Figure(100 * tenth.mean, form=".1f"),
         Figure(100 * tenth.share, form=".1f"))
        for place, tenth in enumerate(reliability.bins)
        if tenth.entities
    )  # fmt: skip
    return Table("Confidence", ("confidence", "entities", "mean, %", "correct, %"), (Section("", rows),))


def examples(trial: Trial) -> list[Html]:
    """Draw the sentences with the most entities that have no mistake."""
    pairs = zip(trial.gold, trial.predicted, strict=True)
    right = [(gold, predicted) for gold, predicted in pairs if predicted and set(predicted) == set(gold.entities)]
    right.sort(key=lambda pair: -len(pair[1]))
    return [
        sentence_html(gold.tokens, [Mark(*entity, confidence=p) for entity, p in predicted.items()], origin=gold.origin)
        for gold, predicted in right[:EXAMPLES]
    ]


def mistakes_html(sentence: Shown, origin: Origin | None = None) -> Html:
    """Draw a sentence with its mistakes in an `article`."""
    mistakes = mistakes_of(sentence.gold, sentence.predicted)
    in_gold = {mistake.gold: mistake.kind for mistake in mistakes if mistake.gold}
    in_prediction = {mistake.predicted: mistake.kind for mistake in mistakes if mistake.predicted}

    def side(name: str, entities: Iterable[Entity], wrong: Mapping[Entity, str]) -> str:
        marks = (Mark(*entity, wrong=wrong.get(entity, "")) for entity in entities)
        drawn = sentence_html(sentence.tokens, marks, origin=origin)
        return f'<div class="side"><span class="name">{name}</span>{drawn}</div>'

    return Html(
        f'<article class="sentence nestag"><h4>{_heading(sentence, mistakes)}</h4>'
        f"{side('gold', sentence.gold, in_gold)}{side('predicted', sentence.predicted, in_prediction)}</article>"
    )


def _heading(sentence: Shown, mistakes: Sequence[Mistake]) -> str:
    counts = Counter(mistake.kind for mistake in mistakes)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    name = f"<bdi>{harmless(sentence.id)}</bdi> " if sentence.id else ""
    return f"{name}<small>{len(mistakes)} mistake{'s' * (len(mistakes) != 1)}: {kinds}</small>"


def template(text: str) -> Template:
    """Return a page template; it escapes every text, and a missing name is an error."""
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
    """Return tables as HTML, HTML as it is, and other text without characters that reverse or hide what follows."""
    if isinstance(value, Table):
        return Html(to_html(value))
    return Html(harmless(value)) if isinstance(value, str) and not hasattr(value, "__html__") else value


def resource(name: str) -> str:
    """Read a file of this folder."""
    return (files("nestag.evaluation") / name).read_text(encoding="utf-8")


def stylesheet() -> Html:
    """Return the style of a report and of the sentences in it."""
    return Html(resource("report.css") + style())
