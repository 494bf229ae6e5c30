"""What went wrong: for each encoding and decoding, how many entities were mistaken in which way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nestag.evaluation.result import KINDS, Evaluation, over_seeds
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import PAPER, canvas, ink_on, legend_above, sign
from nestag_lab.report.groups import Method, of_way, ways

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOM = 0.06
"""The share of the longest bar from which a part has room for its number."""


def counts(results: Sequence[RunResult], split: str) -> dict[Method, dict[str, float]]:
    """Mistakes by kind, the mean over seeds."""
    return {
        way: {kind: _mean_count(of_way(results, split, way), kind) for kind in KINDS} for way in ways(results, split)
    }


def _mean_count(evaluations: Sequence[Evaluation], kind: str) -> float:
    found = over_seeds(one.mistakes.kinds.get(kind, 0) for one in evaluations)
    return found.mean if found else 0.0


def draw(results: Sequence[RunResult], split: str) -> Figure:
    """The figure of one setup: a bar for each encoding and decoding, parted by kind."""
    found = counts(results, split)
    figure = canvas(1.5 + 0.3 * max(4, len(found)))
    axes = figure.subplots()
    left = [0.0] * len(found)
    longest = max((sum(one.values()) for one in found.values()), default=0.0)
    for number, kind in enumerate(KINDS):
        widths, colour = [one[kind] for one in found.values()], sign(number).colour
        bars = axes.barh(range(len(found)), widths, 0.72, left, label=kind, color=colour, edgecolor=PAPER)
        names = [f"{width:,.0f}" if width > 0 and width >= ROOM * longest else "" for width in widths]
        axes.bar_label(bars, names, label_type="center", fontsize=8.5, color=ink_on(colour))
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(found)), [f"{way.encoding} {way.decoding}" for way in found])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.set_xlim(0, 1.05 * max(longest, 1))
    axes.set_xlabel(f"mistakes on {split}, mean over seeds")
    legend_above(figure, axes, columns=3)
    return figure


def words(results: Sequence[RunResult], split: str) -> str:
    """What the figure shows, for those who cannot see it."""
    told = [
        f"{way.encoding} {way.decoding} {', '.join(f'{kind} {count:,.0f}' for kind, count in kinds.items())}"
        for way, kinds in counts(results, split).items()
    ]
    return f"Mistakes on {split} by kind, the mean over seeds: {'; '.join(told)}."
