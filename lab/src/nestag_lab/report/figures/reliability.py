"""The reliability diagram: how many of the entities predicted with some confidence are right; and their number."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from nestag.evaluation.thresholds import Bin, Calibration
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import LINE, canvas, legend_above, sign
from nestag_lab.report.groups import encodings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 4.8


def calibrations(results: Sequence[RunResult], split: str) -> dict[str, Calibration]:
    """For each encoding that predicted anything, that of its seeds together."""
    rated = [result for result in results if split in result.calibration]
    found = {
        encoding: [result.calibration[split] for result in rated if result.key.encoding == encoding]
        for encoding in encodings(results)
    }
    both = {encoding: together(several) for encoding, several in found.items() if several}
    return {encoding: calibration for encoding, calibration in both.items() if calibration.entities}


def together(several: Sequence[Calibration]) -> Calibration:
    """The entities of several seeds in the same bins."""
    bins = [
        Bin(
            sum(one.entities for one in column),
            sum(one.right for one in column),
            fsum(one.confidence for one in column),
        )
        for column in zip(*(one.bins for one in several), strict=True)
    ]
    entities = sum(one.entities for one in several)
    return Calibration(tuple(bins), fsum(one.brier * one.entities for one in several) / max(1, entities))


def draw(results: Sequence[RunResult], split: str) -> Figure:
    """The figure of one setup: shares above, counts below."""
    figure = canvas(HEIGHT)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
    above.plot([0, 100], [0, 100], color=LINE, linewidth=1.5)
    found = calibrations(results, split)
    for number, (encoding, calibration) in enumerate(found.items()):
        own = sign(encodings(results).index(encoding))
        seen = [one for one in calibration.bins if one.entities]
        look = {"color": own.colour, "marker": own.marker, "markersize": 5, "linewidth": 1.2, "linestyle": own.stroke}
        above.plot([100 * one.mean for one in seen], [100 * one.share for one in seen], label=encoding, **look)
        step = 100 / len(calibration.bins)
        width = 0.8 * step / len(found)
        places = [step * (place + 0.1) + width * (number + 0.5) for place in range(len(calibration.bins))]
        below.bar(places, [one.entities for one in calibration.bins], width, color=own.colour)
    above.set_ylabel("right, %")
    below.set_ylabel("entities")
    below.set_xlabel(f"confidence on {split}, %")
    below.set_yscale("symlog", linthresh=1)
    below.yaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    below.set_ylim(bottom=0)
    below.set_xlim(0, 100)
    legend_above(figure, above)
    return figure


def words(results: Sequence[RunResult], split: str) -> str:
    """What the figure shows, for those who cannot see it."""
    told = [
        f"{encoding} {found.error:.3f} over {found.entities:,} entities"
        for encoding, found in calibrations(results, split).items()
    ]
    return f"Share of right entities by confidence on {split}. Expected calibration error: {', '.join(told)}."
