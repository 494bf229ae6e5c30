"""report: a model and an annotated file -> one page on how good the model is."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli.options import DeviceOption, From, Reading
from nestag.cli.terminal import tell, tell_all


def report(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder.")],
    test: Annotated[str, typer.Option(metavar="FILE", help="An annotated corpus to test the model on.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The page (default: MODEL/report.html).")
    ] = None,
    device: DeviceOption = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Write one HTML page that shows how good a model is: scores, calibration, examples and mistakes."""
    done = nestag.report(model, reading.corpus(test, format), output, device=device)
    tell_all(done.report.summary())
    tell(f"report written to {done.output}; open it in a browser")
