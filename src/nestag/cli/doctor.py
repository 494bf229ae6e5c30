"""doctor: problems of a corpus, before training starts."""

from __future__ import annotations

import json as json_lib
from typing import Annotated

import typer

import nestag
from nestag.cli.options import From, Json, Reading, Splits
from nestag.cli.terminal import echo, log_all, silence_libraries
from nestag.inspect.doctor import Severity
from nestag.inspect.symptoms import DoctorLimits

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}


def doctor(
    *,
    splits: Splits,
    encoder: Annotated[
        str | None, typer.Option(metavar="DIR", help="Count subwords with the tokenizer in this folder.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(min=1, help="The longest sentence in subwords (default: the encoder's maximum, or 512)."),
    ] = None,
    rare: Annotated[int, typer.Option(min=1, help="Types with fewer examples are reported.")] = DoctorLimits.rare,
    json: Json = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Check a corpus for problems before training and say how to fix them; exit code 1 if training should not start."""
    if encoder:
        silence_libraries()
    checkup = nestag.doctor(*splits.corpora(format, reading), encoder=encoder, max_length=max_length, rare=rare)
    log_all(checkup.notes)
    if json:
        echo(f"{json_lib.dumps(checkup.record(), ensure_ascii=False, indent=1)}\n")
    else:
        typer.echo(checkup.text(_colour))  # removes colours outside a terminal
    if not checkup.can_train:
        raise typer.Exit(1)


def _colour(severity: Severity) -> str:
    return typer.style(f"{severity:<8}", fg=COLOURS[severity], bold=True)
