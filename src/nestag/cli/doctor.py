"""doctor: what would go wrong in training, before it starts."""

from __future__ import annotations

import json as json_lib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.output import Json, echo
from nestag.cli.splits import Given
from nestag.cli.terminal import hush, tell
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.diagnosis.doctor import Diagnosis, DoctorLimits, Patient, Severity, examine
from nestag.diagnosis.statistics import TRAIN
from nestag.diagnosis.symptoms import Measure
from nestag.errors import InputError, MissingExtraError
from nestag.training.plan import TrainingPlan, rough_plan
from nestag.training.recipe import load_recipe
from nestag.visible import visible

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
INDENT = 9
UNBOUNDED = 10**6
"""Tokenizers that know no limit say a much larger number."""


def doctor(
    *,
    given: Given,
    encoder: Annotated[
        str | None, typer.Option(metavar="DIR", help="Count subwords with the tokenizer saved there.")
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(
            "--max-length", min=1, help="The longest sentence in subwords (default: the encoder's maximum, or 512)."
        ),
    ] = None,
    rare: Annotated[int, typer.Option(min=1, help="Types with fewer examples are reported.")] = DoctorLimits.rare,
    json: Json = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Check a corpus for problems before training and say how to fix them; exit code 1 if training should not start."""
    splits = given.splits(format, reading, twice=True)
    measure, limit = subwords_of(encoder) if encoder else (None, DoctorLimits.sentence)
    patients: dict[str, Patient] = {}
    counts: dict[str, Count] = {}
    for split in splits:
        report = Report()
        counts[split.name] = Count()
        patients[split.name] = Patient(split.path, counts[split.name].counting(split.opener(report)), report)
    found = examine(patients, DoctorLimits(rare=rare, sentence=longest or limit), measure)
    for note in (note for patient in patients.values() for note in patient.report.notes):
        tell(note)
    plan = planned(counts.get(TRAIN))
    if json:
        echo(f"{as_json(found, plan)}\n")
    else:
        typer.echo(as_text(found, plan))  # in colours, where there are any
    if any(finding.severity is Severity.ERROR for finding in found):
        raise typer.Exit(1)


@dataclass
class Count:
    """Sentences and words of a split, counted when it is read for the first time."""

    sentences: int = 0
    words: int = 0

    def counting(self, read: Callable[[], Iterable[Sentence]]) -> Callable[[], Iterator[Sentence]]:
        """The same reader, counting on its first pass."""

        def counted() -> Iterator[Sentence]:
            first = not self.sentences
            for sentence in read():
                if first:
                    self.sentences += 1
                    self.words += len(sentence)
                yield sentence

        return counted


def planned(count: Count | None) -> TrainingPlan | None:
    """About what training with `default` will be, None if there is nothing to train on."""
    if count is None or not count.words:
        return None
    return rough_plan(load_recipe("default"), count.sentences, count.words)


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
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        longest = int(min(tokenizer.model_max_length, UNBOUNDED))
    except Exception as error:  # noqa: BLE001 - a stranger's files can make transformers fail in any way
        reason = " ".join(str(error).split())[:300]
        raise InputError(
            f"no tokenizer can be loaded ({reason}); give a folder that save_pretrained wrote", path
        ) from None

    def measure(tokens: Sequence[str]) -> int:
        return len(tokenizer(list(tokens), is_split_into_words=True, verbose=False)["input_ids"])

    return measure, longest if longest < UNBOUNDED else positions_of(path)


def positions_of(path: str) -> int:
    """How many positions an encoder's configuration says it has, else the usual number."""
    try:
        found = json_lib.loads((Path(path) / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"]
        return int(found)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return DoctorLimits.sentence


def as_json(found: Sequence[Diagnosis], plan: TrainingPlan | None) -> str:
    """The findings for programs."""
    training = plan and {"steps": plan.steps, "batch_subwords": plan.batch_subwords, "passes": round(plan.epochs)}
    counts = Counter(finding.severity for finding in found)
    findings = [
        finding._asdict() | {"examples": [example._asdict() for example in finding.examples]} for finding in found
    ]
    return json_lib.dumps(
        {**{severity: counts[severity] for severity in Severity}, "training": training, "findings": findings},
        ensure_ascii=False,
        indent=1,
    )


def as_text(found: Sequence[Diagnosis], plan: TrainingPlan | None) -> str:
    """The findings for people, and a summary."""
    lines = [line for finding in found for line in (*_lines(finding), "")]
    counts = Counter(finding.severity for finding in found)
    told = ", ".join(f"{counts[s]} {s}{'s' * (counts[s] != 1)}" for s in Severity if counts[s])
    verdict = "training should not start" if counts[Severity.ERROR] else "training can start"
    steps = plan and (
        f"nestag train would take about {plan.steps:,} steps of up to {plan.batch_subwords:,} subwords"
        f" ({plan.epochs:.0f} passes over the training split)"
    )
    return "\n".join([*lines, *([steps] if steps else []), f"{told or 'nothing found'}; {verdict}"])


def _lines(finding: Diagnosis) -> list[str]:
    name = typer.style(f"{finding.severity:<{INDENT - 1}}", fg=COLOURS[finding.severity], bold=True)
    space = " " * INDENT
    return [
        f"{name} {visible(f'{finding.split}: {finding.what}')}",
        f"{space}→ {visible(finding.remedy)}",
        *(f"{space}{visible(f'{example.place}: {example.text}')}" for example in finding.examples),
    ]
