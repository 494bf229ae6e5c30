"""evaluate: gold and predicted files -> scores, what went wrong, and whether another prediction is as good."""

from __future__ import annotations

import json as js
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from nestag.cli.draw import StyledLine, nested, print_lines, styled
from nestag.cli.options import Reading
from nestag.cli.output import Forms, echo, show
from nestag.cli.splits import SplitFile
from nestag.cli.terminal import progress, tell
from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.evaluation.display import Detail, comparison, tables, tables_within
from nestag.evaluation.judge import Judge
from nestag.evaluation.matching import Pair, matched
from nestag.evaluation.mistakes import MOST_KEPT, Mistake, mistakes_of
from nestag.evaluation.parallel import see_files, workers_for
from nestag.evaluation.result import Evaluation, Shown
from nestag.evaluation.significance import Comparison, compare
from nestag.files import is_stream
from nestag.tables import Table, TableForm, to_json
from nestag.validation import to_mapping
from nestag.visible import visible

WIDTH = 100
"""Columns of the output where no terminal says how many there are."""


class Match(StrEnum):
    """How sentences are matched."""

    AUTO = "auto"
    ID = "id"
    ORDER = "order"


class TableName(StrEnum):
    """A table that can be printed alone."""

    OVERALL = "overall"
    TYPES = "types"
    DEPTHS = "depths"
    LENGTHS = "lengths"
    NESTING = "nesting"
    MISTAKES = "mistakes"
    CONFUSION = "confusion"
    COMPARISON = "comparison"


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
        Match, typer.Option(help="How sentences are matched; auto matches in order, or by id if ids differ.")
    ] = Match.AUTO,
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
    if table is TableName.COMPARISON and against is None:
        raise InputError("there is nothing to compare with; give another prediction with --against", "--table")
    if worst and (form not in (TableForm.text, TableForm.json) or (table and form is TableForm.json)):
        raise InputError("sentences are shown in the terminal, or in --json with all tables; drop --worst", "--worst")
    golden, guessed = gold_format or format, pred_format or format
    files = ScoredFiles(
        SplitFile("gold", gold, golden, reading.options),
        SplitFile("predicted", predicted, guessed, reading.options),
        SplitFile("train", train, golden, reading.options) if train is not None else None,
        SplitFile("against", against, guessed, reading.options) if against else None,
    )
    print_found(judged(files, by, worst), form, paper, table)


class ScoredFiles(NamedTuple):
    """What is read."""

    gold: SplitFile
    predicted: SplitFile
    train: SplitFile | None
    against: SplitFile | None


class ScoredCorpus(NamedTuple):
    """What came out."""

    evaluation: Evaluation
    comparison: Comparison | None
    systems: tuple[str, str]  # what the two predictions are called


def judged(files: ScoredFiles, by: Match, worst: int) -> ScoredCorpus:
    """The evaluation of a prediction, and how it compares with another; what readers had to change is told."""
    refuse_pipes(files)
    reports: dict[str, Report] = {}
    judge = Judge(None if files.train is None else progress(read(files.train, reports), "reading train"))
    judge = seen(judge, files.gold, files.predicted, by, reports)
    other = seen(Judge(), files.gold, files.against, by, reports) if files.against else Judge()
    for path, report in reports.items():
        for line in report.summary():
            tell(f"{path}: {line}")
    result = judge.result()
    return ScoredCorpus(
        replace(result, mistakes=replace(result.mistakes, worst=result.mistakes.worst[:worst])),
        compare(judge.counts(), other.counts()) if files.against else None,
        (files.predicted.path, files.against.path if files.against else ""),
    )


def seen(judge: Judge, gold: SplitFile, predicted: SplitFile, by: Match, reports: dict[str, Report]) -> Judge:
    """A judge that has seen two files; large ones are read by several processes if possible."""
    formats = {format_of(file.path, file.format).name for file in (gold, predicted) if not is_stream(file.path)}
    workers = workers_for(gold.path, predicted.path) if formats == {"jsonl"} and by is not Match.ID else 1
    in_order = by is Match.ORDER
    found = see_files(judge, gold.path, predicted.path, workers, any_ids=in_order) if workers > 1 else None
    if found is None:
        judge.see(pairs_of(gold, predicted, by, reports))
        return judge
    reports.setdefault(gold.path, found.gold)
    reports.setdefault(predicted.path, found.predicted)
    return found.judge


