"""benchmark: how fast a recognizer is beside its bare encoder."""

from __future__ import annotations

from typing import Annotated

import typer

from nestag.cli.splits import From, Reading
from nestag.cli.terminal import hush
from nestag.corpora.corpus import Corpus


def benchmark(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or a name on the hub.")],
    source: Annotated[str, typer.Argument(metavar="CORPUS", help="Sentences to tag, in any format.")],
    times: Annotated[int, typer.Option(min=1, help="How often to repeat the corpus.")] = 1,
    device: Annotated[
        str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1 (default: a GPU if there is one).")
    ] = None,
    float32: Annotated[bool, typer.Option("--float32", help="Use float32 even if the GPU supports bfloat16.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads (default: torch's choice).")] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Measure the stages of tagging beside the bare encoder on the same batches, in one run."""
    hush()
    import torch

    from nestag.recognizer import NestedNER
    from nestag.speed import measure

    if threads:
        torch.set_num_threads(threads)
    recognizer = NestedNER.from_pretrained(model, device, precision="float32" if float32 else "auto")
    corpus = Corpus.read(source, format, reading.options_for(recognizer.settings.reading))
    for what, value, unit in measure(recognizer, corpus, times):
        shown = f"{value:,.0f}" if value >= 1_000 or not value % 1 else f"{value:#.4g}"
        typer.echo(f"{what:<50} {shown:>12} {unit}".rstrip())
