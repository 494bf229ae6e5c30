"""Figures: how deep and long the entities of a corpus are; precision and recall by threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nestag.diagnosis.statistics import Statistics
from nestag.evaluation.thresholds import Curve, Point
from nestag.files import writing_bytes
from nestag.plotting import COLOURS, check_suffix, drawing, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDEST = 12
"""The last length of an entity that has a bar of its own."""


def plot(splits: Mapping[str, Statistics], path: str) -> None:
    """Write the figure as PNG or SVG, by the suffix of the file."""
    suffix = check_suffix(path)
    with drawing():
        figure = saved(draw(splits), suffix)
    with writing_bytes(path) as stream:
        stream.write(figure)


def draw(splits: Mapping[str, Statistics]) -> Figure:
    """Three panels side by side, each in percent, so that splits of any size compare."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), layout="constrained")
    depths, spans, lengths = figure.subplots(1, 3)
    _bars(depths, {name: one.depths for name, one in splits.items()}, 0, max(_largest(splits), 1))
    _label(depths, "Depth of entities", "depth (0: in no other)", "% of entities")
    _bars(spans, {name: one.spans for name, one in splits.items()}, 1, WIDEST)
    _label(spans, "Length of entities", f"tokens (the last bar: {WIDEST} or more)", "% of entities")
    _lines(lengths, {name: one.lengths for name, one in splits.items()})
    _label(lengths, "Length of sentences", "tokens", "% of sentences of at most so many")
    depths.legend(frameon=False)
    return figure


def _largest(splits: Mapping[str, Statistics]) -> int:
    return max((max(one.depths, default=0) for one in splits.values()), default=0)


def _bars(axes: Axes, counts: Mapping[str, Mapping[int, int]], first: int, last: int) -> None:
    """A group of bars for each number, one for each split; larger numbers join the last."""
    width = 0.8 / len(counts)
    places = range(first, last + 1)
    for number, (name, split) in enumerate(counts.items()):
        total = sum(split.values()) or 1
        shares = [100 * split.get(place, 0) / total for place in places]
        shares[-1] += 100 * sum(count for place, count in split.items() if place > last) / total
        shift = (number - (len(counts) - 1) / 2) * width
        axes.bar([place + shift for place in places], shares, width, label=name, color=COLOURS[number % len(COLOURS)])
    axes.set_xticks(list(places))


def _lines(axes: Axes, counts: Mapping[str, Mapping[int, int]]) -> None:
    """For each split, the share of numbers up to each number."""
    for number, (name, split) in enumerate(counts.items()):
        total = sum(split.values()) or 1
        passed, places, shares = 0, [0], [0.0]
        for place in sorted(split):
            passed += split[place]
            places.append(place)
            shares.append(100 * passed / total)
        axes.step(places, shares, where="post", label=name, color=COLOURS[number % len(COLOURS)])
    axes.set_xlim(left=0)


def _label(axes: Axes, title: str, below: str, beside: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_xlabel(below)
    axes.set_ylabel(beside)
    axes.set_ylim(0, None)
    axes.spines[["top", "right"]].set_visible(False)


def plot_curve(curve: Curve, chosen: Point | None, path: str) -> None:
    """Write precision, recall and F1 by threshold, with the one that was chosen."""
    suffix = check_suffix(path)
    with drawing():
        figure = saved(draw_curve(curve, chosen), suffix)
    with writing_bytes(path) as stream:
        stream.write(figure)


def draw_curve(curve: Curve, chosen: Point | None) -> Figure:
    """Two panels: precision, recall and F1 by threshold, and precision by recall."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    by_threshold, by_recall = figure.subplots(1, 2)
    curves = {"precision": curve.precision, "recall": curve.recall, "F1": curve.f1}
    for number, (name, values) in enumerate(curves.items()):
        by_threshold.step(curve.thresholds, 100 * values, where="pre", label=name, color=COLOURS[number])
    by_recall.plot(100 * curve.recall, 100 * curve.precision, color=COLOURS[0])
    if chosen:
        by_threshold.axvline(chosen.threshold, color="black", linestyle=":", label=f"chosen: {chosen.threshold:.3f}")
        by_recall.plot(100 * chosen.score.recall, 100 * chosen.score.precision, "o", color="black")
    _label(by_threshold, "By threshold", "least confidence", "%")
    _label(by_recall, "Precision by recall", "recall, %", "precision, %")
    by_threshold.legend(frameon=False)
    return figure
