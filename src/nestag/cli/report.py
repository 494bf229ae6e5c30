"""report: a model and an annotated corpus -> one page on how good the model is."""

from __future__ import annotations

from typing import Annotated

import nestag
from nestag.cli.options import DeviceOption, From, ModelArgument, Reading, file_option, output_option
from nestag.cli.terminal import log, log_all


def report(
    *,
    model: ModelArgument,
    test: Annotated[str, file_option("An annotated corpus to test the model on.")],
    output: Annotated[str | None, output_option("FILE", "The page (default: MODEL/report.html).")] = None,
    device: DeviceOption = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Write an HTML page on how good a model is: scores, plots, calibration, examples and mistakes."""
    done = nestag.report(model, reading.corpus(test, format), output, device=device)
    log_all(done.report.summary())
    log(f"report written to {done.output}; open it in a browser")
