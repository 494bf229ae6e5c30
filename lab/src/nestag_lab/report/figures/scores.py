"""F1 by encoding, by depth and length of entities, whose groups do not overlap; and mistakes by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from nestag.evaluation.result import DEPTHS, KINDS, LENGTHS, Evaluation, Group
from nestag.inspect.tables import Figure as Measured
from nestag.inspect.tables import over_seeds
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import INK, PAPER, Sign, canvas, frame_percent, ink_on, legend_above, percent, sign
from nestag_lab.report.groups import Method, decodings, encodings, f1, of_way, part_f1, ways

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

APART = 0.34
"""The distance between the decodings of an encoding; encodings are 1 apart."""


def draw_f1(results: Sequence[RunResult], split: str) -> Figure:
    """Draw F1 by encoding: a point for each seed, and the mean with its deviation."""
    figure = canvas()
    axes = figure.subplots()
    kinds, names = decodings(results), encodings(results)
    for number, decoding in enumerate(kinds):
        shift = (number - (len(kinds) - 1) / 2) * APART
        for place, encoding in enumerate(names):
            evaluations = of_way(results, split, Method(encoding, decoding))
            if spread := f1(evaluations):
                _draw_seeds(axes, place + shift, [100 * one.overall.f1 for one in evaluations], spread, number)
        own = sign(number)
        axes.plot([], [], color=own.colour, marker=own.marker, linestyle="none", label=decoding)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    frame_percent(axes, 0.15)
    axes.set_ylabel(f"F1 on {split}, %")
    legend_above(figure, axes)
    return figure


def _draw_seeds(axes: Axes, place: float, values: Sequence[float], spread: Measured, number: int) -> None:
    """Draw the seeds of one encoding and decoding, and their mean with its value."""
    own = sign(number)
    axes.scatter([place - 0.08] * len(values), values, s=22, color=own.colour, marker=own.marker, alpha=0.55)
    axes.errorbar(
        [place + 0.05],
        [spread.value],
        [spread.deviation or 0.0],
        color=own.colour,
        marker=own.marker,
        markersize=7,
        capsize=3,
    )
    top = max(max(values), spread.value + (spread.deviation or 0.0))
    axes.annotate(f"{spread.value:.1f}", (place, top), (0, 5), textcoords="offset points", ha="center", fontsize=9)


def f1_words(results: Sequence[RunResult], split: str) -> str:
    """Return the alternative text of the figure."""
    found = {way: f1(of_way(results, split, way)) for way in ways(results, split)}
    parts = [
        f"{way.encoding} {way.decoding} {percent(spread.value)} ± {percent(spread.deviation or 0.0)}"
        for way, spread in found.items()
        if spread
    ]
    return f"Mean F1 on {split} ± deviation over seeds: {', '.join(parts)}."


class Breakdown(NamedTuple):
    """A way to part entities: the field of an evaluation, its groups, and what they are called."""

    field: str
    groups: tuple[Group, ...]
    title: str


DEPTH = Breakdown("depths", tuple(group for group in DEPTHS if group.name != "≥ 1"), "depth (0: in no other)")
LENGTH = Breakdown("lengths", tuple(group for group in LENGTHS if group.name != "≥ 2"), "length in tokens")


def draw_groups(results: Sequence[RunResult], split: str, breakdown: Breakdown) -> Figure:
    """Draw F1 by depth or length: for each encoding a hollow sign for greedy and a full one for constrained."""
    figure = canvas()
    axes = figure.subplots()
    names = encodings(results)
    for number, encoding in enumerate(names):
        shift = (number - (len(names) - 1) / 2) * 0.8 / len(names)
        for place, group in enumerate(breakdown.groups):
            _draw_decodings(axes, place + shift, sign(number), _spreads(results, split, encoding, breakdown, group))
        own = sign(number)
        axes.plot([], [], color=own.colour, marker=own.marker, linestyle="none", label=encoding)
    counts = [gold_of(results, split, breakdown, group) for group in breakdown.groups]
    axes.set_xticks(
        range(len(counts)), [f"{group.name}\nn = {n:,}" for group, n in zip(breakdown.groups, counts, strict=True)]
    )
    axes.set_xlim(-0.5, len(counts) - 0.5)
    frame_percent(axes)
    axes.set_xlabel(breakdown.title)
    axes.set_ylabel(f"F1 on {split}, %")
    _name_decodings(axes, decodings(results))
    legend_above(figure, axes, columns=6)
    return figure


def _name_decodings(axes: Axes, names: Sequence[str]) -> None:
    """Say in the legend which signs are hollow."""
    for name in names if len(names) > 1 else ():
        fill: Literal["full", "none"] = "full" if name == names[-1] else "none"
        axes.plot([], [], color=INK, marker="o", fillstyle=fill, linestyle="none", label=name)


def _spreads(
    results: Sequence[RunResult], split: str, encoding: str, breakdown: Breakdown, group: Group
) -> dict[str, Measured]:
    """F1 of a group by decoding."""
    found = {
        decoding: part_f1(of_way(results, split, Method(encoding, decoding)), breakdown.field, group)
        for decoding in decodings(results)
    }
    return {decoding: spread for decoding, spread in found.items() if spread}


def _draw_decodings(axes: Axes, place: float, own: Sign, spreads: dict[str, Measured]) -> None:
    """Draw the means of the decodings of an encoding, joined by a line; the last one filled, with its deviation."""
    means = [spread.value for spread in spreads.values()]
    axes.plot([place] * len(means), means, color=own.colour, linewidth=1)
    for mean in means[:-1]:
        axes.plot([place], [mean], marker=own.marker, color=own.colour, fillstyle="none", markersize=7)
    for spread in list(spreads.values())[-1:]:
        axes.errorbar(
            [place],
            [spread.value],
            [spread.deviation or 0.0],
            color=own.colour,
            marker=own.marker,
            markersize=7,
            capsize=2,
        )


def gold_of(results: Sequence[RunResult], split: str, breakdown: Breakdown, group: Group) -> int:
    """Return the number of gold entities in a group."""
    found = [one for way in ways(results, split) for one in of_way(results, split, way)]
    return group.score(getattr(found[0], breakdown.field)).gold if found else 0


def groups_words(results: Sequence[RunResult], split: str, breakdown: Breakdown) -> str:
    """Return the alternative text of the figure."""
    parts = []
    for way in ways(results, split):
        spreads = {
            group.name: part_f1(of_way(results, split, way), breakdown.field, group) for group in breakdown.groups
        }
        figures = ", ".join(f"{name}: {percent(spread.value)}" for name, spread in spreads.items() if spread)
        parts.append(f"{way.encoding} {way.decoding}, {figures}")
    return f"Mean F1 on {split} by {breakdown.title}. {'; '.join(parts)}."


ROOM = 0.06
"""The share of the longest bar from which a part has room for its number."""


def kind_counts(results: Sequence[RunResult], split: str) -> dict[Method, dict[str, float]]:
    """Mistakes by kind, the mean over seeds."""
    return {
        way: {kind: _mean_count(of_way(results, split, way), kind) for kind in KINDS} for way in ways(results, split)
    }


def _mean_count(evaluations: Sequence[Evaluation], kind: str) -> float:
    found = over_seeds(one.mistakes.kinds.get(kind, 0) for one in evaluations)
    return found.value if found else 0.0


def draw_kinds(results: Sequence[RunResult], split: str) -> Figure:
    """Draw a bar for each encoding and decoding, divided by kind of mistake."""
    found = kind_counts(results, split)
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


def kinds_words(results: Sequence[RunResult], split: str) -> str:
    """Return the alternative text of the figure."""
    parts = [
        f"{way.encoding} {way.decoding} {', '.join(f'{kind} {count:,.0f}' for kind, count in kinds.items())}"
        for way, kinds in kind_counts(results, split).items()
    ]
    return f"Mistakes on {split} by kind, the mean over seeds: {'; '.join(parts)}."
