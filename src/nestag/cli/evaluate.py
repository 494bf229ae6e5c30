"""evaluate: gold and predicted files -> scores, what went wrong, and whether another prediction is as good."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import typer
from rich.console import Console

import nestag
from nestag.cli.options import Forms, Reading
from nestag.cli.terminal import echo, progress, show, tell_all
from nestag.data.validation import to_mapping
from nestag.errors import InputError
from nestag.evaluation.display import Detail, comparison, tables, tables_within
from nestag.evaluation.matching import By
from nestag.evaluation.mistakes import MOST_KEPT
from nestag.evaluation.result import Evaluation
from nestag.formats.corpus import CorpusFile, Watch
from nestag.inspect.table_forms import TableForm, to_json
from nestag.inspect.tables import Table
from nestag.inspect.terminal import draw_mistakes, print_lines

WIDTH = 100
"""Columns of the output where no terminal says how many there are."""


TableName = Literal["overall", "types", "depths", "lengths", "nesting", "mistakes", "confusion", "comparison"]
"""A table that can be printed alone."""


def evaluate(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="The annotated file, in any format; - is standard input.")
    ],
    predicted: Annotated[str, typer.Argument(metavar="PRED", help="The same sentences with predicted entities.")],
    *,
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="The training corpus: score seen and unseen entities separately.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Another prediction: test whether the two differ significantly.")
    ] = None,
    by: Annotated[
        By, typer.Option(help="How sentences are matched; auto matches in order, or by id if ids differ.")
    ] = "auto",
    paper: Annotated[
        bool, typer.Option("--paper", help="Score depths and lengths as the code of the paper's authors does.")
    ] = False,
    worst: Annotated[int, typer.Option(metavar="N", min=0, max=MOST_KEPT, help="Show the N worst sentences.")] = 0,
    table: Annotated[TableName | None, typer.Option(help="Print this table only.")] = None,
    forms: Forms,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="The format of all files.")] = None,
    gold_format: Annotated[str | None, typer.Option(metavar="FORMAT", help="The format of GOLD and --train.")] = None,
    pred_format: Annotated[str | None, typer.Option(metavar="FORMAT", help="The format of PRED and --against.")] = None,
    reading: Reading,
) -> None:
    """Score predicted entities against gold, overall and broken down, with 95 % intervals and a table of errors."""
    form = forms.chosen
    if table == "comparison" and against is None:
        raise InputError("there is nothing to compare with; give another prediction with --against", "--table")
    if worst and (form not in (TableForm.text, TableForm.json) or (table and form is TableForm.json)):
        raise InputError("sentences are shown in the terminal, or in --json with all tables; drop --worst", "--worst")

    def corpus(path: str | None, own: str | None, watch: Watch | None = None) -> CorpusFile | None:
        return None if path is None else reading.corpus(path, own or format, watch=watch)

    files = (
        corpus(gold, gold_format),
        corpus(predicted, pred_format, progress),
        corpus(train, gold_format, progress),
        corpus(against, pred_format, progress),
    )
    found = nestag.evaluate(files[0], files[1], files[2], by, files[3])
    reports = {file.path: file.report for file in files if file}
    for path, report in reports.items():
        tell_all(f"{path}: {line}" for line in report.summary())
    found = replace(found, mistakes=replace(found.mistakes, worst=found.mistakes.worst[:worst]))
    print_found(found, (predicted, against or ""), form, paper, table)


def print_found(
    found: Evaluation, systems: tuple[str, str], form: TableForm, paper: bool, only: TableName | None
) -> None:
    """Print all tables or one of them, and in a terminal the worst sentences."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    detail = Detail.NUMBERS if form in (TableForm.json, TableForm.csv) else Detail.FULL
    text = form is TableForm.text
    chosen = tables_within(found, paper, console.width) if text else tables(found, paper, detail)
    if found.comparison:
        chosen["comparison"] = comparison(found.comparison, systems, detail)
    if form is TableForm.json and not only:
        echo(f"{to_object(found, chosen)}\n")
        return
    for place, table in enumerate([chosen[only]] if only else chosen.values()):
        typer.echo("\n" * (place > 0), nl=False)
        echo(f"# {table.title}\n" * (form is TableForm.csv and not only))
        show(table, form)
    if text:
        print_lines(console, draw_mistakes(found.mistakes.worst, console.width))


def to_object(found: Evaluation, chosen: Mapping[str, Table]) -> str:
    """Everything as one JSON object: the tables with their figures in percent, and the counts behind them."""
    counts = to_mapping(found)
    counts.pop("comparison")
    record = {
        "tables": {name: json.loads(to_json(table)) for name, table in chosen.items()},
        "evaluation": counts,
        "comparison": found.comparison and found.comparison._asdict(),
    }
    return json.dumps(record, ensure_ascii=False, indent=1)
