"""doctor: what would go wrong in training, before it starts."""

from __future__ import annotations

import json as json_lib
from typing import Annotated

import typer

import nestag
from nestag.cli.options import From, Given, Json, Reading
from nestag.cli.terminal import echo, hush, tell_all
from nestag.errors import visible
from nestag.inspect.doctor import Diagnosis, DoctorLimits, Severity
from nestag.training.advice import Checkup

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
INDENT = 9


def doctor(
    *,
    given: Given,
    encoder: Annotated[
        str | None, typer.Option(metavar="DIR", help="Count subwords with the tokenizer saved there.")
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
        hush()
    found = nestag.doctor(*given.corpora(format, reading), encoder=encoder, max_length=max_length, rare=rare)
    tell_all(found.notes)
    if json:
        echo(f"{as_json(found)}\n")
    else:
        typer.echo(as_text(found))  # in colours, where there are any
    if not found.can_train:
        raise typer.Exit(1)


def as_json(found: Checkup) -> str:
    """The findings for programs."""
    plan = found.plan
    training = plan and {"steps": plan.steps, "batch_subwords": plan.batch_subwords, "epochs": round(plan.epochs)}
    findings = [one._asdict() | {"examples": [example._asdict() for example in one.examples]} for one in found.findings]
    counts = {severity.value: found.count(severity) for severity in Severity}
    return json_lib.dumps({**counts, "training": training, "findings": findings}, ensure_ascii=False, indent=1)


def as_text(found: Checkup) -> str:
    """The findings for people, and a summary."""
    lines = [line for finding in found.findings for line in (*_lines(finding), "")]
    counts = {severity: found.count(severity) for severity in Severity}
    summary = ", ".join(f"{count} {severity}{'s' * (count != 1)}" for severity, count in counts.items() if count)
    if found.plan:
        lines.append(
            f"nestag train would take about {found.plan.steps:,} steps of up to {found.plan.batch_subwords:,} subwords"
            f" ({found.plan.epochs:.0f} epochs)"
        )
    verdict = "training can start" if found.can_train else "training should not start"
    return "\n".join([*lines, f"{summary or 'nothing found'}; {verdict}"])


def _lines(finding: Diagnosis) -> list[str]:
    name = typer.style(f"{finding.severity:<{INDENT - 1}}", fg=COLOURS[finding.severity], bold=True)
    space = " " * INDENT
    return [
        f"{name} {visible(f'{finding.split}: {finding.what}')}",
        f"{space}→ {visible(finding.remedy)}",
        *(f"{space}{visible(f'{example.place}: {example.text}')}" for example in finding.examples),
    ]
