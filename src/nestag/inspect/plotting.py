"""Figures: depth and length of the entities of a corpus; precision and recall by threshold.

Equal input gives equal bytes. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nestag.errors import InputError, MissingExtraError
from nestag.formats.files import writing_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nestag.evaluation.thresholds import Curve, Point
    from nestag.inspect.statistics import Statistics

SUFFIXES = (".png", ".svg")
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Colours that people who see few colours can tell apart."""

WIDEST = 12  # the last length of an entity that has its own bar

_SETTINGS = {
    "svg.hashsalt": "nestag",  # names inside a file do not change from one call to the next
    "text.parse_math": False,  # a name with dollar signs is a name, not a formula
}


@contextmanager
def drawing(settings: dict[str, Any] | None = None, extra: str = "plot") -> Iterator[None]:
    """Ignore the user's matplotlib settings in this block; if matplotlib is missing, the error names the extra."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("figures need matplotlib", extra) from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        current: Any = matplotlib.rcParams
        current.update({**_SETTINGS, **(settings or {})})
        yield


def check_suffix(path: str) -> str:
    """Return the suffix of a figure's file, or raise an InputError that lists the suffixes."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"the format of a figure follows from its name; end it in {' or '.join(SUFFIXES)}", path)
    return suffix


def saved(figure: Figure, suffix: str) -> bytes:
    """Return the figure as the bytes of a file, without a date."""
    stream = BytesIO()
    figure.savefig(stream, format=suffix[1:], dpi=150, metadata={"Date": None} if suffix == ".svg" else None)
    return stream.getvalue()


def write_figure(draw: Callable[[], Figure], path: str) -> None:
    """Write a figure as PNG or SVG, by the suffix of the file."""
    suffix = check_suffix(path)
    with drawing():
        figure = saved(draw(), suffix)
    with writing_bytes(path) as stream:
        stream.write(figure)


def plot_statistics(splits: Mapping[str, Statistics], path: str) -> None:
    """Write a figure of the depth and length of entities, and of the length of sentences."""
    write_figure(lambda: _draw_statistics(splits), path)


def _draw_statistics(splits: Mapping[str, Statistics]) -> Figure:
    """Draw three panels, each in percent, so that splits of any size compare."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), layout="constrained")
    depths, spans, lengths = figure.subplots(1, 3)
    deepest = max([1, *(split.largest_depth or 0 for split in splits.values())])
    _bars(depths, {name: split.depths for name, split in splits.items()}, 0, deepest)
    _label(depths, "Depth of entities", "depth (0: in no other)", "% of entities")
    _bars(spans, {name: split.spans for name, split in splits.items()}, 1, WIDEST)
    _label(spans, "Length of entities", f"tokens (the last bar: {WIDEST} or more)", "% of entities")
    _lines(lengths, {name: split.lengths for name, split in splits.items()})
    _label(lengths, "Length of sentences", "tokens", "% of sentences of at most so many")
    depths.legend(frameon=False)
    return figure


def _bars(axes: Axes, counts: Mapping[str, Mapping[int, int]], first: int, last: int) -> None:
    """Draw a group of bars for each number, one for each split; larger numbers join the last."""
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
    """Draw, for each split, the share of numbers up to each number."""
    for number, (name, split) in enumerate(counts.items()):
        total, places = sum(split.values()) or 1, sorted(split)
        shares = [100 * passed / total for passed in accumulate((split[place] for place in places), initial=0)]
        axes.step([0, *places], shares, where="post", label=name, color=COLOURS[number % len(COLOURS)])
    axes.set_xlim(left=0)


def _label(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_ylim(0, None)
    axes.spines[["top", "right"]].set_visible(False)


def plot_curve(curve: Curve, chosen: Point | None, path: str) -> None:
    """Write a figure of precision, recall and F1 by threshold, with the chosen one."""
    write_figure(lambda: _draw_curve(curve, chosen), path)


def _draw_curve(curve: Curve, chosen: Point | None) -> Figure:
    """Draw two panels: precision, recall and F1 by threshold, and precision by recall."""
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
