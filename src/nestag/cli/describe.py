"""stats and coverage: what a corpus is like, and what its training split teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.output import Forms, show
from nestag.cli.splits import Given, SplitFile
from nestag.cli.terminal import tell
from nestag.corpora.report import Report
from nestag.diagnosis.coverage import coverage as covered_by
from nestag.diagnosis.display import corpus_table, coverage_table
from nestag.diagnosis.statistics import TRAIN, Statistics, describe
from nestag.errors import InputError


def stats(
    *,
    given: Given,
    types: Annotated[bool, typer.Option("--types", help="Add a row for each entity type.")] = False,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw depths and lengths (.png or .svg).")] = None,
    forms: Forms,
    format: From = None,
    reading: Reading,
) -> None:
    """Count what a corpus holds, split by split: sentences, entities, types, and how deep and long entities are."""
    form, splits = forms.chosen, given.splits(format, reading)
    if plot:
        from nestag.plotting import check_suffix

        check_suffix(plot)
    found = counted(splits)
    show(corpus_table(found, types), form)
    if plot:
        from nestag.cli.plot import plot as draw

        draw(found, plot)


def counted(splits: Sequence[SplitFile]) -> dict[str, Statistics]:
    """The statistics of each split; what its reader had to change is printed."""
    reports = {split.name: Report() for split in splits}
    found = describe({split.name: split.read(reports[split.name]) for split in splits})
    for name, report in reports.items():
        found[name] = replace(found[name], duplicates=report.counts["duplicate entity merged"])
        for line in report.summary():
            tell(f"{name}: {line}")
    return found


def coverage(
    *,
    given: Given,
    forms: Forms,
    format: From = None,
    reading: Reading,
) -> None:
    """Count the labels of a training split in each encoding, and those that other splits need beyond them."""
    form, splits = forms.chosen, given.splits(format, reading, twice=True)
    teacher = next((split for split in splits if split.name == TRAIN), None)
    if teacher is None:
        raise InputError("no training split; name it with --train, or give a folder with a train file", "command line")
    report = Report()
    others = {split.name: split.read(report) for split in splits if split is not teacher}
    found = covered_by(teacher.opener(report), others)
    show(coverage_table(found, list(others)), form)
    for line in report.summary():
        tell(line)
    for name, count in found.crossing.items():
        if count:
            tell(f"{name}: {count:,} crossing entities set aside")
