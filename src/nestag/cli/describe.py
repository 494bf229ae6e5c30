"""stats and coverage: what a corpus is like, and what its training split teaches."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli.options import Forms, From, Given, PlotOption, Reading
from nestag.cli.terminal import show, tell, tell_all
from nestag.formats.corpus import report_of
from nestag.inspect.display import corpus_table, coverage_table
from nestag.inspect.statistics import TRAIN


def stats(
    *,
    given: Given,
    types: Annotated[bool, typer.Option("--types", help="Add a row for each entity type.")] = False,
    plot: PlotOption = None,
    forms: Forms,
    format: From = None,
    reading: Reading,
) -> None:
    """Count what a corpus holds, split by split: sentences, entities, types, and how deep and long entities are."""
    form = forms.chosen
    found = nestag.stats(*given.corpora(format, reading), plot=plot)
    for name, report in found.reports.items():
        tell_all(f"{name}: {line}" for line in report.summary())
    show(corpus_table(found.splits, types), form)


def coverage(*, given: Given, forms: Forms, format: From = None, reading: Reading) -> None:
    """Count the labels of a training split in each encoding, and those that other splits need beyond them."""
    form, corpora = forms.chosen, given.corpora(format, reading)
    found = nestag.coverage(*corpora)
    show(coverage_table(found, [name for name in found.crossing if name != TRAIN]), form)
    for corpus in corpora:
        tell_all(report_of(corpus).summary())
    for name, count in found.crossing.items():
        if count:
            tell(f"{name}: {count:,} crossing entities set aside")
