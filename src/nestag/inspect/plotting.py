"""Figures: statistics of a corpus and thresholds as files; scores, calibration and confusions as images in a page.

Equal input gives equal bytes. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from nestag.errors import InputError, MissingExtraError, visible
from nestag.evaluation.result import DEPTHS, LENGTHS, Evaluation, Group
from nestag.formats.files import writing_bytes
from nestag.inspect.rendering import Html, harmless
from nestag.inspect.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nestag.evaluation.thresholds import Calibration, Curve, Point
    from nestag.inspect.statistics import Statistics

P = ParamSpec("P")
SUFFIXES = (".png", ".svg")
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Colours that people who see few colours can tell apart."""

WIDEST = 12  # the last length of an entity that has its own bar

WIDTH, HEIGHT = 4.6, 3.2
"""Inches of an image in a page: narrow, so that text stays readable on a phone."""

LONGEST = 14
"""Maximum characters of a type's name in the confusion matrix."""

_SETTINGS = {
    "svg.hashsalt": "nestag",  # names inside a file do not change from one call to the next
    "text.parse_math": False,  # a name with dollar signs is a name, not a formula
}
_PAGE_SETTINGS = {"svg.fonttype": "none", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False}


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


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the figure as the bytes of a file, without a date."""
    stream = BytesIO()
    figure.savefig(stream, format=suffix[1:], dpi=150, metadata={"Date": None} if suffix == ".svg" else None)
    return stream.getvalue()


@contextmanager
def _figure_file(path: str, width: float) -> Iterator[Figure]:
    """Write what is drawn in this block as PNG or SVG, by the suffix of the file."""
    suffix = check_suffix(path)
    with drawing():
        figure = _figure(width, 4)
        yield figure
        content = figure_bytes(figure, suffix)
    with writing_bytes(path) as stream:
        stream.write(content)


def plot_statistics(splits: Mapping[str, Statistics], path: str) -> None:
    """Write a figure of the depth and length of entities, and of the length of sentences, each in percent."""
    with _figure_file(path, 13) as figure:
        depths, spans, lengths = figure.subplots(1, 3)
        deepest = max([1, *(split.largest_depth or 0 for split in splits.values())])
        _bars(depths, {name: split.depths for name, split in splits.items()}, 0, deepest)
        _label(depths, "Depth of entities", "depth (0: in no other)", "% of entities")
        _bars(spans, {name: split.spans for name, split in splits.items()}, 1, WIDEST)
        _label(spans, "Length of entities", f"tokens (the last bar: {WIDEST} or more)", "% of entities")
        _lines(lengths, {name: split.lengths for name, split in splits.items()})
        _label(lengths, "Length of sentences", "tokens", "% of sentences of at most so many")
        depths.legend(frameon=False)


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
    """Write a figure of precision, recall and F1 by threshold, and of precision by recall, with the chosen one."""
    with _figure_file(path, 10) as figure:
        by_threshold, by_recall = figure.subplots(1, 2)
        _draw_thresholds(by_threshold, curve, 1)
        by_recall.plot(100 * curve.recall, 100 * curve.precision, color=COLOURS[0])
        if chosen:
            label = f"chosen: {chosen.threshold:.3f}"
            by_threshold.axvline(chosen.threshold, color="black", linestyle=":", label=label)
            by_recall.plot(100 * chosen.score.recall, 100 * chosen.score.precision, "o", color="black")
        _label(by_threshold, "By threshold", "minimum confidence", "%")
        _label(by_recall, "Precision by recall", "recall, %", "precision, %")
        by_threshold.legend(frameon=False)


def _draw_thresholds(axes: Axes, curve: Curve, scale: float) -> None:
    curves = {"precision": curve.precision, "recall": curve.recall, "F1": curve.f1}
    for colour, (name, values) in zip((COLOURS[0], COLOURS[5], COLOURS[2]), curves.items(), strict=True):
        axes.step(scale * curve.thresholds, 100 * values, where="pre", label=name, color=colour)


def _in_page(draw: Callable[P, tuple[Figure, str]]) -> Callable[P, Html]:
    """Turn a figure, and words for those who cannot see it, into an HTML image that needs no other file."""

    @wraps(draw)
    def image(*args: P.args, **options: P.kwargs) -> Html:
        with drawing(_PAGE_SETTINGS, "report"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # browsers have more fonts than matplotlib
            figure, words = draw(*args, **options)
            svg = figure_bytes(figure, ".svg")
        data = b64encode(svg).decode()
        return Html(f'<img class="plot" alt="{harmless(words)}" src="data:image/svg+xml;base64,{data}">')

    return image


@_in_page
def calibration_plot(calibration: Calibration) -> tuple[Figure, str]:
    """Draw the reliability diagram: the share of correct entities by confidence, and their number."""
    figure = _figure(WIDTH, HEIGHT + 0.6)
    share, count = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    tenths = [tenth for tenth in calibration.bins if tenth.entities]
    share.plot([0, 100], [0, 100], color="0.7", linestyle="--")
    means = [100 * tenth.mean for tenth in tenths]
    share.plot(means, [100 * tenth.share for tenth in tenths], "o-", color=COLOURS[0])
    share.set_ylabel("correct, %")
    count.bar(range(5, 100, 10), [tenth.entities for tenth in calibration.bins], 8, color=COLOURS[0])
    count.set_ylabel("entities")
    count.set_xlabel("confidence, %")
    count.set_xlim(0, 100)
    return figure, f"Reliability diagram. Expected calibration error {100 * calibration.error:.1f}%."


@_in_page
def threshold_plot(curve: Curve) -> tuple[Figure, str]:
    """Draw precision, recall and F1 over the minimum confidence of entities."""
    figure = _figure(WIDTH, HEIGHT)
    axes = figure.subplots()
    _draw_thresholds(axes, curve, 100)
    axes.set_xlabel("minimum confidence, %")
    axes.set_ylabel("%")
    axes.set_ylim(0, 102)
    axes.legend(frameon=False)
    return figure, "Precision rises and recall falls as the minimum confidence rises."


@_in_page
def confusion_plot(table: Table) -> tuple[Figure, str]:
    """Draw the confusion matrix of types over the same span; each row is shaded by its shares."""
    names = [name[: LONGEST - 1] + "…" if len(name) > LONGEST else name for name in map(visible, table.columns[1:])]
    counts = [[cell if isinstance(cell, int) else 0 for cell in row[1:]] for row in table.rows]
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    figure = _figure(WIDTH, max(HEIGHT, 1.4 + 0.36 * len(names)))
    axes = figure.subplots()
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for y, row in enumerate(counts):
        for x, count in enumerate(row):
            colour = "white" if shares[y][x] > 0.55 else "black"
            axes.text(x, y, f"{count:,}" if count else "", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold")
    return figure, "Confusion matrix: gold types in rows, predicted types in columns. The table has its numbers."


@_in_page
def f1_plot(evaluation: Evaluation) -> tuple[Figure, str]:
    """Draw F1 by length and by depth, with 95% intervals."""
    figure = _figure(WIDTH, HEIGHT)
    by_length, by_depth = figure.subplots(1, 2, sharey=True, width_ratios=(5, 4))
    _draw_f1(by_length, evaluation, "length", LENGTHS)
    _draw_f1(by_depth, evaluation, "depth", DEPTHS)
    by_length.set_ylabel("F1, %")
    by_length.set_xlabel("tokens")
    by_depth.set_xlabel("depth")
    return figure, "F1 by the length and by the depth of entities. The tables have its numbers."


def _draw_f1(axes: Axes, evaluation: Evaluation, word: str, groups: tuple[Group, ...]) -> None:
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


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
