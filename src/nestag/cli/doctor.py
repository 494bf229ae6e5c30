"""doctor: problems of a corpus, before training starts."""

from __future__ import annotations

import json as json_lib
from typing import Annotated

import typer

import nestag
from nestag.cli.options import From, Json, Reading, Splits
from nestag.cli.terminal import echo, log_all, silence_libraries
from nestag.errors import visible
from nestag.inspect.doctor import Diagnosis, Severity
from nestag.inspect.symptoms import DoctorLimits
from nestag.training.advice import Checkup

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
INDENT = 9


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
        echo(f"{as_json(checkup)}\n")
    else:
        typer.echo(as_text(checkup))  # removes colours outside a terminal
    if not checkup.can_train:
        raise typer.Exit(1)


def as_json(checkup: Checkup) -> str:
    """Return the findings for programs."""
    plan = checkup.plan
    training = plan and {"steps": plan.steps, "batch_subwords": plan.batch_subwords, "epochs": round(plan.epochs)}
    findings = [
        finding._asdict() | {"examples": [example._asdict() for example in finding.examples]}
        for finding in checkup.findings
    ]
    counts = {severity.value: checkup.count(severity) for severity in Severity}
    return json_lib.dumps({**counts, "training": training, "findings": findings}, ensure_ascii=False, indent=1)


def as_text(checkup: Checkup) -> str:
    """Return the findings for people, and a summary."""
    lines = [line for finding in checkup.findings for line in (*_lines(finding), "")]
    counts = {severity: checkup.count(severity) for severity in Severity}
    summary = ", ".join(f"{count} {severity}{'s' * (count != 1)}" for severity, count in counts.items() if count)
    if plan := checkup.plan:
        size = f"{plan.steps:,} steps of up to {plan.batch_subwords:,} subwords ({plan.epochs:.0f} epochs)"
        lines.append(f"nestag train would take about {size}")
    verdict = "training can start" if checkup.can_train else "training should not start"
    return "\n".join([*lines, f"{summary or 'nothing found'}; {verdict}"])


def _lines(finding: Diagnosis) -> list[str]:
    name = typer.style(f"{finding.severity:<{INDENT - 1}}", fg=COLOURS[finding.severity], bold=True)
    space = " " * INDENT
    return [
        f"{name} {visible(f'{finding.split}: {finding.what}')}",
        f"{space}→ {visible(finding.remedy)}",
        *(f"{space}{visible(f'{example.place}: {example.text}')}" for example in finding.examples),
    ]
