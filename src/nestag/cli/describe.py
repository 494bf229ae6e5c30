"""stats and coverage: what a corpus is like, and what its training split teaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import typer

from nestag.cli.output import Csv, Json, Latex, Markdown, form_of, show
from nestag.cli.splits import (
    Borders,
    Cutter,
    Dev,
    Edges,
    Field,
    Files,
    From,
    Language,
    Split,
    Test,
    Train,
    Words,
    options_of,
    splits_of,
)
from nestag.cli.terminal import tell
from nestag.corpora.report import Report
from nestag.coverage import Coverage, Covered
from nestag.coverage import coverage as covered_by
from nestag.errors import InputError
from nestag.statistics import SPANS, TRAIN, Statistics, describe
from nestag.tables import Cell, Percent, Row, Section, Table

ALL = "all"


def stats(
    files: Files = None,
    train: Train = None,
    dev: Dev = None,
    test: Test = None,
    types: Annotated[bool, typer.Option("--types", help="Add a row for each entity type.")] = False,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw depths and lengths (.png or .svg).")] = None,
    json: Json = False,
    markdown: Markdown = False,
    latex: Latex = False,
    csv: Csv = False,
    format: From = None,
    tokenizer: Cutter = Words.SPACY,
    language: Language = "en",
    boundaries: Borders = Edges.WIDEN,
    field: Field = None,
) -> None:
    """Count what a corpus holds, split by split: sentences, entities, types, and how deep and long entities are."""
    form = form_of(json, markdown, latex, csv)
    options = options_of(tokenizer, language, boundaries, field)
    splits = splits_of(files, {"train": train, "dev": dev, "test": test}, format, options)
    if plot:
        from nestag.cli.plot import check_suffix

        check_suffix(plot)
    found = counted(splits)
    show(stats_table(found, types), form)
    if plot:
        from nestag.cli.plot import plot as draw

        draw(found, plot)


def counted(splits: Sequence[Split]) -> dict[str, Statistics]:
    """The statistics of each split; what its reader had to change is told."""
    reports = {split.name: Report() for split in splits}
    found = describe({split.name: split.read(reports[split.name]) for split in splits})
    for name, report in reports.items():
        found[name] = replace(found[name], duplicates=report.counts["duplicate entity merged"])
        for line in report.summary():
            tell(f"{name}: {line}")
    return found


def stats_table(found: Mapping[str, Statistics], types: bool = False) -> Table:
    """The paper's table of datasets, a column for each split and one for all of them."""
    columns = dict(found)
    if len(found) > 1:
        columns[ALL] = sum(found.values(), Statistics())
    every = list(columns.values())
    in_all = every[-1]
    sections = [
        Section("", _overview(every)),
        Section("% of entities at depth", _shares_by_depth(every, max(in_all.depths, default=0))),
        Section("% of entities of length", _shares_by_length(every)),
        Section("worth a look", _worth_a_look(columns)),
    ]
    if types:
        by_count = sorted(in_all.types, key=lambda kind: (-in_all.types[kind], kind))
        sections.append(
            Section("entities of type", tuple((kind, *(s.types[kind] for s in every)) for kind in by_count))
        )
    return Table("Corpus statistics", ("characteristic", *columns), tuple(sections))


def _overview(splits: Sequence[Statistics]) -> tuple[Row, ...]:
    return (
        ("sentences", *(s.sentences for s in splits)),
        ("tokens", *(s.tokens for s in splits)),
        ("sentence length, mean", *(s.mean_length for s in splits)),
        ("sentence length, deviation", *(s.length_deviation for s in splits)),
        ("entity types", *(len(s.types) for s in splits)),
        ("entities", *(s.entities for s in splits)),
        ("depth from 1, mean", *(s.mean_depth for s in splits)),
        ("depth from 1, median", *(_whole(s.median_depth) for s in splits)),
        ("depth from 1, largest", *(s.largest_depth for s in splits)),
    )


def _shares_by_depth(splits: Sequence[Statistics], deepest: int) -> tuple[Row, ...]:
    return tuple((str(depth), *(_percent(s.share_at(depth)) for s in splits)) for depth in range(deepest + 1))


def _shares_by_length(splits: Sequence[Statistics]) -> tuple[Row, ...]:
    names = [
        f"≥ {least}" if most is None else str(least) if least == most else f"{least} to {most}" for least, most in SPANS
    ]
    return tuple(
        (f"{name} token{'s' * (name != '1')}", *(_percent(s.share_of(*span)) for s in splits))
        for name, span in zip(names, SPANS, strict=True)
    )


def _worth_a_look(columns: Mapping[str, Statistics]) -> tuple[Row, ...]:
    splits = columns.values()
    seen = [None if name == TRAIN or TRAIN not in columns else one.in_train for name, one in columns.items()]
    return (
        ("crossing pairs", *(s.crossing for s in splits)),
        ("entities that share their span", *(s.same_span for s in splits)),
        ("duplicate entities merged", *(s.duplicates for s in splits)),
        ("sentences repeated in the split", *(s.repeated for s in splits)),
        ("sentences that train has too", *seen),
    )


def coverage(
    files: Files = None,
    train: Train = None,
    dev: Dev = None,
    test: Test = None,
    json: Json = False,
    markdown: Markdown = False,
    latex: Latex = False,
    csv: Csv = False,
    format: From = None,
    tokenizer: Cutter = Words.SPACY,
    language: Language = "en",
    boundaries: Borders = Edges.WIDEN,
    field: Field = None,
) -> None:
    """Count the labels that a training split teaches, in each encoding, and what other splits need beyond them."""
    form = form_of(json, markdown, latex, csv)
    options = options_of(tokenizer, language, boundaries, field)
    splits = splits_of(files, {"train": train, "dev": dev, "test": test}, format, options, twice=True)
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


def coverage_table(found: Covered, others: Sequence[str]) -> Table:
    """The paper's table 1, with both orders of types over the same tokens."""
    columns = ["encoding", "n", "c", "u", "new n", "new c", "new u"]
    columns += [f"{name} %" for name in others] + [f"{name} recall %" for name in others]
    columns += ["absolute %", "absolute sentences %"]
    ways = {True: "same-span types as annotated", False: "same-span types in the learned order"}
    sections = [
        Section(title, tuple(_coverage_row(row, others) for row in found.rows if row.annotated is annotated))
        for annotated, title in ways.items()
    ]
    return Table("Label coverage", tuple(columns), tuple(sections))


def _coverage_row(row: Coverage, others: Sequence[str]) -> Row:
    shares: list[Cell] = [_percent(row.reach[name].covered) if name in row.reach else None for name in others]
    shares += [_percent(row.reach[name].recall) if name in row.reach else None for name in others]
    absolute = _percent(row.absolute_labels), _percent(row.absolute_sentences)
    return (row.encoding, *row.labels, *row.missing, *shares, *absolute)


def _whole(number: float | None) -> float | int | None:
    """A whole number without its zeros."""
    return int(number) if number is not None and number == int(number) else number


def _percent(share: float | None) -> Percent | None:
    return None if share is None else Percent(share)
