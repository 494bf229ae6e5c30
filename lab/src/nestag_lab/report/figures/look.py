"""How the figures of a report look: sizes, colours and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nestag.inspect.plotting import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER, LINE = "#1f2328", "#fefefe", "#d0d7de"
"""Text and axes, what is written on strong colours, and lines that only help the eye."""

BLACK = "#101418"
"""What is written on pale colours."""

WIDTH, HEIGHT = 5.2, 3.6
"""Of a figure in inches: narrow, so that letters stay large on a phone."""

MARKERS = ("o", "s", "^", "D", "v", "P")
STROKES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text, in the fonts of the reader
    "font.size": 11,
    "figure.facecolor": PAPER,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "grid.color": LINE,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "legend.borderaxespad": 0.2,
    "legend.handletextpad": 0.4,
    "legend.columnspacing": 1.2,
}


class Sign(NamedTuple):
    """The colour, marker and line style of a series."""

    colour: str
    marker: str
    stroke: Any


def sign(place: int) -> Sign:
    """Return the sign of the first, second, ... thing.

    >>> sign(0).colour == sign(6).colour, sign(0).marker
    (True, 'o')
    """
    return Sign(COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], STROKES[place % len(STROKES)])


def ink_on(colour: str) -> str:
    """Return a text colour with enough contrast."""
    return PAPER if colour in (COLOURS[0], COLOURS[2], COLOURS[5]) else BLACK


def canvas(height: float = HEIGHT, width: float = WIDTH) -> Figure:
    """Return an empty figure."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def legend_above(figure: Figure, axes: Axes, columns: int = 4) -> None:
    """Name the signs of a panel above the whole figure, where they cover nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=columns)


def frame_percent(axes: Axes, room: float = 0.1) -> None:
    """Show percentages with some room around them: at least one point in all, and nothing far below 0 or above 100."""
    axes.margins(y=room)
    low, high = axes.get_ylim()
    lacking = max(0.0, 1 - (high - low)) / 2
    low, high = low - lacking, high + lacking
    axes.set_ylim(max(low, -room * high / 2), min(high, 100 + room * (100 - low) / 2))


def percent(number: float) -> str:
    """Return a percentage as figures and their words write it.

    >>> percent(75.9)
    '75.90'
    """
    return f"{number:.2f}"
