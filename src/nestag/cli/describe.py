"""stats and coverage: statistics of a corpus, and the labels of its training split."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

import typer

import nestag
from nestag.cli.options import Forms, From, Given, PlotOption, Reading
from nestag.cli.terminal import show, tell, tell_all
from nestag.data.report import Report
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
    """Count sentences, entities, types, depths and lengths in each split of a corpus."""
    form = forms.chosen
    statistics = nestag.stats(*given.corpora(format, reading), plot=plot)
    tell_all(merge_reports(statistics.reports))
    show(corpus_table(statistics.splits, types), form)


def merge_reports(reports: Mapping[str, Report]) -> list[str]:
    """Return the lines of all reports with the names of their splits, once if several splits have the same line.

    >>> train, dev = Report(), Report()
    >>> train.note("train.txt: read as columns"), dev.note("dev.txt: read as columns")
    (None, None)
    >>> merge_reports({"train": train, "dev": dev})
    ['train, dev: read as columns']
    """
    splits: dict[str, list[str]] = {}
    for name, report in reports.items():
        for line in report.summary():
            splits.setdefault(re.sub(r"^.*: (?=read as )", "", line), []).append(name)
    return [f"{', '.join(names)}: {line}" for line, names in splits.items()]


def coverage(*, given: Given, forms: Forms, format: From = None, reading: Reading) -> None:
    """Count the labels of a training split in each encoding, and the labels that other splits need in addition."""
    form, corpora = forms.chosen, given.corpora(format, reading)
    covered = nestag.coverage(*corpora)
    show(coverage_table(covered, [name for name in covered.crossing if name != TRAIN]), form)
    for corpus in corpora:
        tell_all(report_of(corpus).summary())
    for name, count in covered.crossing.items():
        if count:
            tell(f"{name}: {count:,} crossing entities dropped")
