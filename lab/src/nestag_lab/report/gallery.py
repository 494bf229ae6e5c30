"""All figures of an experiment: drawn, named, and saved in the formats asked for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nestag.inspect.plotting import drawing, saved
from nestag.inspect.rendering import Html
from nestag_lab.experiment.result import RunResult
from nestag_lab.report import topics
from nestag_lab.report.figures import confusion, curves, f1, kinds, parts, reliability
from nestag_lab.report.figures.inline import inline
from nestag_lab.report.figures.look import SETTINGS
from nestag_lab.report.groups import best_way, setups, title_of, typical, ways
from nestag_lab.report.topics import Topic

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def slug(text: str) -> str:
    """A name for a file or an element that every system takes.

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
    detail: str = ""  # what it is about beyond topic and setup


class Plate(NamedTuple):
    """A figure as a page shows it, and as files."""

    topic: Topic
    title: str
    html: Html
    wide: bool  # whether its letters would be too small on a phone
    files: dict[str, bytes]  # by name
    boxes: tuple[str, ...] = ()  # files that have boxes for letters, where matplotlib's fonts lack them


def gallery(results: Sequence[RunResult], split: str, png: bool = True) -> list[Plate]:
    """Every figure that these runs give, by topic and then by setup; drawing PNG takes half of the time."""
    groups = setups(results)
    stems: list[str] = []
    plates = []
    with drawing(SETTINGS, extra="report"):
        for setup, runs in groups.items():
            for plot in plots_of(runs, split):
                title = title_of(setup, groups)
                stems.append(_apart(slug(f"{plot.topic.name}-{title}"), stems))
                plates.append(_plate(plot, title, stems[-1], png))
    return sorted(plates, key=lambda plate: topics.TOPICS.index(plate.topic))


def _apart(stem: str, others: Sequence[str]) -> str:
    """The name, with a number if another figure has it."""
    numbers = (f"{stem}-{number}" for number in range(2, len(others) + 3))
    return stem if stem not in others else next(name for name in numbers if name not in others)


def plots_of(runs: Sequence[RunResult], split: str) -> Iterator[Plot]:
    """Those of one setup; what was not measured is not drawn."""
    if ways(runs, split):
        yield Plot(topics.F1, f1.draw(runs, split), f1.words(runs, split))
        for topic, breakdown in ((topics.DEPTH, parts.DEPTH), (topics.LENGTH, parts.LENGTH)):
            yield Plot(topic, parts.draw(runs, split, breakdown), parts.words(runs, split, breakdown))
        yield Plot(topics.KINDS, kinds.draw(runs, split), kinds.words(runs, split))
        yield from _confusion(runs, split)
    if any(run.scorings for run in runs):
        yield Plot(topics.CURVES, curves.draw(runs), curves.words(runs))
    if reliability.calibrations(runs, split):
        yield Plot(topics.CALIBRATION, reliability.draw(runs, split), reliability.words(runs, split))


def _confusion(runs: Sequence[RunResult], split: str) -> Iterator[Plot]:
    """The matrix of the typical run of the best encoding and decoding, if it has any counts."""
    way = best_way(runs, split)
    run = typical(runs, split, way) if way else None
    if way is None or run is None:
        return
    counts = run.evaluations[split][way.decoding].mistakes.confusion
    if counts:
        detail = f"{way.encoding}, {way.decoding} decoding, seed {run.key.seed}, {split}"
        yield Plot(topics.CONFUSION, confusion.draw(counts), confusion.words(counts), detail)


def _plate(plot: Plot, title: str, stem: str, png: bool) -> Plate:
    """The figure saved."""
    full = f"{title}: {plot.detail}" if plot.detail else title
    found = {stem + end: _file(plot.figure, end) for end in (SVG, *([PNG] if png else []))}
    files = {name: file.content for name, file in found.items()}
    markup = inline(files[stem + SVG], stem, f"{plot.topic.title}, {full}", plot.words)
    # In an SVG, letters that matplotlib's own fonts lack are shown in those of the reader.
    boxes = tuple(name for name, file in found.items() if file.boxes and name.endswith(PNG))
    wide = plot.figure.get_figwidth() > WIDE
    return Plate(plot.topic, full, Html(markup), wide, files, boxes)


class _File(NamedTuple):
    """A figure in one form."""

    content: bytes
    boxes: bool  # whether matplotlib had to draw boxes for letters


def _file(figure: Figure, suffix: str) -> _File:
    """Save a figure; what matplotlib says of missing letters is kept, whatever else it says is passed on."""
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", "Glyph .* missing", UserWarning)
        content = saved(figure, suffix)
    others = [one for one in told if not str(one.message).startswith("Glyph ")]
    for one in others:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return _File(content, len(others) < len(told))
