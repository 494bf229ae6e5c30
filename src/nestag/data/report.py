"""The report of changes and losses in reading and converting: all are counted, examples are listed on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nestag.data.sentence import Entity, Sentence
from nestag.errors import visible

MOST_LISTED = 1_000  # findings of one kind; all are counted


class Finding(NamedTuple):
    """One change or loss."""

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
        self.lost = 0  # annotations that did not become entities
        self.notes: list[str] = []  # on files as a whole: their format, and warnings

    def add(self, kind: str, place: str, what: str) -> None:
        """Count a finding, and keep it as an example."""
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

    def sentence(
        self, tokens: Sequence[str], entities: Sequence[Entity], id: str | None = None, place: str = ""
    ) -> Sentence:
        """Return a sentence, and count the entities that it merges because they were annotated more than once."""
        sentence = Sentence(tokens, entities, id)
        self.duplicates(entities, sentence, place)
        return sentence

    def duplicates(self, entities: Iterable[Entity], sentence: Sentence, place: str) -> None:
        """Count the entities that a sentence merged because they were annotated more than once."""
        counts = Counter(entities)
        if counts.total() == len(sentence.entities):
            return
        for entity, count in counts.items():
            for _ in range(count - 1):
                self.add("duplicate entity merged", place, describe(entity))

    def include(self, other: Report) -> None:
        """Add the findings of another report."""
        self.counts += other.counts
        self.findings += other.findings
        self.lost += other.lost
        self.notes += [note for note in other.notes if note not in self.notes]

    def rename(self, place: str, name: str) -> None:
        """Rename a place in all findings, such as a temporary folder."""
        self.findings = [finding._replace(place=finding.place.replace(place, name)) for finding in self.findings]

    def summary(self) -> list[str]:
        """Return the notes, and a line for each kind with its first example."""
        first = {finding.kind: finding for finding in reversed(self.findings)}
        kinds = (
            f"{count:,} {kind} ({': '.join(filter(None, first[kind][1:]))})"
            for kind, count in sorted(self.counts.items())
        )
        return [visible(line) for line in (*self.notes, *kinds)]


def place_of(source: str, sentence: Sentence, number: int) -> str:
    """Return a sentence's place for messages."""
    return f"{source}: sentence {number}" if sentence.id is None else f"{source}: sentence {number} ({sentence.id})"


def describe(entity: Entity) -> str:
    """Return an entity as short text.

    >>> describe(Entity(0, 2, "GPE"))
    '[0, 2) GPE'
    """
    return f"[{entity.start}, {entity.end}) {entity.type}"
