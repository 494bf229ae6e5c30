"""Plots of a report as images in a page: calibration, thresholds, confusion of types, and F1 by length and depth.

Each function draws one matplotlib figure; `image` turns it into an HTML image that needs no other file.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

from nestag.errors import visible
from nestag.evaluation import display
from nestag.evaluation.result import DEPTHS, LENGTHS, Evaluation, Group
from nestag.evaluation.thresholds import Calibration, Curve
from nestag.inspect.plotting import COLOURS, drawing, saved
from nestag.inspect.rendering import Html, harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.6, 3.2
"""Inches of a figure: narrow, so that text stays readable on a phone."""

LONGEST = 14
"""Maximum characters of a type's name in the confusion matrix."""

SETTINGS = {"svg.fonttype": "none", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False}


def image(draw: Callable[[], Figure], words: str) -> Html:
    """Return a figure as an HTML image, with words for those who cannot see it."""
    with drawing(SETTINGS, "report"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # browsers have more fonts than matplotlib
        svg = saved(draw(), ".svg")
    data = b64encode(svg).decode()
    return Html(f'<img class="plot" alt="{harmless(words)}" src="data:image/svg+xml;base64,{data}">')


def calibration_plot(calibration: Calibration) -> Html:
    """Return the reliability diagram: the share of correct entities by confidence, and their number."""

    def draw() -> Figure:
        figure = _figure(HEIGHT + 0.6)
        share, count = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        tenths = [tenth for tenth in calibration.bins if tenth.entities]
        share.plot([0, 100], [0, 100], color="0.7", linestyle="--")
        means = [100 * tenth.mean for tenth in tenths]
        share.plot(means, [100 * tenth.share for tenth in tenths], "o-", color=COLOURS[0])
        share.set_ylabel("correct, %")
        count.bar(
            [10 * place + 5 for place in range(10)], [tenth.entities for tenth in calibration.bins], 8, color=COLOURS[0]
        )
        count.set_ylabel("entities")
        count.set_xlabel("confidence, %")
        count.set_xlim(0, 100)
        return figure

    return image(draw, f"Reliability diagram. Expected calibration error {100 * calibration.error:.1f} %.")


def threshold_plot(curve: Curve) -> Html:
    """Return precision, recall and F1 over the minimum confidence of entities."""

    def draw() -> Figure:
        figure = _figure()
        axes = figure.subplots()
        lines = {"precision": curve.precision, "recall": curve.recall, "F1": curve.f1}
        for colour, (name, values) in zip((COLOURS[0], COLOURS[5], COLOURS[2]), lines.items(), strict=True):
            axes.step(100 * curve.thresholds, 100 * values, where="pre", label=name, color=colour)
        axes.set_xlabel("minimum confidence, %")
        axes.set_ylabel("%")
        axes.set_ylim(0, 102)
        axes.legend(frameon=False)
        return figure

    return image(draw, "Precision rises and recall falls as the minimum confidence rises.")


def confusion_plot(evaluation: Evaluation) -> Html:
    """Return the confusion matrix of types over the same span; each row is shaded by its shares."""
    table = display.confusion(evaluation)
    rows = table.sections[0].rows
    names = [name[: LONGEST - 1] + "…" if len(name) > LONGEST else name for name in map(visible, table.columns[1:])]
    counts = [[cell if isinstance(cell, int) else 0 for cell in row[1:]] for row in rows]

    def draw() -> Figure:
        figure = _figure(max(HEIGHT, 1.4 + 0.36 * len(names)))
        axes = figure.subplots()
        shares = [[count / max(1, sum(row)) for count in row] for row in counts]
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, row in enumerate(counts):
            for x, count in enumerate(row):
                colour = "white" if shares[y][x] > 0.55 else "black"
                axes.text(x, y, f"{count:,}" if count else "", ha="center", va="center", color=colour, fontsize=9)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), names)
        axes.set_xlabel("predicted")
        axes.set_ylabel("gold")
        return figure

    return image(draw, "Confusion matrix: gold types in rows, predicted types in columns. The table has its numbers.")


def f1_plot(evaluation: Evaluation) -> Html:
    """Return F1 by length and by depth, with 95 % intervals."""

    def draw() -> Figure:
        figure = _figure()
        by_length, by_depth = figure.subplots(1, 2, sharey=True, width_ratios=(5, 4))
        _bars(by_length, evaluation, "length", LENGTHS)
        _bars(by_depth, evaluation, "depth", DEPTHS)
        by_length.set_ylabel("F1, %")
        by_length.set_xlabel("tokens")
        by_depth.set_xlabel("depth")
        return figure

    return image(draw, "F1 by the length and by the depth of entities. The tables have its numbers.")


def _bars(axes: Axes, evaluation: Evaluation, word: str, groups: tuple[Group, ...]) -> None:
    """Draw a bar for each group that has entities."""
    scores = evaluation.figures()
    names = [group.name for group in groups if any(scores[f"{word} {group.name}"])]
    for place, name in enumerate(names):
        f1, bounds = 100 * scores[f"{word} {name}"].f1, evaluation.intervals.get(f"{word} {name}")
        axes.bar(place, f1, 0.7, color=COLOURS[0])
        if bounds:
            axes.vlines(place, 100 * bounds.f1.low, 100 * bounds.f1.high, color="black")
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 102)


def _figure(height: float = HEIGHT) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")
