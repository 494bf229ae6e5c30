"""stats and coverage: statistics of a corpus, and the labels of its training split."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli.options import Forms, From, PlotOption, Reading, Splits
from nestag.cli.terminal import log, log_all, show
from nestag.formats.corpus import report_of


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


def coverage(*, splits: Splits, forms: Forms, format: From = None, reading: Reading) -> None:
    """Count the labels of a training split in each encoding, and the labels that other splits need in addition."""
    form, corpora = forms.chosen, splits.corpora(format, reading)
    covered = nestag.coverage(*corpora)
    show(covered.table(), form)
    for corpus in corpora:
        log_all(report_of(corpus).summary())
    for name, count in covered.crossing.items():
        if count:
            log(f"{name}: {count:,} crossing entities dropped")
