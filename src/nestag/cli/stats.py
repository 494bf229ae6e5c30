"""stats: statistics of a corpus."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli.options import Forms, From, PlotOption, Reading, Splits
from nestag.cli.terminal import log_all, show


def stats(
    *,
    splits: Splits,
    types: Annotated[bool, typer.Option("--types", help="Add a row for each entity type.")] = False,
    plot: PlotOption = None,
    forms: Forms,
    format: From = None,
    reading: Reading,
) -> None:
    """Count sentences, entities, types, depths and lengths in each split of a corpus."""
    form = forms.chosen
    statistics = nestag.stats(*splits.corpora(format, reading), plot=plot)
    for name, report in statistics.reports.items():
        log_all(f"{name}: {line.removeprefix(f'{name}: ')}" for line in report.summary())
    show(statistics.table(types), form)
