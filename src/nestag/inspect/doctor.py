"""The doctor: problems of training on a corpus, and what to do about them.

Errors are reasons not to start, warnings cost accuracy or honest scores, hints are worth a look. Each rule is a
function that takes what symptoms.py counted and yields findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import Sentence
from nestag.errors import either, named
from nestag.formats.corpus import path_of, report_of
from nestag.inspect.statistics import TRAIN
from nestag.inspect.symptoms import EXAMPLES, DoctorLimits, Example, Occurrences, Symptoms, find_missed, symptoms_of


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


ERROR, WARNING, HINT = Severity


class Diagnosis(NamedTuple):
    """One finding."""

    severity: Severity
    split: str
    what: str
    remedy: str
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Examination:
    """The findings, the worst first, and the size of the training split."""

    findings: tuple[Diagnosis, ...]
    sentences: int
    words: int


def examine(splits: Mapping[str, Iterable[Sentence]], limits: DoctorLimits) -> Examination:
    """Examine splits; the training split is read twice, the others once."""
    symptoms: dict[str, Symptoms] = {}
    for name in sorted(splits, key=lambda name: name != TRAIN):
        known = symptoms[TRAIN].prints if TRAIN in symptoms else frozenset()
        symptoms[name] = symptoms_of(splits[name], path_of(splits[name], name), limits, known)
    findings: list[Diagnosis] = []
    for name, split in symptoms.items():
        for rule in (nothing_to_learn, crossing, odd_sentences, odd_borders):
            findings += rule(name, split)
        findings += changed_in_reading(name, report_of(splits[name]))
    if TRAIN in symptoms:
        findings += against_train(symptoms)
        findings += inconsistent(splits[TRAIN], symptoms[TRAIN])
    else:
        remedy = f"name it {either('train', 'with --train')}"
        findings.append(Diagnosis(ERROR, TRAIN, "there is no training split", remedy))
    findings.sort(key=lambda finding: list(Severity).index(finding.severity))
    train = symptoms.get(TRAIN, Symptoms())
    return Examination(tuple(findings), train.sentences, train.tokens)


def _if_any(seen: Occurrences, severity: Severity, split: str, what: str, remedy: str) -> Iterator[Diagnosis]:
    """Yield a finding with its examples, if something was seen."""
    if seen.count:
        yield Diagnosis(severity, split, what, remedy, tuple(seen.examples))


def nothing_to_learn(name: str, split: Symptoms) -> Iterator[Diagnosis]:
    """Find splits without sentences, words or entities."""
    worst = ERROR if name == TRAIN else WARNING
    if not split.tokens:
        remedy = f"check the path and the format ({named('format')})"
        yield Diagnosis(worst, name, "the split has no words at all", remedy)
        return
    if split.wordless:
        what = f"every word is {next(iter(split.words))!r}, so the text is missing"
        yield Diagnosis(worst, name, what, "get the text: a model learns from words")
    if not split.entities:
        reason = "a model cannot learn from this" if name == TRAIN else "no score can be computed on this"
        remedy = f"check the format and its layer ({named('format')}, {named('field')}); {reason}"
        yield Diagnosis(worst, name, "the split has no entities at all", remedy)


def crossing(name: str, split: Symptoms) -> Iterator[Diagnosis]:
    """Find crossing entities, which no tree can represent."""
    what = f"{_have(split.tangled.count, 'sentence')} too many crossing entities to drop as few as possible"
    yield from _if_any(split.tangled, ERROR, name, what, "split these sentences, or correct their annotation")
    severity = ERROR if split.crossing.count > split.limits.crossing * split.entities else WARNING
    what = f"{split.crossing.count:,} of {split.entities:,} entities cross others and cannot be encoded"
    remedy = "drop them (nestag convert --crossing drop) or correct them; they count as missed in scores"
    yield from _if_any(split.crossing, severity, name, what, remedy)


def odd_sentences(name: str, split: Symptoms) -> Iterator[Diagnosis]:
    """Find sentences and entities that are too long, and sentences that teach nothing."""
    unit = "subwords, more than the encoder takes" if split.limits.measure else "words, more than most encoders take"
    what = f"{split.long.count:,} of {split.sentences:,} sentences have over {split.limits.sentence:,} {unit}"
    yield from _if_any(split.long, WARNING, name, what, "split them, or take an encoder for longer texts")
    what = f"entities with more than {split.limits.entity} tokens: {split.long_entities.count:,}"
    yield from _if_any(split.long_entities, HINT, name, what, "check whether they are meant; a wrong end is likely")
    what = f"{_have(split.empty.count, 'sentence')} no words"
    yield from _if_any(split.empty, WARNING, name, what, "remove them")
    if not split.wordless:
        what = f"{split.repeated.count:,} of {split.sentences:,} sentences repeat earlier ones of the split"
        remedy = "remove repetitions unless they are meant; they weigh more than others"
        yield from _if_any(split.repeated, HINT, name, what, remedy)


def odd_borders(name: str, split: Symptoms) -> Iterator[Diagnosis]:
    """Find entities whose borders differ from those of most others of their type."""
    by_oddity: dict[str, dict[str, Occurrences]] = defaultdict(dict)
    for (kind, oddity), seen in sorted(split.edges.items()):
        if seen.count <= split.limits.minority * split.types[kind]:
            by_oddity[oddity][kind] = seen
    for oddity, kinds in by_oddity.items():
        counts = _listed(f"{seen.count:,} of {split.types[kind]:,} {kind}" for kind, seen in kinds.items())
        total = sum(seen.count for seen in kinds.values())
        examples = [example for seen in kinds.values() for example in seen.examples]
        what = f"{total:,} entities {oddity}, unlike most of their type: {counts}"
        remedy = "check whether these borders are meant, and annotate all entities of a type alike"
        yield Diagnosis(HINT, name, what, remedy, tuple(examples[:EXAMPLES]))


def changed_in_reading(name: str, report: Report) -> Iterator[Diagnosis]:
    """Find what the reader had to change."""
    for kind, count in sorted(report.counts.items()):
        examples = [Example(place, what) for known, place, what in report.findings if known == kind]
        harmless = kind.startswith("duplicate")
        remedy = "no action needed" if harmless else "check whether this is right, or correct the file"
        what = f"{count:,} times in reading: {kind}"
        yield Diagnosis(HINT if harmless else WARNING, name, what, remedy, tuple(examples[:EXAMPLES]))


def against_train(symptoms: Mapping[str, Symptoms]) -> Iterator[Diagnosis]:
    """Find rare types, and problems that show only when splits are compared."""
    train = symptoms[TRAIN]
    rare = sorted((count, kind) for kind, count in train.types.items() if count < train.limits.rare)
    if rare:
        counts = _listed(f"{kind} {count}" for count, kind in rare)
        what = f"{_have(len(rare), 'type')} fewer than {train.limits.rare} examples: {counts}"
        remedy = "annotate more of them, or join them with other types; they will hardly be learned"
        yield Diagnosis(WARNING, TRAIN, what, remedy, tuple(train.first[kind] for _, kind in rare[:EXAMPLES]))
    for name, split in symptoms.items():
        if name == TRAIN:
            continue
        unknown = sorted(split.types.keys() - train.types.keys())
        if unknown:
            what = f"the training split has no examples of {_listed(f'{k} {split.types[k]:,}' for k in unknown)}"
            remedy = "add some to it, or check the spelling; every such entity will be missed"
            yield Diagnosis(WARNING, name, what, remedy, tuple(split.first[kind] for kind in unknown[:EXAMPLES]))
        if split.leaked.count and not split.wordless:
            share = split.leaked.count / split.sentences
            count = f"{split.leaked.count:,} of {split.sentences:,} sentences ({100 * share:.1f}%)"
            what = f"{count} are in the training split too, so scores will be too good"
            remedy = "remove them from one of the two splits (nestag split keeps documents whole)"
            severity = ERROR if share > train.limits.leak else WARNING
            yield from _if_any(split.leaked, severity, name, what, remedy)


def inconsistent(corpus: Iterable[Sentence], train: Symptoms) -> Iterator[Diagnosis]:
    """Find frequent mentions that have different types in different places, or none in some."""
    totals = {form: sum(usage.count for usage in usages.values()) for form, usages in train.forms.items()}
    frequent = {form: total for form, total in totals.items() if total >= train.limits.frequent}
    if not frequent or train.wordless:
        return
    ambiguous: list[tuple[int, Example]] = []
    for form, total in frequent.items():
        (_, most), *others = usages = sorted(train.forms[form].items(), key=lambda way: (-way[1].count, way[0]))
        if others and total - most.count >= train.limits.disagreement * total:
            counts = _listed(f"{'+'.join(types)} {usage.count}" for types, usage in usages)
            place = others[0][1].examples[0].place
            ambiguous.append((total - most.count, Example(place, f"{' '.join(form)!r}: {counts}")))
    what = "frequent mentions have different types in different places"
    yield from _worst(ambiguous, what, "check whether the context decides; if not, annotate them alike")
    forgotten: list[tuple[int, Example]] = []
    for form, seen in find_missed(corpus, frequent, path_of(corpus, TRAIN)).items():
        if seen.count >= train.limits.disagreement * (seen.count + frequent[form]):
            place, text = seen.examples[0]
            counts = f"{frequent[form]:,} times annotated, {seen.count:,} times not, as in {text!r}"
            forgotten.append((seen.count, Example(place, f"{' '.join(form)!r}: {counts}")))
    what = "frequent mentions are in some places not annotated at all"
    remedy = "check whether they were forgotten; a model cannot tell such places from the others"
    yield from _worst(forgotten, what, remedy)


def _worst(mentions: list[tuple[int, Example]], what: str, remedy: str) -> Iterator[Diagnosis]:
    """Yield a finding with the examples that occur most, if there are any."""
    if mentions:
        ranked = sorted(mentions, key=lambda item: (-item[0], item[1]))
        examples = tuple(example for _, example in ranked[:EXAMPLES])
        yield Diagnosis(HINT, TRAIN, f"{len(mentions):,} {what}", remedy, examples)


def _listed(names: Iterable[str], most: int = 10) -> str:
    """Return names with commas between, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _have(count: int, noun: str) -> str:
    return f"1 {noun} has" if count == 1 else f"{count:,} {noun}s have"
