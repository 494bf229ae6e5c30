"""stats and coverage: what a corpus is like, and what its training split teaches."""

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
    """Count what a corpus holds, split by split: sentences, entities, types, and how deep and long entities are."""
    form = forms.chosen
    found = nestag.stats(*given.corpora(format, reading), plot=plot)
    tell_all(merge_reports(found.reports))
    show(corpus_table(found.splits, types), form)


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
    """Count the labels of a training split in each encoding, and those that other splits need beyond them."""
    form, corpora = forms.chosen, given.corpora(format, reading)
    found = nestag.coverage(*corpora)
    show(coverage_table(found, [name for name in found.crossing if name != TRAIN]), form)
    for corpus in corpora:
        tell_all(report_of(corpus).summary())
    for name, count in found.crossing.items():
        if count:
            tell(f"{name}: {count:,} crossing entities set aside")
