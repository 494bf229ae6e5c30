"""thresholds: a model and a development set -> confidence thresholds, stored in the model."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli.options import DeviceOption, Forms, From, PlotOption, Reading
from nestag.cli.terminal import log, log_all, show


def thresholds(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder; it stores the thresholds.")],
    dev: Annotated[str, typer.Argument(metavar="DEV", help="An annotated corpus that was not trained on.")],
    precision: Annotated[
        float | None, typer.Option(min=0, max=1, help="Maximize recall at this precision or more, not F1.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option(min=0, max=1, help="Maximize precision at this recall or more, not F1.")
    ] = None,
    by_type: Annotated[bool, typer.Option(help="Also find a threshold for each type that has enough examples.")] = True,
    save: Annotated[
        bool, typer.Option(help="Store the thresholds; the model then predicts all entities above them.")
    ] = True,
    plot: PlotOption = None,
    device: DeviceOption = None,
    forms: Forms,
    format: From = None,
    reading: Reading,
) -> None:
    """Find the minimum confidence of entities, overall and by type, and store it in the model.

    All candidates count, also those that are not in the model's best answer, so you can trade precision for recall.
    Thresholds of types are shrunk towards the overall threshold. The exit code is 1 if the goal cannot be reached.
    """
    form = forms.chosen
    done = nestag.thresholds(
        model, reading.corpus(dev, format),
        precision=precision, recall=recall, by_type=by_type, save=save, plot=plot, device=device,
    )  # fmt: skip
    log_all([*done.report.summary(), *done.warnings])
    if done.thresholds is None:
        log(f"{done.goal} cannot be reached: {done.curve.limits()}; nothing was stored")
        raise typer.Exit(1)
    show(done.table(), form)
    if save:
        log(f"stored in {model}")
