"""A picture of a corpus: how deep its entities lie, and how long entities and sentences are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from nestag.errors import InputError, UnknownNameError
from nestag.statistics import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
WIDEST = 12
"""The last length of an entity that has a bar of its own."""
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")


def plot(splits: Mapping[str, Statistics], path: str) -> None:
    """Write the picture as PNG or SVG, by the suffix of the file."""
    suffix = check_suffix(path)
    picture = BytesIO()
    figure = draw(splits)
    # No date and no random names, so that equal corpora give equal files.
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "nestag"}):
        figure.savefig(picture, format=suffix[1:], dpi=150, metadata={"Date": None} if suffix == ".svg" else None)
    _replace(Path(path), picture.getvalue())


def check_suffix(path: str) -> str:
    """The suffix of a picture, or an InputError that says which there are."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a picture is written as {' or '.join(SUFFIXES)}; name it so", path)
    return suffix


def draw(splits: Mapping[str, Statistics]) -> Figure:
    """Three panels side by side, each in percent, so that splits of any size compare."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnknownNameError("pictures need matplotlib, which is not installed; pip install 'nestag[plot]'") from None
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


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(file.name).chmod(0o666 & ~mask)
        Path(file.name).replace(path)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", str(path)
        ) from None
