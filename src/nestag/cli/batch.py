"""batch: files of rows in, the same rows with their entities out, on one machine or a cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import typer

from nestag.batch import Job, Totals
from nestag.batch.cluster import Cluster
from nestag.batch.run import tag as tag_files
from nestag.cli.options import MODEL, Forms, LanguageOption, Predicting, TokenizerOption, models, named
from nestag.cli.terminal import log, show

REPORT_SECONDS = 10.0
"""Seconds between two lines about progress outside a terminal."""

MOST_FAILURES = 20
"""Maximum number of failures to list."""


def batch(
    *,
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, folder or glob of Parquet, JSON Lines or text.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="The folder to write, here or e.g. s3://bucket/folder.")],
    model: Annotated[str, named(models, "M", MODEL, "--model")],
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
    format: Annotated[
        Literal["parquet", "jsonl", "text"] | None,
        typer.Option("--from", help="The input format (default: by the file names)."),
    ] = None,
    to: Annotated[Literal["parquet", "jsonl"], typer.Option(help="The output format.")] = "parquet",
    part_size: Annotated[
        float | None,
        typer.Option(min=0.000001, metavar="MIB", help="Size of a part, the unit of work (default: chosen by device)."),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda"] | None, typer.Option(help="The device (default: GPUs if there are any).")
    ] = None,
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
        kind=format,
        form=to,
        tokenizer=tokenizer,
        language=language,
        part_bytes=max(1, round(part_size * 2**20)) if part_size else 0,
        device=device or "",
        changes=predicting.changes,
    )
    form = forms.chosen
    try:
        with _progress() as watch:
            totals = tag_files(source, out, model, job, Cluster(address, workers), verify=verify, watch=watch)
    except (KeyboardInterrupt, SystemExit):  # also SIGTERM and SIGHUP
        log("resume with the same command")
        raise
    show(totals.table(), form)
    _log_failures(totals)
    if totals.failures:
        raise typer.Exit(1)


def _log_failures(totals: Totals) -> None:
    failures = totals.failures
    if totals.ignored:
        log(f"ignored: {totals.ignored:,} files of other formats")
    for failure in failures[:MOST_FAILURES]:
        log(f"failed: {failure.file}: {failure.error}")
    if len(failures) > MOST_FAILURES:
        log(f"and {len(failures) - MOST_FAILURES:,} more")
    if failures:
        log("all other parts are finished; repair these files and run the same command again")


@contextmanager
def _progress() -> Iterator[Callable[[Totals], None]]:
    """Show progress on stderr: in a terminal a line that changes, elsewhere a line now and then."""
    if sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console
        from rich.status import Status

        with Status("starting", console=Console(stderr=True)) as status:
            yield lambda totals: status.update(totals.line())
        return
    reported = time.monotonic()

    def report(totals: Totals) -> None:
        nonlocal reported
        if time.monotonic() - reported >= REPORT_SECONDS:
            log(totals.line())
            reported = time.monotonic()

    yield report
