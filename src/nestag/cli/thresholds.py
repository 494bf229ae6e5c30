"""thresholds: a recognizer and a development set -> thresholds that serve a goal, stored in the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.output import Forms, show
from nestag.cli.predict import loaded
from nestag.cli.terminal import progress, tell
from nestag.corpora.corpus import Corpus
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.evaluation.score import Score
from nestag.evaluation.thresholds import Candidate, Curve, Goal, Thresholds, find_thresholds
from nestag.model_folder import change_settings, is_finished
from nestag.predictor import Predictor
from nestag.tables import Figure, Section, Table

FLOOR = 0.02
"""The least probability of an entity that is looked at."""


class WantedFigure(StrEnum):
    """Figures that can be made as large as possible."""

    F1 = "f1"


def thresholds(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder; the thresholds are saved in it.")],
    dev: Annotated[str, typer.Argument(metavar="DEV", help="An annotated corpus that was not trained on.")],
    wanted: Annotated[WantedFigure, typer.Option("--for", help="The score to maximize.")] = WantedFigure.F1,
    precision: Annotated[
        float | None, typer.Option(min=0, max=1, help="Maximize recall at this precision or more instead.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option(min=0, max=1, help="Maximize precision at this recall or more instead.")
    ] = None,
    by_type: Annotated[bool, typer.Option(help="Also find a threshold for each type.")] = True,
    save: Annotated[
        bool, typer.Option(help="Save the thresholds in the model, which then predicts all entities above them.")
    ] = True,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw precision and recall (.png or .svg).")] = None,
    device: Annotated[
        str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1 (default: a GPU if there is one).")
    ] = None,
    forms: Forms,
    format: From = None,
    reading: Reading,
) -> None:
    """Find the confidence from which entities are kept, overall and by type, and store it in the model.

    Every entity that the model holds possible counts, also those that are not in its best answer, so recall can be had
    at the price of precision. Exit code 1 if the goal is out of reach.
    """
    goal, form = checked_goal(precision, recall, plot), forms.chosen
    recognizer = loaded(model, device, {"entities": "likely", "threshold": FLOOR, "thresholds": {}})
    if save and not is_finished(Path(model)):
        raise InputError("thresholds are stored in the folder of a model; give one, or --no-save", model)
    corpus = Corpus.read(dev, format, reading.options_for(recognizer.settings.reading))
    for line in corpus.report.summary():
        tell(line)
    candidates = rated(recognizer, corpus)
    gold = Counter(entity.type for sentence in corpus for entity in sentence.entities)
    curve = Curve.of(candidates, gold.total())
    found = find_thresholds(candidates, gold, goal, by_type=by_type, floor=FLOOR)
    if plot:
        from nestag.cli.plot import plot_curve

        plot_curve(curve, found.overall if found else None, plot)
    if found is None:
        tell(f"{goal} is out of reach: {reachable(curve)}; nothing was stored")
        raise typer.Exit(1)
    show(table_of(found, goal), form)
    if save:
        store(found, model)


def checked_goal(precision: float | None, recall: float | None, plot: str | None) -> Goal:
    """What the thresholds are for, once all options are known to be right."""
    if precision is not None and recall is not None:
        raise InputError("both --precision and --recall are given; give one of them", "command line")
    if plot:
        from nestag.plotting import check_suffix

        check_suffix(plot)
    return Goal(precision, recall)


def store(found: Thresholds, model: str) -> None:
    """Save thresholds in the folder of a model."""
    own = {kind: point.threshold for kind, point in found.types.items()}
    change_settings(model, {"entities": "likely", "threshold": found.others.threshold, "thresholds": own})
    tell(f"stored in {model}")


def rated(recognizer: Predictor, corpus: Sequence[Sentence]) -> list[Candidate]:
    """Every candidate of the corpus, and whether it is true."""
    return [
        Candidate(entity.type, entity.confidence, entity.entity in set(sentence.entities))
        for sentence, found in recognizer.annotate_scored(progress(iter(corpus), "tagging"))
        for entity in found
    ]


def reachable(curve: Curve) -> str:
    """The highest precision and recall that any threshold reaches."""
    if not len(curve):
        return "the model finds nothing"
    return f"precision goes up to {100 * curve.precision.max():.2f} %, recall to {100 * curve.recall.max():.2f} %"


def table_of(found: Thresholds, goal: Goal) -> Table:
    """The thresholds with what they give: overall, by type, and all of them together."""
    rows = [_row("all, one threshold", found.overall.score, found.overall.threshold)]
    if found.types:
        rows += [_row(kind, point.score, point.threshold) for kind, point in found.types.items()]
        if any(found.others.score):
            rows.append(_row("other types", found.others.score, found.others.threshold))
        rows.append(_row("all, with those of types", found.together))
    columns = ("type", "threshold", "precision", "recall", "F1", "true", "found", "right")
    return Table(f"Thresholds for the {goal}", columns, (Section("", tuple(rows)),))


def _row(name: str, score: Score, threshold: float | None = None) -> tuple[str | float | int | Figure | None, ...]:
    figures = (Figure(100 * value) for value in (score.precision, score.recall, score.f1))
    shown = None if threshold is None else Figure(threshold, form=".4f")
    return (name, shown, *figures, score.gold, score.predicted, score.correct)
