"""doctor: what would go wrong in training, before it starts."""

from __future__ import annotations

import json as json_lib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.output import Json
from nestag.cli.splits import From, Given, Reading
from nestag.cli.terminal import hush, tell
from nestag.corpora.report import Report
from nestag.diagnosis.doctor import Diagnosis, Limits, Patient, Severity, examine
from nestag.diagnosis.symptoms import Measure
from nestag.errors import InputError, MissingExtraError
from nestag.visible import visible

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
INDENT = 9
UNBOUNDED = 10**6
"""Tokenizers that know no limit say a much larger number."""


def doctor(
    *,
    given: Given,
    encoder: Annotated[
        str | None, typer.Option(metavar="DIR", help="Count subwords as the encoder saved there does.")
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option("--max-length", min=1, help="The longest sentence that fits; else as the encoder says, or 512."),
    ] = None,
    rare: Annotated[int, typer.Option(min=1, help="Types with fewer examples are reported.")] = Limits.rare,
    json: Json = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Look for what would go wrong in training, and say what to do; exit code 1 if training should not start."""
    splits = given.splits(format, reading, twice=True)
    measure, limit = subwords_of(encoder) if encoder else (None, Limits.sentence)
    patients: dict[str, Patient] = {}
    for split in splits:
        report = Report()
        patients[split.name] = Patient(split.path, split.opener(report), report)
    found = examine(patients, Limits(rare=rare, sentence=longest or limit), measure)
    for note in (note for patient in patients.values() for note in patient.report.notes):
        tell(note)
    typer.echo(as_json(found) if json else as_text(found))
    if any(finding.severity is Severity.ERROR for finding in found):
        raise typer.Exit(1)


def subwords_of(path: str) -> tuple[Measure, int]:
    """How the encoder in a folder counts a sentence, with its own marks, and how much it takes."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise MissingExtraError("--encoder needs transformers", "model") from None
    if not Path(path).is_dir():
        raise InputError("there is no such folder; give one that save_pretrained wrote", path)
    hush()
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"no tokenizer can be loaded ({error}); give a folder that save_pretrained wrote", path
        ) from None

    def measure(tokens: Sequence[str]) -> int:
        return len(tokenizer(list(tokens), is_split_into_words=True, verbose=False)["input_ids"])

    longest = int(tokenizer.model_max_length)
    return measure, longest if longest < UNBOUNDED else positions_of(path)


def positions_of(path: str) -> int:
    """How many positions an encoder's configuration says it has, else the usual number."""
    try:
        found = json_lib.loads((Path(path) / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"]
        return int(found)
    except (OSError, ValueError, KeyError, TypeError):
        return Limits.sentence


def as_json(found: Sequence[Diagnosis]) -> str:
    """The findings for programs."""
    counts = Counter(finding.severity for finding in found)
    findings = [
        finding._asdict() | {"examples": [example._asdict() for example in finding.examples]} for finding in found
    ]
    return json_lib.dumps(
        {**{severity: counts[severity] for severity in Severity}, "findings": findings}, ensure_ascii=False, indent=1
    )


def as_text(found: Sequence[Diagnosis]) -> str:
    """The findings for people, and what they come to."""
    lines = [line for finding in found for line in (*_lines(finding), "")]
    counts = Counter(finding.severity for finding in found)
    told = ", ".join(f"{counts[s]} {s}{'s' * (counts[s] != 1)}" for s in Severity if counts[s])
    verdict = "training should not start" if counts[Severity.ERROR] else "training can start"
    return "\n".join([*lines, f"{told or 'nothing found'}; {verdict}"])


def _lines(finding: Diagnosis) -> list[str]:
    name = typer.style(f"{finding.severity:<{INDENT - 1}}", fg=COLOURS[finding.severity], bold=True)
    space = " " * INDENT
    return [
        f"{name} {visible(f'{finding.split}: {finding.what}')}",
        f"{space}→ {visible(finding.remedy)}",
        *(f"{space}{visible(f'{example.place}: {example.text}')}" for example in finding.examples),
    ]
