"""benchmark: how fast a recognizer is beside its bare encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.terminal import hush
from nestag.corpora.corpus import Corpus
from nestag.files import writing


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
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also put the table into a Markdown page, as a section.")
    ] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Measure the stages of tagging beside the bare encoder on the same batches, in one run."""
    hush()
    import torch

    from nestag.recognizer import NestedNER
    from nestag.speed import machine_name, measure, table, with_section

    if threads:
        torch.set_num_threads(threads)
    recognizer = NestedNER.from_pretrained(model, device, precision="float32" if float32 else "auto")
    corpus = Corpus.read(source, format, reading.options_for(recognizer.settings.reading))
    found = []
    for one in measure(recognizer, corpus, times):
        typer.echo(f"{one.what:<62} {one.shown:>18}  {one.bar}".rstrip())
        found.append(one)
    if write:
        page = write.read_text("utf-8") if write.exists() else "# Tagging beside the bare encoder\n"
        with writing(write) as stream:
            stream.write(with_section(page, machine_name(recognizer.model.device), table(found)))
