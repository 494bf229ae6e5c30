"""Advice before and after training: problems of a corpus, and why a model has not learned.

The rules for corpora are in `inspect/doctor.py`. With an encoder, the length of sentences is counted in its subwords.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nestag.errors import InputError, MissingExtraError, either, named, visible
from nestag.evaluation import Score
from nestag.formats.corpus import CorpusSource, report_of, reread, splits_of
from nestag.inspect.doctor import Diagnosis, Severity, examine
from nestag.inspect.symptoms import DoctorLimits, Measure
from nestag.training.plan import Scoring, TrainingPlan, rough_plan
from nestag.training.recipe import load_recipe

UNBOUNDED = 10**6  # tokenizers without a maximum length report a much larger number
RISING = 0.01  # F1 gained in the last quarter of a run that counts as still rising


@dataclass(frozen=True, repr=False)
class Checkup:
    """The result of the doctor, which prints as text."""

    findings: tuple[Diagnosis, ...]  # the worst first
    notes: tuple[str, ...]  # about the files: the detected formats, and warnings
    plan: TrainingPlan | None  # an estimate for training with `default`; None without a training split

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def can_train(self) -> bool:
        """Whether there is no error."""
        return not self.count(Severity.ERROR)

    def __repr__(self) -> str:
        return self.text()

    def text(self, style: Callable[[Severity], str] = "{:<8}".format) -> str:
        """Return the findings and a summary; `style` writes the severity of a finding."""
        lines = [line for finding in self.findings for line in (*_lines(finding, style(finding.severity)), "")]
        counts = {severity: self.count(severity) for severity in Severity}
        summary = ", ".join(f"{count} {severity}{'s' * (count != 1)}" for severity, count in counts.items() if count)
        if plan := self.plan:
            size = f"{plan.steps:,} steps of up to {plan.batch_subwords:,} subwords ({plan.epochs:.0f} epochs)"
            lines.append(f"nestag train would take about {size}")
        verdict = "training can start" if self.can_train else "training should not start"
        return "\n".join([*lines, f"{summary or 'nothing found'}; {verdict}"])

    def record(self) -> dict[str, Any]:
        """Return the findings as JSON."""
        plan = self.plan
        training = plan and {"steps": plan.steps, "batch_subwords": plan.batch_subwords, "epochs": round(plan.epochs)}
        findings = [
            finding._asdict() | {"examples": [example._asdict() for example in finding.examples]}
            for finding in self.findings
        ]
        counts = {severity.value: self.count(severity) for severity in Severity}
        return {**counts, "training": training, "findings": findings}


def _lines(finding: Diagnosis, severity: str) -> list[str]:
    space = " " * 9
    return [
        f"{severity} {visible(f'{finding.split}: {finding.what}')}",
        f"{space}→ {visible(finding.remedy)}",
        *(f"{space}{visible(f'{example.place}: {example.text}')}" for example in finding.examples),
    ]


def doctor(
    *files: CorpusSource,
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    encoder: str | None = None,
    max_length: int | None = None,
    rare: int = DoctorLimits.rare,
) -> Checkup:
    """Check a corpus for problems before training; each finding says how to fix it.

    With the folder of an encoder, the length of sentences is counted in its subwords; `max_length` is the longest
    sentence (default: the encoder's maximum, or 512). Types with fewer than `rare` examples are reported.
    """
    splits = splits_of(files, train, dev, test, reread)
    measure, limit = _subword_measure(encoder) if encoder else (None, DoctorLimits.sentence)
    examination = examine(splits, DoctorLimits(rare=rare, sentence=max_length or limit, measure=measure))
    notes = tuple(note for corpus in splits.values() for note in report_of(corpus).notes)
    sentences, words = examination.sentences, examination.words
    plan = rough_plan(load_recipe("default"), sentences, words) if words else None
    return Checkup(examination.findings, notes, plan)


def _subword_measure(path: str) -> tuple[Measure, int]:
    """Return how the encoder in a folder counts a sentence with special tokens, and its maximum."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise MissingExtraError(f"{named('encoder')} needs transformers", "model") from None
    if not Path(path).is_dir():
        raise InputError("there is no such folder; give one that save_pretrained wrote", path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        longest = int(min(tokenizer.model_max_length, UNBOUNDED))
    except Exception as error:  # noqa: BLE001 - untrusted files can make transformers fail in any way
        reason = " ".join(str(error).split())[:300]
        raise InputError(
            f"no tokenizer can be loaded ({reason}); give a folder that save_pretrained wrote", path
        ) from None

    def measure(tokens: Sequence[str]) -> int:
        return len(tokenizer(list(tokens), is_split_into_words=True, verbose=False)["input_ids"])

    return measure, longest if longest < UNBOUNDED else _positions(path)


def _positions(path: str) -> int:
    """Return the number of positions in an encoder's configuration, else the default."""
    try:
        return int(json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return DoctorLimits.sentence


def advice(plan: TrainingPlan, dev: Score, scorings: Sequence[Scoring], labels: int) -> Iterator[str]:
    """Yield advice about a run with this many different labels; nothing if there is nothing to improve."""
    steps = f"steps={max(600, 3 * plan.steps)}"
    longer = either(steps, f"--set {steps}")
    if not dev.gold:
        yield "dev F1 is 0 because dev has no entities; check its format and field names"
    elif not dev.predicted:
        yield f"dev F1 is 0 because no entity was predicted in {plan.steps:,} steps; train longer: {longer}"
    elif not dev.correct:
        yield (
            f"dev F1 is 0 although {dev.predicted:,} entities were predicted: types or borders differ between train"
            " and dev; compare them with nestag stats and nestag doctor"
        )
    elif _still_rising([scoring.score.f1 for scoring in scorings]):
        yield f"dev F1 was still rising at the end; train longer: {longer}"
    if labels > plan.sentences:
        yield (
            f"there are more labels ({labels:,}) than sentences ({plan.sentences:,}), so most are seen once or never;"
            " annotate more sentences"
        )


def _still_rising(scores: Sequence[float]) -> bool:
    """Whether the last score is the best, and the last quarter gained much of it."""
    before = scores[: len(scores) - max(1, len(scores) // 4)]
    return bool(before) and scores[-1] == max(scores) and scores[-1] - max(before) >= RISING
