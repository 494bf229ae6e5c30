"""What went wrong: mistakes by kind, and over the same tokens, which type gold has and which the prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nestag.errors import visible
from nestag.evaluation.result import KINDS, Confused, Evaluation, over_seeds
from nestag.inspect.plotting import COLOURS
from nestag.inspect.tables import NOTHING
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import INK, PAPER, canvas, ink_on, legend_above, sign
from nestag_lab.report.groups import Method, of_way, ways

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 0.06
"""The share of the longest bar from which a part has room for its number."""


def kind_counts(results: Sequence[RunResult], split: str) -> dict[Method, dict[str, float]]:
    """Mistakes by kind, the mean over seeds."""
    return {
        way: {kind: _mean_count(of_way(results, split, way), kind) for kind in KINDS} for way in ways(results, split)
    }


def _mean_count(evaluations: Sequence[Evaluation], kind: str) -> float:
    found = over_seeds(one.mistakes.kinds.get(kind, 0) for one in evaluations)
    return found.mean if found else 0.0


def draw_kinds(results: Sequence[RunResult], split: str) -> Figure:
    """The figure of one setup: a bar for each encoding and decoding, parted by kind."""
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
    """What the figure shows, for those who cannot see it."""
    told = [
        f"{way.encoding} {way.decoding} {', '.join(f'{kind} {count:,.0f}' for kind, count in kinds.items())}"
        for way, kinds in kind_counts(results, split).items()
    ]
    return f"Mistakes on {split} by kind, the mean over seeds: {'; '.join(told)}."


MOST = 12
"""Types that have a row of their own; rarer ones share one."""

DARK = 0.55
"""The share from which a cell is so dark that its number is written in white."""

LONGEST = 18
"""Characters of a type's name that are written beside the matrix."""


class Matrix(NamedTuple):
    """Counts by type of gold (rows) and of the prediction (columns); the last row and column stand for no entity."""

    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    joined: int  # types that share the row before the last


def matrix(confusion: Sequence[Confused], most: int = MOST) -> Matrix:
    """The types by frequency in gold, the rarest joined.

    >>> matrix([Confused("A", "A", 3), Confused("A", None, 1), Confused("B", "A", 2)])
    Matrix(names=('A', 'B', '–'), counts=((3, 0, 1), (2, 0, 0), (0, 0, 0)), joined=0)
    """
    times: Counter[str] = Counter()
    for gold, predicted, count in confusion:
        times[gold or ""] += count
        times[predicted or ""] += 0  # types that are only predicted have a row as well
    kinds = sorted((kind for kind in times if kind), key=lambda kind: (-times[kind], kind))
    own = kinds if len(kinds) <= most else kinds[: most - 1]
    joined = len(kinds) - len(own)
    names = [*own, *([f"{joined} others"] * bool(joined)), NOTHING]
    places = {kind: min(place, len(own)) for place, kind in enumerate(kinds)}
    counts = [[0] * len(names) for _ in names]
    for gold, predicted, count in confusion:
        row = len(names) - 1 if gold is None else places[gold]
        counts[row][len(names) - 1 if predicted is None else places[predicted]] += count
    return Matrix(tuple(names), tuple(map(tuple, counts)), joined)


def draw_confusion(confusion: Sequence[Confused]) -> Figure:
    """The matrix, each row shaded by its shares."""
    found = matrix(confusion)
    side = max(4.0, 1.6 + 0.5 * len(found.names))
    figure = canvas(side * 0.86, side + 0.4)
    axes = figure.subplots()
    for row, counts in enumerate(found.counts):
        _draw_row(axes, row, counts)
    names = [_short(name) for name in found.names]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold")
    return figure


def _draw_row(axes: Axes, row: int, counts: Sequence[int]) -> None:
    """A rectangle and a number for each count that is not zero."""
    from matplotlib.patches import Rectangle

    whole = sum(counts) or 1
    for column, count in enumerate(counts):
        if not count:
            continue
        share = count / whole
        colour = COLOURS[0] if column == row else COLOURS[5]
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, alpha=0.06 + 0.94 * share))
        ink = PAPER if share > DARK else INK
        axes.text(column, row, f"{count:,}", ha="center", va="center", color=ink, fontsize=8.5)


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def confusion_words(confusion: Sequence[Confused]) -> str:
    """What the figure shows, for those who cannot see it: the most frequent mistakes."""
    wrong = sorted((one for one in confusion if one.gold != one.predicted), key=lambda one: (-one.times, str(one)))
    told = [f"{one.gold or 'nothing'} taken for {one.predicted or 'nothing'} {one.times:,} times" for one in wrong[:5]]
    return f"Types of gold by types of the prediction over the same tokens. Most often: {', '.join(told)}."
