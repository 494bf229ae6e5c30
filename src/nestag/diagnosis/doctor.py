"""The doctor: what would go wrong if a model were trained on these splits, in plain words, and what to do about it.

Errors are reasons not to start, warnings cost accuracy or honest scores, hints are worth a look. The rules are the
functions below; each looks at what symptoms.py noted and yields findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from nestag.arguments import either, named
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.diagnosis.statistics import TRAIN
from nestag.diagnosis.symptoms import (
    MOST_SHOWN,
    Example,
    LengthLimits,
    Measure,
    Noted,
    Symptoms,
    Usage,
    Wording,
    left_out,
    symptoms_of,
)


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Diagnosis(NamedTuple):
    """One finding."""

    severity: Severity
    split: str
    what: str
    remedy: str
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class DoctorLimits:
    """What counts as too few, too many or too long."""

    rare: int = 10  # examples of a type in the training split
    sentence: int = 512  # the longest sentence that the encoder takes
    entity: int = 30  # tokens of an entity beyond which it is probably a mistake
    minority: float = 0.2  # the share of a type's entities up to which an odd border is suspicious
    frequent: int = 10  # annotated occurrences of a mention before its other occurrences are compared
    disagreement: float = 0.1  # the share of its occurrences that must differ
    crossing: float = 0.1  # the share of entities that may cross
    leak: float = 0.5  # the share of a split that may stand in the training split


class Patient(NamedTuple):
    """A split to examine: its source, how to read it, and the report of its reader."""

    source: str
    read: Callable[[], Iterable[Sentence]]
    report: Report


def examine(patients: Mapping[str, Patient], limits: DoctorLimits, measure: Measure | None = None) -> list[Diagnosis]:
    """All findings, the worst first; the training split is read twice, the others once."""
    size = LengthLimits(limits.sentence, limits.entity, measure or len)
    noted: dict[str, Symptoms] = {}
    for name in sorted(patients, key=lambda name: name != TRAIN):
        patient = patients[name]
        known = noted[TRAIN].prints if TRAIN in noted else frozenset()
        noted[name] = symptoms_of(patient.read(), patient.source, size, known)
    found: list[Diagnosis] = []
    for name, split in noted.items():
        found += _judged(name, split, patients[name].report, limits, measure is not None)
    if TRAIN in noted:
        found += against_train(noted, limits)
        found += _inconsistent(patients[TRAIN], noted[TRAIN], limits)
    else:
        found.append(
            Diagnosis(Severity.ERROR, TRAIN, "there is no training split", f"name it {either('train', 'with --train')}")
        )
    return sorted(found, key=lambda finding: list(Severity).index(finding.severity))


def _judged(name: str, split: Symptoms, report: Report, limits: DoctorLimits, measured: bool) -> Iterator[Diagnosis]:
    yield from nothing_to_learn(name, split)
    yield from crossing(name, split, limits)
    yield from too_long(name, split, limits, measured)
    yield from empty_or_repeated(name, split)
    yield from odd_borders(name, split, limits)
    yield from changed_in_reading(name, report)


def nothing_to_learn(name: str, split: Symptoms) -> Iterator[Diagnosis]:
    """Splits without sentences, words or entities."""
    worst = Severity.ERROR if name == TRAIN else Severity.WARNING
    if not split.tokens:
        yield Diagnosis(
            worst, name, "the split has no words at all", f"check the path and the format ({named('format')})"
        )
        return
    if split.wordless:
        what = f"every word is {next(iter(split.words))!r}, so the text is missing"
        yield Diagnosis(worst, name, what, "get the text: a model learns from words")
    if not split.entities:
        remedy = f"check the format and its layer ({named('format')}, {named('field')}); " + (
            "a model cannot learn from this" if name == TRAIN else "no score can be computed on this"
        )
        yield Diagnosis(worst, name, "the split has no entities at all", remedy)


def crossing(name: str, split: Symptoms, limits: DoctorLimits) -> Iterator[Diagnosis]:
    """Crossing entities, which no tree can represent."""
    if split.tangled.count:
        yield Diagnosis(
            Severity.ERROR,
            name,
            f"{_have(split.tangled.count, 'sentence')} so many crossing entities that they cannot be untangled",
            "split these sentences, or correct their annotation",
            tuple(split.tangled.examples),
        )
    if split.crossing.count:
        many = split.crossing.count > limits.crossing * split.entities
        yield Diagnosis(
            Severity.ERROR if many else Severity.WARNING,
            name,
            f"{split.crossing.count:,} of {split.entities:,} entities cross others and cannot be encoded",
            "set them aside (nestag convert --crossing set-aside) or correct them; they count as missed in scores",
            tuple(split.crossing.examples),
        )


def too_long(name: str, split: Symptoms, limits: DoctorLimits, measured: bool) -> Iterator[Diagnosis]:
    """Sentences longer than the encoder reads, and entities that are suspiciously long."""
    if split.long.count:
        unit = "subwords, more than the encoder takes" if measured else "words, more than most encoders take"
        yield Diagnosis(
            Severity.WARNING,
            name,
            f"{split.long.count:,} of {split.sentences:,} sentences have over {limits.sentence:,} {unit}",
            "cut them into shorter ones, or take an encoder for longer texts",
            tuple(split.long.examples),
        )
    if split.long_entities.count:
        yield Diagnosis(
            Severity.HINT,
            name,
            f"entities with more than {limits.entity} tokens: {split.long_entities.count:,}",
            "see whether they are meant; a wrong end makes such entities",
            tuple(split.long_entities.examples),
        )


def empty_or_repeated(name: str, split: Symptoms) -> Iterator[Diagnosis]:
    """Sentences that teach nothing."""
    if split.empty.count:
        what = f"{_have(split.empty.count, 'sentence')} no words"
        yield Diagnosis(Severity.WARNING, name, what, "leave them out", tuple(split.empty.examples))
    if split.repeated.count and not split.wordless:
        yield Diagnosis(
            Severity.HINT,
            name,
            f"{split.repeated.count:,} of {split.sentences:,} sentences repeat earlier ones of the split",
            "leave repetitions out unless they are meant; they weigh more than others",
            tuple(split.repeated.examples),
        )


def odd_borders(name: str, split: Symptoms, limits: DoctorLimits) -> Iterator[Diagnosis]:
    """Entities whose borders differ from those of most others of their type."""
    by_oddity: dict[str, list[tuple[str, Noted]]] = {}
    for (kind, oddity), noted in sorted(split.edges.items()):
        if noted.count <= limits.minority * split.types[kind]:
            by_oddity.setdefault(oddity, []).append((kind, noted))
    for oddity, kinds in by_oddity.items():
        counts = _listed(f"{noted.count:,} of {split.types[kind]:,} {kind}" for kind, noted in kinds)
        yield Diagnosis(
            Severity.HINT,
            name,
            f"{sum(noted.count for _, noted in kinds):,} entities {oddity}, unlike most of their type: {counts}",
            "see whether these borders are meant, and annotate all entities of a type alike",
            tuple(example for _, noted in kinds for example in noted.examples)[:MOST_SHOWN],
        )


def changed_in_reading(name: str, report: Report) -> Iterator[Diagnosis]:
    """What the reader had to change."""
    for kind, count in sorted(report.counts.items()):
        examples = [Example(found.place, found.what) for found in report.findings if found.kind == kind]
        harmless = kind.startswith("duplicate")
        yield Diagnosis(
            Severity.HINT if harmless else Severity.WARNING,
            name,
            f"{count:,} times in reading: {kind}",
            "nothing has to be done" if harmless else "see whether this may be, or correct the file",
            tuple(examples[:MOST_SHOWN]),
        )


def against_train(noted: Mapping[str, Symptoms], limits: DoctorLimits) -> Iterator[Diagnosis]:
    """Problems that show only when splits are compared."""
    train = noted[TRAIN]
    yield from _rare_types(train, limits)
    for name, split in noted.items():
        if name != TRAIN:
            yield from _unknown_types(name, split, train)
            yield from _leaks(name, split, limits)


def _rare_types(train: Symptoms, limits: DoctorLimits) -> Iterator[Diagnosis]:
    rare = sorted((count, kind) for kind, count in train.types.items() if count < limits.rare)
    if rare:
        counts = _listed(f"{kind} {count}" for count, kind in rare)
        yield Diagnosis(
            Severity.WARNING,
            TRAIN,
            f"{_have(len(rare), 'type')} fewer than {limits.rare} examples: {counts}",
            "annotate more of them, or join them with other types; they will hardly be learned",
            tuple(train.first[kind] for _, kind in rare[:MOST_SHOWN]),
        )


def _unknown_types(name: str, split: Symptoms, train: Symptoms) -> Iterator[Diagnosis]:
    unknown = sorted(split.types.keys() - train.types.keys())
    if unknown:
        counts = _listed(f"{kind} {split.types[kind]:,}" for kind in unknown)
        yield Diagnosis(
            Severity.WARNING,
            name,
            f"the training split has no examples of {counts}",
            "add some to it, or check the spelling; every such entity will be missed",
            tuple(split.first[kind] for kind in unknown[:MOST_SHOWN]),
        )


def _leaks(name: str, split: Symptoms, limits: DoctorLimits) -> Iterator[Diagnosis]:
    if split.leaked.count and not split.wordless:
        share = split.leaked.count / split.sentences
        yield Diagnosis(
            Severity.ERROR if share > limits.leak else Severity.WARNING,
            name,
            f"{split.leaked.count:,} of {split.sentences:,} sentences ({100 * share:.1f} %) stand in the training split"
            " too, so scores will be too good",
            "take them out of one of the two splits (nestag split keeps documents whole)",
            tuple(split.leaked.examples),
        )


def _inconsistent(patient: Patient, train: Symptoms, limits: DoctorLimits) -> Iterator[Diagnosis]:
    """Mentions that are annotated inconsistently."""
    totals = {form: sum(usage.count for usage in usages.values()) for form, usages in train.forms.items()}
    frequent = {form: total for form, total in totals.items() if total >= limits.frequent}
    if not frequent or train.wordless:
        return
    yield from _of_two_minds({form: train.forms[form] for form in frequent}, limits)
    yield from _left_out(frequent, left_out(patient.read(), frequent, patient.source), limits)


def _of_two_minds(
    forms: Mapping[Wording, Mapping[tuple[str, ...], Usage]], limits: DoctorLimits
) -> Iterator[Diagnosis]:
    found: list[tuple[int, Example]] = []
    for form, usages in forms.items():
        ways = sorted(usages.items(), key=lambda way: (-way[1].count, way[0]))
        others = sum(usage.count for _, usage in ways[1:])
        if others >= limits.disagreement * (others + ways[0][1].count):
            counts = _listed(f"{'+'.join(types)} {usage.count}" for types, usage in ways)
            found.append((others, Example(ways[1][1].place, f"{' '.join(form)!r}: {counts}")))
    if found:
        yield Diagnosis(
            Severity.HINT,
            TRAIN,
            f"{len(found):,} frequent mentions have different types in different places",
            "see whether the context decides; if not, annotate them alike",
            _worst(found),
        )


def _left_out(
    frequent: Mapping[Wording, int], bare: Mapping[Wording, Noted], limits: DoctorLimits
) -> Iterator[Diagnosis]:
    found = [
        (noted.count, Example(noted.examples[0].place, f"{' '.join(form)!r}: {frequent[form]:,} times annotated,"
         f" {noted.count:,} times not, as in {noted.examples[0].text!r}"))
        for form, noted in bare.items()
        if noted.count >= limits.disagreement * (noted.count + frequent[form])
    ]  # fmt: skip
    if found:
        yield Diagnosis(
            Severity.HINT,
            TRAIN,
            f"{len(found):,} frequent mentions are in some places not annotated at all",
            "see whether they were forgotten; a model cannot tell such places from the others",
            _worst(found),
        )


def _worst(found: Iterable[tuple[int, Example]]) -> tuple[Example, ...]:
    """The examples that occur most."""
    ranked = sorted(found, key=lambda item: (-item[0], item[1]))
    return tuple(example for _, example in ranked[:MOST_SHOWN])


def _listed(names: Iterable[str], most: int = 10) -> str:
    """Names with commas between, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _have(count: int, noun: str) -> str:
    return f"1 {noun} has" if count == 1 else f"{count:,} {noun}s have"
