"""Learning curves: F1 on dev and the loss after each epoch, a line for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures.look import canvas, frame_percent, legend_above, percent, sign
from nestag_lab.report.groups import encodings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 4.8


def draw(results: Sequence[RunResult]) -> Figure:
    """The figure of one setup: F1 above, loss below."""
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


def words(results: Sequence[RunResult]) -> str:
    """What the figure shows, for those who cannot see it."""
    told = [
        f"{run.key.encoding} seed {run.key.seed}: F1 {percent(100 * run.scorings[0].score.f1)} after the first of"
        f" {len(run.scorings)} scorings, {percent(100 * max(scoring.score.f1 for scoring in run.scorings))} at best"
        for run in results
        if run.scorings
    ]
    return f"F1 on dev and loss by epoch. {'; '.join(told)}."