def refuse_pipes(files: ScoredFiles) -> None:
    """A pipe can be read only once, and gold is read again for another prediction."""
    pipes = [file.path for file in files if file and is_stream(file.path)]
    again = [files.gold.path] if files.against and files.gold.path in pipes else []
    for path in again or (path for path in pipes if pipes.count(path) > 1):
        raise InputError("it would be read more than once; save it to a file first", path)


def read(file: SplitFile, reports: dict[str, Report]) -> Iterator[Sentence]:
    """The sentences of a file; only the first reading is reported."""
    report = None if file.path in reports else reports.setdefault(file.path, Report())
    return format_of(file.path, file.format).read(file.path, file.options, report)


def pairs_of(gold: SplitFile, predicted: SplitFile, by: Match, reports: dict[str, Report]) -> Iterator[Pair]:
    """Pairs of sentences of both files, with a progress count."""
    sides = read(gold, reports), read(predicted, reports)
    return progress(matched(*sides, by.value, (gold.path, predicted.path)), f"scoring {predicted.path}")


def print_found(found: ScoredCorpus, form: TableForm, paper: bool, only: TableName | None) -> None:
    """Print all tables or one of them, and in a terminal the worst sentences."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    chosen = tables_of(found, form, paper, console.width)
    if form is TableForm.json and not only:
        echo(f"{to_object(found, chosen)}\n")
        return
    for place, table in enumerate([chosen[only]] if only else chosen.values()):
        typer.echo("\n" * (place > 0), nl=False)
        echo(f"# {table.title}\n" * (form is TableForm.csv and not only))
        show(table, form)
    if form is TableForm.text:
        print_lines(console, drawn(found.evaluation.mistakes.worst, console.width))


def tables_of(found: ScoredCorpus, form: TableForm, paper: bool, width: int) -> dict[str, Table]:
    """All tables by name, as the form wants them."""
    detail = Detail.NUMBERS if form in (TableForm.json, TableForm.csv) else Detail.FULL
    if form is TableForm.text:
        chosen = tables_within(found.evaluation, paper, width)
    else:
        chosen = tables(found.evaluation, paper, detail)
    if found.comparison:
        chosen[TableName.COMPARISON] = comparison(found.comparison, found.systems, detail)
    return chosen


def to_object(found: ScoredCorpus, chosen: Mapping[str, Table]) -> str:
    """Everything as one JSON object: the tables with their figures in percent, and the counts behind them."""
    record = {
        "tables": {name: js.loads(to_json(table)) for name, table in chosen.items()},
        "evaluation": to_mapping(found.evaluation),
        "comparison": found.comparison and found.comparison._asdict(),
    }
    return js.dumps(record, ensure_ascii=False, indent=1)


def drawn(sentences: Sequence[Shown], width: int) -> Iterator[StyledLine]:
    """Sentences with their gold entities, then with the predicted ones, and what is wrong in words."""
    for place, shown in enumerate(sentences, 1):
        name, tokens = shown.id, shown.tokens
        found = mistakes_of(shown.gold, shown.predicted)
        times = f"{len(found):,} mistake{'s' * (len(found) != 1)}"
        yield []
        yield [styled(f"Worst {place}: {times}{f', {visible(name)}' if name else ''}", "bold")]
        for title, entities in (("gold", shown.gold), ("predicted", shown.predicted)):
            yield [styled(title, "italic")]
            yield from nested(Sentence(tokens, entities), width)
        yield from ([styled(in_words(mistake, tokens))] for mistake in found)


def in_words(mistake: Mistake, tokens: Sequence[str]) -> str:
    """A mistake in a line.

    >>> from nestag.data import Entity
    >>> in_words(Mistake("boundary", Entity(0, 2, "GPE"), Entity(1, 2, "GPE")), ["the", "USA"])
    'boundary: GPE "the USA" predicted as GPE "USA"'
    """
    kind, gold, predicted = mistake
    sides = [f'{side.type} "{" ".join(tokens[side.start : side.end])}"' for side in (gold, predicted) if side]
    if gold and predicted and gold[:2] == predicted[:2]:
        sides[1] = predicted.type
    return visible(f"{kind}: {' predicted as '.join(sides)}")
