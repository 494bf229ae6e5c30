"""adapt: text -> an encoder adapted to its domain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

import nestag
from nestag.cli.options import CpuOption, EncoderOption, From, Reading, SeedOption, file_option, output_option
from nestag.cli.paths import find_inputs, read_inputs
from nestag.cli.terminal import log, log_all, progress, silence_libraries
from nestag.data.report import Report
from nestag.data.sentence import Sentence


def adapt(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT", help="Files, folders or patterns like notes/*.txt, in any format; entities are ignored."
        ),
    ],
    output: Annotated[str, output_option("DIR", "The folder to save the encoder in.")],
    encoder: EncoderOption = "minilm",
    dev: Annotated[str | None, file_option("Text to measure the accuracy on masked subwords.")] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Epochs (default: 100, or fewer to stay below 5,000 steps).")
    ] = None,
    seed: SeedOption = 1,
    cpu: CpuOption = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Adapt an encoder to the domain of a text before training; the same command resumes an interrupted run."""
    silence_libraries()
    report = Report()

    def read(paths: list[str], what: str) -> Iterator[Sentence]:
        return progress(read_inputs(find_inputs(paths, format), reading.options, report), what)

    done = nestag.adapt(
        read(sources, "reading"), output, encoder or "minilm", dev=read([dev], "reading dev") if dev else (),
        epochs=epochs, seed=seed, quiet=False, use_cpu=cpu,
    )  # fmt: skip
    log_all(report.summary())
    accuracy = "" if done.accuracy is None else f", {done.accuracy:.1%} accuracy on masked subwords of dev"
    log(f"{done.windows:,} windows, {done.steps:,} steps{accuracy}; train with --encoder {output}")
