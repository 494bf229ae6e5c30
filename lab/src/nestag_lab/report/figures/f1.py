"""F1 by encoding: a point for each seed, and the mean with its deviation, greedy beside constrained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nestag.evaluation.result import OverSeeds
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import canvas, frame_percent, legend_above, percent, sign
from nestag_lab.report.groups import Method, decodings, encodings, f1, of_way, ways

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

APART = 0.34
"""Between the decodings of an encoding, where encodings stand 1 apart."""


def draw(results: Sequence[RunResult], split: str) -> Figure:
    """The figure of one setup."""
    figure = canvas()
    axes = figure.subplots()
    kinds, names = decodings(results), encodings(results)
    for number, decoding in enumerate(kinds):
        shift = (number - (len(kinds) - 1) / 2) * APART
        for place, encoding in enumerate(names):
            if spread := f1(of_way(results, split, Method(encoding, decoding))):
                _draw_seeds(axes, place + shift, spread, number)
        own = sign(number)
        axes.plot([], [], color=own.colour, marker=own.marker, linestyle="none", label=decoding)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    frame_percent(axes, 0.15)
    axes.set_ylabel(f"F1 on {split}, %")
    legend_above(figure, axes)
    return figure


def _draw_seeds(axes: Axes, place: float, spread: OverSeeds, number: int) -> None:
    """The seeds of one encoding and decoding, and beside them their mean as a number."""
    own = sign(number)
    values = list(spread.values)
    axes.scatter([place - 0.08] * len(values), values, s=22, color=own.colour, marker=own.marker, alpha=0.55)
    axes.errorbar(
        [place + 0.05],
        [spread.mean],
        [spread.deviation or 0.0],
        color=own.colour,
        marker=own.marker,
        markersize=7,
        capsize=3,
    )
    top = max(max(values), spread.mean + (spread.deviation or 0.0))
    axes.annotate(f"{spread.mean:.1f}", (place, top), (0, 5), textcoords="offset points", ha="center", fontsize=9)


def words(results: Sequence[RunResult], split: str) -> str:
    """What the figure shows, for those who cannot see it."""
    found = {way: f1(of_way(results, split, way)) for way in ways(results, split)}
    told = [
        f"{way.encoding} {way.decoding} {percent(spread.mean)} ± {percent(spread.deviation or 0.0)}"
        for way, spread in found.items()
        if spread
    ]
    return f"Mean F1 on {split} ± deviation over seeds: {', '.join(told)}."
