"""experiment: the runs of a grid, in parallel, resumed and summed up."""

from __future__ import annotations

from typing import Annotated

import typer

from nestag.cli.terminal import log, show
from nestag.inspect.table_forms import TableForm
from nestag_lab.experiment.conduct import Request, conduct, print_estimate


def experiment(
    grid: Annotated[str, typer.Argument(metavar="GRID.toml", help="Corpora, encodings, recipes and seeds to try.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder for runs and results.")],
    at_once: Annotated[int, typer.Option(min=1, metavar="N", help="How many runs to do in parallel.")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the runs and estimate their time.")] = False,
    cpu: Annotated[bool, typer.Option("--cpu", help="Train on the CPU even if there is a GPU.")] = False,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only runs whose names contain these words, e.g. 'genia rel'.")
    ] = "",
) -> None:
    """Run a grid of experiments; the same command skips finished runs and resumes interrupted ones."""
    from nestag_lab.paper.runs import finished
    from nestag_lab.paper.scores import f1_table

    request = Request(grid, output, at_once, cpu, only)
    if dry_run:
        print_estimate(request, log)
        return
    conducted = conduct(request, log)
    if conducted.results:
        show(f1_table(finished(conducted.results, "test")), TableForm.text)
    if conducted.code:
        raise typer.Exit(conducted.code)
