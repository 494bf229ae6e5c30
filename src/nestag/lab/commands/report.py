"""report: the folder of an experiment -> one page, and its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.terminal import tell
from nestag.lab.commands.tables import ScoredSplit


def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder that nestag experiment wrote.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The page; DIR/report.html if not said.")
    ] = None,
    split: Annotated[ScoredSplit, typer.Option(help="The split whose scores are shown.")] = ScoredSplit.TEST,
    pictures: Annotated[bool, typer.Option(help="Write the pictures to DIR/pictures too, as PNG and SVG.")] = True,
) -> None:
    """Write one page that needs nothing else, with the tables, pictures and mistakes of an experiment."""
    from nestag.lab.report.page import report as page_of
    from nestag.lab.report.write import write_report

    file, gallery = output or str(Path(folder) / "report.html"), Path(folder) / "pictures"
    found = page_of(folder, split.value, png=pictures)
    write_report(found, file, gallery if pictures else None)
    for line in found.missing:
        tell(line)
    if pictures:
        tell(f"{len(found.pictures)} pictures written to {gallery}")
    tell(f"report written to {file} ({len(found.page.encode()) / 2**20:.1f} MiB); open it in a browser")
