"""evaluate: gold and predicted files -> scores, mistakes, and whether another prediction is as good."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Annotated, Literal

import typer
from rich.console import Console

import nestag
from nestag.cli.options import Forms, Reading, file_option, format_option
from nestag.cli.terminal import echo, log_all, progress, show
from nestag.data.validation import to_mapping
from nestag.errors import InputError
from nestag.evaluation.display import Detail, comparison, tables, tables_within
from nestag.evaluation.matching import By
from nestag.evaluation.mistakes import MOST_KEPT
from nestag.evaluation.result import Evaluation
from nestag.formats.corpus import CorpusFile, Watch
from nestag.inspect.table_forms import TableForm, to_json
from nestag.inspect.terminal import draw_mistakes, print_lines

WIDTH = 100
"""Columns of the output outside a terminal."""

TableName = Literal["overall", "types", "depths", "lengths", "nesting", "mistakes", "confusion", "comparison"]


def evaluate(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="The annotated file, in any format; - is standard input.")
    ],
    predicted: Annotated[str, typer.Argument(metavar="PRED", help="The same sentences with predicted entities.")],
    *,
    train: Annotated[str | None, file_option("The training corpus: score seen and unseen entities separately.")] = None,
    against: Annotated[
        str | None, file_option("Another prediction: test whether the two differ significantly.")
    ] = None,
    by: Annotated[
        By, typer.Option(help="How sentences are matched; auto matches in order, or by id if ids differ.")
    ] = "auto",
    worst: Annotated[
        int, typer.Option(metavar="INT", min=0, max=MOST_KEPT, help="Draw this many sentences with the most mistakes.")
    ] = 0,
    table: Annotated[TableName | None, typer.Option(help="Print this table only.")] = None,
    forms: Forms,
    format: Annotated[str | None, format_option("The format of all files.", "--from")] = None,
    gold_format: Annotated[str | None, format_option("The format of GOLD and --train.")] = None,
    pred_format: Annotated[str | None, format_option("The format of PRED and --against.")] = None,
    reading: Reading,
) -> None:
    """Score predicted entities against gold, overall and broken down, with 95% intervals and a table of mistakes."""
    form = forms.chosen
    if table == "comparison" and against is None:
        raise InputError("there is nothing to compare with; give another prediction with --against", "--table")
    if worst and (form not in (TableForm.text, TableForm.json) or (table and form is TableForm.json)):
        raise InputError("sentences are shown in the terminal, or in --json with all tables; drop --worst", "--worst")

    def corpus(path: str | None, own: str | None, watch: Watch | None = progress) -> CorpusFile | None:
        return None if path is None else reading.corpus(path, own or format, watch=watch)

    files = (
        corpus(gold, gold_format, watch=None),
        corpus(predicted, pred_format),
        corpus(train, gold_format),
        corpus(against, pred_format),
    )
    result = nestag.evaluate(files[0], files[1], files[2], by, files[3])
    reports = {file.path: file.report for file in files if file}
    for path, report in reports.items():
        log_all(f"{path}: {line}" for line in report.summary())
    result = replace(result, mistakes=replace(result.mistakes, worst=result.mistakes.worst[:worst]))
    print_result(result, (predicted, against or ""), form, table)


def print_result(result: Evaluation, systems: tuple[str, str], form: TableForm, only: TableName | None) -> None:
    """Print all tables or one of them, and in a terminal the worst sentences."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    detail: Detail = "numbers" if form in (TableForm.json, TableForm.csv) else "full"
    is_text = form is TableForm.text
    shown = tables_within(result, console.width) if is_text else tables(result, detail)
    if result.comparison:
        shown["comparison"] = comparison(result.comparison, systems, detail)
    if form is TableForm.json and not only:
        record = {
            "tables": {name: json.loads(to_json(table)) for name, table in shown.items()},
            "evaluation": {name: value for name, value in to_mapping(result).items() if name != "comparison"},
            "comparison": result.comparison and result.comparison._asdict(),
        }
        echo(f"{json.dumps(record, ensure_ascii=False, indent=1)}\n")
        return
    for place, table in enumerate([shown[only]] if only else shown.values()):
        typer.echo("\n" * (place > 0), nl=False)
        echo(f"# {table.title}\n" * (form is TableForm.csv and not only))
        show(table, form)
    if is_text:
        print_lines(console, draw_mistakes(result.mistakes.worst, console.width))
