"""Learning curves of all runs, and the reliability diagram of their confidences."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from nestag.evaluation.thresholds import Bin, Calibration
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import LINE, canvas, frame_percent, legend_above, percent, sign
from nestag_lab.report.groups import encodings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 4.8


def draw_curves(results: Sequence[RunResult]) -> Figure:
    """Draw F1 on dev, and below it the loss, a line for each run."""
    figure = canvas(HEIGHT)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, encoding in enumerate(encodings(results)):
        own = sign(number)
        label: str | None = encoding
        for run in (one for one in results if one.key.encoding == encoding and one.scorings):
            steps = [scoring.step for scoring in run.scorings]
            look = {"color": own.colour, "linestyle": own.stroke, "linewidth": 1.3}
            # A run of a single epoch has no line, only a point.
            marker = own.marker if len(run.scorings) == 1 else None
            above.plot(steps, [100 * scoring.score.f1 for scoring in run.scorings], label=label, marker=marker, **look)
            below.plot(steps, [scoring.loss for scoring in run.scorings], marker=marker, **look)
            label = None
    frame_percent(above)
    above.set_ylabel("F1 on dev, %")
    below.set_ylabel("loss")
    below.set_ylim(bottom=0)
    below.set_xlabel("step")
    below.xaxis.get_major_locator().set_params(integer=True)
    legend_above(figure, above)
    return figure


def curves_words(results: Sequence[RunResult]) -> str:
    """Return the alternative text of the figure."""
    parts = [
        f"{run.key.encoding} seed {run.key.seed}: F1 {percent(100 * run.scorings[0].score.f1)} after the first of"
        f" {len(run.scorings)} scorings, {percent(100 * max(scoring.score.f1 for scoring in run.scorings))} at best"
        for run in results
        if run.scorings
    ]
    return f"F1 on dev and loss by epoch. {'; '.join(parts)}."


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
    """Merge the calibrations of several seeds."""
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


def draw_calibration(results: Sequence[RunResult], split: str) -> Figure:
    """Draw how many of the entities predicted with some confidence are right, and below it their number."""
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


def calibration_words(results: Sequence[RunResult], split: str) -> str:
    """Return the alternative text of the figure."""
    parts = [
        f"{encoding} {found.error:.3f} over {found.entities:,} entities"
        for encoding, found in calibrations(results, split).items()
    ]
    return f"Share of right entities by confidence on {split}. Expected calibration error: {', '.join(parts)}."
