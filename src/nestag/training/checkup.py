"""doctor: what would go wrong if a model were trained on a corpus, and about how long training would take.

The rules are those of `inspect/doctor.py`. If an encoder is given, its tokenizer counts the length of sentences.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nestag.errors import InputError, MissingExtraError, named
from nestag.formats.corpus import CorpusSource, report_of, reread, splits_of
from nestag.inspect.doctor import Diagnosis, DoctorLimits, Severity, examine
from nestag.inspect.symptoms import Measure
from nestag.training.plan import TrainingPlan, rough_plan
from nestag.training.recipe import load_recipe

UNBOUNDED = 10**6
"""Tokenizers without a limit report a much larger number."""


@dataclass(frozen=True)
class Checkup:
    """What the doctor found."""

    findings: tuple[Diagnosis, ...]  # the worst first
    notes: tuple[str, ...]  # about the files: the formats they were taken for, and warnings
    plan: TrainingPlan | None  # about what training with `default` will be; None without a training split

    def count(self, severity: Severity) -> int:
        """How many findings are of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def can_train(self) -> bool:
        """Whether there is no error."""
        return not self.count(Severity.ERROR)


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

    With the folder of an encoder, sentences are counted in its subwords; `max_length` is the longest sentence (default:
    the encoder's maximum, or 512). Types with fewer than `rare` examples are reported.
    """
    splits = splits_of(files, train, dev, test, reread)
    measure, limit = subwords_of(encoder) if encoder else (None, DoctorLimits.sentence)
    found = examine(splits, DoctorLimits(rare=rare, sentence=max_length or limit), measure)
    notes = tuple(note for corpus in splits.values() for note in report_of(corpus).notes)
    plan = rough_plan(load_recipe("default"), found.sentences, found.words) if found.words else None
    return Checkup(found.findings, notes, plan)


def subwords_of(path: str) -> tuple[Measure, int]:
    """How the encoder in a folder counts a sentence, special tokens included, and its maximum."""
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

    return measure, longest if longest < UNBOUNDED else _positions_of(path)


def _positions_of(path: str) -> int:
    """How many positions an encoder's configuration says it has, else the usual number."""
    try:
        found = json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"]
        return int(found)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return DoctorLimits.sentence
