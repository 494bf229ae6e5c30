"""benchmark: the speed of a recognizer compared with its bare encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import nestag
from nestag.cli.options import DeviceOption, From, ModelArgument, Reading, file_option
from nestag.cli.terminal import silence_libraries


def benchmark(
    *,
    model: ModelArgument,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Sentences to tag, in any format.")],
    times: Annotated[int, typer.Option(min=1, help="How often to repeat the corpus.")] = 1,
    device: DeviceOption = None,
    float32: Annotated[bool, typer.Option("--float32", help="Use float32 even if the GPU supports bfloat16.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads (default: torch's choice).")] = None,
    write: Annotated[Path | None, file_option("Also write the table into a section of a Markdown page.")] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Measure the stages of tagging and the bare encoder on the same batches, in one run."""
    silence_libraries()
    nestag.benchmark(
        model, reading.corpus(corpus, format), times=times, device=device, float32=float32, threads=threads,
        write=write, watch=lambda measurement: typer.echo(f"{measurement.what:<62} {measurement.shown:>18}"),
    )  # fmt: skip
