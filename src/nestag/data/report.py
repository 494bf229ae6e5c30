"""What reading or converting could not keep as it was: counted always, listed on request, never silent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from nestag.data.sentence import Entity, Sentence
from nestag.errors import visible

MOST_LISTED = 1_000
"""Findings of one kind that are kept to be listed; all are counted."""


class Finding(NamedTuple):
    """One thing that was not kept as it was."""

    kind: str
    place: str
    what: str


class Report:
    """Findings by kind.

    >>> report = Report()
    >>> report.add("duplicate entity merged", "a.jsonl:3", "[0, 2) GPE")
    >>> report.summary()
    ['1 duplicate entity merged (a.jsonl:3: [0, 2) GPE)']
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.findings: list[Finding] = []
        self.lost = 0
        """Annotations that did not become entities."""
        self.notes: list[str] = []
        """What was decided about a file as a whole: the format it was taken for, and warnings."""

    def add(self, kind: str, place: str, what: str) -> None:
        """Count a finding, and keep it to be listed."""
        self.counts[kind] += 1
        if self.counts[kind] <= MOST_LISTED:
            self.findings.append(Finding(kind, place, what))

    def lose(self, kind: str, place: str, what: str) -> None:
        """Count an annotation that could not be read as an entity."""
        self.lost += 1
        self.add(kind, place, what)

    def note(self, text: str) -> None:
        """Keep a remark about a whole file, once."""
        if text not in self.notes:
            self.notes.append(text)

    def duplicates(self, given: Iterable[Entity], sentence: Sentence, place: str) -> None:
        """Count the entities that a sentence merged because they were given more than once."""
        counts = Counter(given)
        if counts.total() == len(sentence.entities):
            return
        for entity, count in counts.items():
            for _ in range(count - 1):
                self.add("duplicate entity merged", place, describe(entity))

    def include(self, other: Report) -> None:
        """Add what another report has."""
        self.counts += other.counts
        self.findings += other.findings
        self.lost += other.lost
        self.notes += [note for note in other.notes if note not in self.notes]

    def rename(self, place: str, name: str) -> None:
        """Name a place otherwise in all findings, as when a file was written elsewhere first."""
        self.findings = [found._replace(place=found.place.replace(place, name)) for found in self.findings]

    def total(self, beginning: str) -> int:
        """How many findings there are whose kind begins so."""
        return sum(count for kind, count in self.counts.items() if kind.startswith(beginning))

    def summary(self) -> list[str]:
        """The notes, and a line for each kind with its first example."""
        first = {finding.kind: finding for finding in reversed(self.findings)}
        kinds = (
            f"{count:,} {kind} ({': '.join(filter(None, first[kind][1:]))})"
            for kind, count in sorted(self.counts.items())
        )
        return [visible(line) for line in (*self.notes, *kinds)]


def describe(entity: Entity) -> str:
    """An entity in few characters.

    >>> describe(Entity(0, 2, "GPE"))
    '[0, 2) GPE'
    """
    return f"[{entity.start}, {entity.end}) {entity.type}"
