"""tables: finished runs -> every table of the paper, in Markdown, LaTeX and CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from nestag.cli.terminal import log, show
from nestag.errors import InputError
from nestag.inspect.table_forms import TableForm
from nestag_lab.experiment.pack import pack_of, write_pack
from nestag_lab.paper.pages import F1, read_pages, write_tables

ScoredSplit = Literal["test", "dev"]
"""The splits that runs are scored on."""


def tables(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="The output folder of nestag experiment, or one with packed runs.")
    ],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="The folder for the tables (default: DIR/tables)."),
    ] = None,
    pack: Annotated[
        bool,
        typer.Option("--pack", help="Also save the runs in one packed file, from which the tables can be made again."),
    ] = False,
    split: Annotated[ScoredSplit, typer.Option(help="The split whose scores are shown.")] = "test",
) -> None:
    """Write every table of the paper from finished runs, with the paper's figures for comparison."""
    target = output or str(Path(folder) / "tables")
    if pack:
        write_pack(pack_of(folder), target)
    pages = read_pages(target if pack else folder, split)
    for line in pages.missing:
        log(line)
    if not pages.pages:
        raise InputError("there is nothing to make tables of; run nestag experiment first", folder)
    write_tables(pages, target)
    scores = pages.table(F1)
    if scores:
        show(scores, TableForm.text)
    log(f"{len(pages.pages)} tables written to {target}; tables.md has all of them")
