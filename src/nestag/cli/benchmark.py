"""benchmark: how fast a recognizer is compared with its bare encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import nestag
from nestag.cli.options import DeviceOption, From, ModelArgument, Reading
from nestag.cli.terminal import hush

if TYPE_CHECKING:
    from nestag.model.benchmark import Measurement


def benchmark(
    *,
    model: ModelArgument,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Sentences to tag, in any format.")],
    times: Annotated[int, typer.Option(min=1, help="How often to repeat the corpus.")] = 1,
    device: DeviceOption = None,
    float32: Annotated[bool, typer.Option("--float32", help="Use float32 even if the GPU supports bfloat16.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads (default: torch's choice).")] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also put the table into a Markdown page, as a section.")
    ] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Measure the stages of tagging and the bare encoder on the same batches, in one run."""
    hush()

    def show(one: Measurement) -> None:
        typer.echo(f"{one.what:<62} {one.shown:>18}  {one.bar}".rstrip())

    source = reading.corpus(corpus, format)
    nestag.benchmark(
        model, source, times=times, device=device, float32=float32, threads=threads, write=write, watch=show
    )
