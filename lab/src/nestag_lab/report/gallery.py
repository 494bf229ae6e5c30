"""All figures of an experiment: by topic, drawn, named, and saved in the formats asked for."""

from __future__ import annotations

import base64
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nestag.inspect.plotting import drawing, figure_bytes
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures import scores, training
from nestag_lab.report.figures.look import SETTINGS
from nestag_lab.report.groups import setups, title_of, ways

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Topic(NamedTuple):
    """What several figures are about, each of another corpus."""

    name: str
    short: str  # for navigation
    title: str
    text: str


F1 = Topic(
    "f1",
    "F1",
    "F1 by encoding",
    "Small signs are seeds, the large one is their mean with its deviation. The scale need not begin at 0.",
)
DEPTH = Topic(
    "depth",
    "Depth",
    "F1 by depth",
    "Means over seeds; an entity at depth 0 is in no other, n counts gold entities. Precision asks for the depth in"
    " the prediction, recall for that in gold. The scale need not begin at 0.",
)
LENGTH = Topic(
    "length",
    "Length",
    "F1 by length",
    "Means over seeds, by the number of tokens of an entity; n counts gold entities. The scale need not begin at 0.",
)
CURVES = Topic(
    "curves",
    "Learning",
    "Learning curves",
    "F1 on the development set and the loss after each epoch, a line a run.",
)
KINDS = Topic(
    "kinds",
    "Kinds",
    "What went wrong",
    "A mistaken entity is paired with at most one other. Type: the same tokens, another type. Boundary: the same type,"
    " some of the tokens. Boundary and type: both. Missed and spurious ones are left without a partner.",
)
CALIBRATION = Topic(
    "calibration",
    "Calibration",
    "Calibration",
    "Of the entities predicted with a confidence near p, p % should be right: the line from corner to corner."
    " Constrained decoding, all seeds together; below, how many entities there are, on a logarithmic scale.",
)
TOPICS = (F1, DEPTH, LENGTH, KINDS, CURVES, CALIBRATION)


def slug(text: str) -> str:
    """Return a safe name for a file or an HTML element.

    >>> slug("org/model v2")
    'org-model-v2'
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.") or "x"


SVG, PNG = ".svg", ".png"
WIDE = 6.0
"""Inches from which a figure is not made as narrow as a phone."""


class Plot(NamedTuple):
    """A figure before it is saved."""

    topic: Topic
    figure: Figure
    words: str  # what it shows, for those who cannot see it


class Plate(NamedTuple):
    """A figure as a page shows it, and as files."""

    topic: Topic
    title: str
    image: str  # SVG in base64
    words: str  # what it shows, for those who cannot see it
    wide: bool  # whether its letters would be too small on a phone
    files: dict[str, bytes]  # by name


def gallery(results: Sequence[RunResult], split: str, png: bool = True) -> list[Plate]:
    """Draw all figures of these runs, sorted by topic and setup."""
    groups = setups(results)
    stems: list[str] = []
    plates = []
    with drawing(SETTINGS, extra="report"):
        for setup, runs in groups.items():
            for plot in plots_of(runs, split):
                title = title_of(setup, groups)
                stems.append(_apart(slug(f"{plot.topic.name}-{title}"), stems))
                plates.append(_plate(plot, title, stems[-1], png))
    return sorted(plates, key=lambda plate: TOPICS.index(plate.topic))


def _apart(stem: str, others: Sequence[str]) -> str:
    """Return the name, with a number if it is taken."""
    numbers = (f"{stem}-{number}" for number in range(2, len(others) + 3))
    return stem if stem not in others else next(name for name in numbers if name not in others)


def plots_of(runs: Sequence[RunResult], split: str) -> Iterator[Plot]:
    """Draw those of one setup; what was not measured is not drawn."""
    if ways(runs, split):
        yield Plot(F1, scores.draw_f1(runs, split), scores.f1_words(runs, split))
        for topic, breakdown in ((DEPTH, scores.DEPTH), (LENGTH, scores.LENGTH)):
            words = scores.groups_words(runs, split, breakdown)
            yield Plot(topic, scores.draw_groups(runs, split, breakdown), words)
        yield Plot(KINDS, scores.draw_kinds(runs, split), scores.kinds_words(runs, split))
    if any(run.scorings for run in runs):
        yield Plot(CURVES, training.draw_curves(runs), training.curves_words(runs))
    if training.calibrations(runs, split):
        yield Plot(CALIBRATION, training.draw_calibration(runs, split), training.calibration_words(runs, split))


def _plate(plot: Plot, title: str, stem: str, png: bool) -> Plate:
    """Return the figure as files, and as an image inside the page; fonts that lack a letter draw a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        files = {stem + end: figure_bytes(plot.figure, end) for end in (SVG, *([PNG] if png else []))}
    image = base64.b64encode(files[stem + SVG]).decode()
    return Plate(plot.topic, title, image, plot.words, plot.figure.get_figwidth() > WIDE, files)
