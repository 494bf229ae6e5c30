"""compare: the runs of an experiment on one page, with its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.terminal import log
from nestag_lab.commands.tables import ScoredSplit


def compare(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The output folder of nestag experiment.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The page (default: DIR/report.html).")
    ] = None,
    split: Annotated[ScoredSplit, typer.Option(help="The split whose scores are shown.")] = "test",
    figures: Annotated[bool, typer.Option(help="Also save the figures in DIR/figures, as PNG and SVG.")] = True,
) -> None:
    """Write one HTML page that compares the runs of an experiment: tables, figures and mistakes."""
    from nestag_lab.report.page import report, write_report

    file = output or str(Path(folder) / "report.html")
    gallery = Path(folder) / "figures"
    found = report(folder, split, png=figures)
    write_report(found, file, gallery if figures else None)
    for line in found.missing:
        log(line)
    if figures:
        log(f"{len(found.figures)} figures written to {gallery}")
    log(f"report written to {file} ({len(found.page.encode()) / 2**20:.1f} MiB); open it in a browser")
