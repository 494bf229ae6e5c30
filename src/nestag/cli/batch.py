"""batch: files of rows in, the same rows with their entities out, on one machine or a cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from nestag.batch import Job, Totals
from nestag.batch.cluster import Cluster
from nestag.batch.run import tag as tag_files
from nestag.cli.options import Forms, LanguageOption, Predicting, TokenizerOption
from nestag.cli.terminal import show, tell

REPORT_SECONDS = 10.0
"""Seconds between two lines about progress where nobody sees a bar."""

SHOWN = 20
"""Failures that are listed."""


class Kinds(StrEnum):
    """What files of rows are read."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    TEXT = "text"


class OutputFormat(StrEnum):
    """The output format."""

    PARQUET = "parquet"
    JSONL = "jsonl"


class Devices(StrEnum):
    """What a model runs on."""

    CPU = "cpu"
    CUDA = "cuda"


def batch(
    *,
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, folder or glob of Parquet, JSON Lines or text.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="The folder to write, here or e.g. s3://bucket/folder.")],
    model: Annotated[str, typer.Option("--model", metavar="M", help="A model folder, or a name on the hub.")],
    address: Annotated[
        str | None, typer.Option(metavar="RAY", help="A running Ray cluster, or auto (default: start one here).")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of workers (default: one per CPU core, one to four per GPU).")
    ] = None,
    text_column: Annotated[str, typer.Option(metavar="NAME", help="The column that holds text.")] = "text",
    tokens_column: Annotated[
        str, typer.Option(metavar="NAME", help="A column that holds lists of words; replaces the text column.")
    ] = "",
    keep: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A column to copy to the output; may be repeated.")
    ] = None,
    read_as: Annotated[
        Kinds | None, typer.Option("--from", help="The input format, if file names do not tell.")
    ] = None,
    write_as: Annotated[OutputFormat, typer.Option("--to", help="The output format.")] = OutputFormat.PARQUET,
    part_size: Annotated[
        float | None,
        typer.Option(min=0.000001, metavar="MIB", help="Size of a part, the unit of work (default: chosen by device)."),
    ] = None,
    device: Annotated[Devices | None, typer.Option(help="The device (default: GPUs if there are any).")] = None,
    predicting: Predicting,
    tokenizer: TokenizerOption = None,
    language: LanguageOption = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check finished parts by hash, not only by size.")] = False,
    forms: Forms,
) -> None:
    """Find nested entities in files of any size, exactly once; the same command resumes a stopped run."""
    job = Job(
        text=text_column,
        tokens=tokens_column,
        keep=tuple(keep or ()),
        kind=read_as.value if read_as else None,
        form=write_as.value,
        tokenizer=tokenizer,
        language=language,
        part_bytes=max(1, round(part_size * 2**20)) if part_size else 0,
        device=device.value if device else "",
        changes=predicting.changes,
    )
    form = forms.chosen
    try:
        with _watching() as watch:
            totals = tag_files(source, out, model, job, Cluster(address, workers), verify=verify, watch=watch)
    except KeyboardInterrupt:
        tell("resume with the same command")
        raise
    show(totals.table(), form)
    _tell_failures(totals)
    if totals.failures:
        raise typer.Exit(1)


def _tell_failures(totals: Totals) -> None:
    failures = totals.failures
    if totals.ignored:
        tell(f"ignored: {totals.ignored:,} files of other formats")
    for failure in failures[:SHOWN]:
        tell(f"failed: {failure.file}: {failure.error}")
    if len(failures) > SHOWN:
        tell(f"and {len(failures) - SHOWN:,} more")
    if failures:
        tell("all other parts are finished; repair these files and run the same command again")


@contextmanager
def _watching() -> Iterator[Callable[[Totals], None]]:
    """Progress on the error stream: one line that changes for a person, now and then a line for a file."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.status import Status

    with Status("starting", console=Console(stderr=True)) as status:
        yield lambda totals: status.update(totals.line())


class _Lines:
    def __init__(self) -> None:
        self.told = time.monotonic()

    def __call__(self, totals: Totals) -> None:
        if time.monotonic() - self.told >= REPORT_SECONDS:
            tell(totals.line())
            self.told = time.monotonic()
