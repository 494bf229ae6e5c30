"""Label coverage: how many labels a training split teaches, and what the other splits need beyond them.

This is the paper's table 1, for every encoding, counted twice: with types over the same tokens in the order they were
annotated in (as the paper counts), and in the order that a vocabulary learns (as training uses them).

    labels    distinct n, c and u in the training split; the empty u counts
    missing   distinct n, c and u that the other splits have and the training split lacks
    covered   percentage of a split's labels whose n, c and u the training split all has
    recall    percentage of a split's entities that decoding can still find if every c and u that the training split
              lacks is replaced by the best one that it has

Decoding gives each span one chain of types: the u of its token, or the c of its node, and that c may be any that no
helper has, for the whole sentence too. So the entities over a span that can still be found are as many as the best seen
chain shares with it, whatever other types that chain adds. The n are taken as free, so no decoder finds more than this;
where it would need an n that the training split lacks, it finds less.

Crossing entities have no labels; they are set aside first, counted, and left out of recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nestag.data.crossing import set_aside_crossing
from nestag.data.sentence import Sentence
from nestag.data.tree import Name, Tree
from nestag.encodings import available
from nestag.encodings.base import Absolute, Encoding, Label
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, either
from nestag.formats.corpus import CorpusSource, reread, splits_of
from nestag.inspect.statistics import TRAIN, count_same_span, percentage

ENCODINGS = ("abs", "rel", "dyn", "4tg")
Types = frozenset[str]
Order = tuple[str, ...] | None
"""Of types over the same tokens; None is as annotated."""


class Sizes(NamedTuple):
    """How many there are of each part of a label."""

    n: int
    c: int
    u: int


class Reach(NamedTuple):
    """How far the training split's labels reach in another split, in percent."""

    covered: float | None
    recall: float | None


@dataclass(frozen=True)
class Coverage:
    """A row of the table."""

    encoding: str
    annotated: bool  # whether types over the same tokens are as annotated, and not as a vocabulary orders them
    labels: Sizes
    missing: Sizes
    reach: dict[str, Reach]
    absolute_labels: float | None
    """Percentage of the labels of all splits that write n absolutely; None where the encoding has no choice."""
    absolute_sentences: float | None


@dataclass(frozen=True)
class Covered:
    """The whole table, and what could not be counted in it."""

    rows: tuple[Coverage, ...]
    crossing: dict[str, int]  # entities of each split that were set aside because they cross others


def coverage(
    *files: CorpusSource,
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
) -> Covered:
    """Count the labels of a training split in each encoding, and those that other splits need beyond them.

    A file is a path, a folder with train, dev and test in it, or sentences.
    """
    splits = splits_of(files, train, dev, test, reread)
    if TRAIN not in splits:
        name_it = either("give train=...", "name it with --train")
        place = either("arguments", "command line")
        raise InputError(f"no training split; {name_it}, or give a folder with a train file", place)
    teacher = splits.pop(TRAIN)
    return count_coverage(teacher, splits)


def count_coverage(train: Iterable[Sentence], others: Mapping[str, Iterable[Sentence]]) -> Covered:
    """The table; the training split is read twice, the others once."""
    order = Vocabulary.learn((nested for nested, _ in map(nesting, train)), "abs").order
    books = {way: [_CoverageLedger(available()[name], way) for name in ENCODINGS] for way in (None, order)}
    crossing: dict[str, int] = {}
    for name, sentences in {TRAIN: train, **others}.items():
        crossing[name] = 0
        for sentence, aside in map(nesting, sentences):
            crossing[name] += aside
            _see(sentence, name, books)
    return Covered(tuple(ledger.row() for ledgers in books.values() for ledger in ledgers), crossing)


def nesting(sentence: Sentence) -> tuple[Sentence, int]:
    """The sentence with as few crossing entities removed as possible, and how many were."""
    aside = set(set_aside_crossing(sentence.entities).set_aside)
    if not aside:
        return sentence, 0
    return sentence.with_entities(entity for entity in sentence.annotated if entity not in aside), len(aside)


def _see(sentence: Sentence, split: str, books: Mapping[Order, Iterable[_CoverageLedger]]) -> None:
    """Count a sentence in every ledger; their orders differ only where entities share a span."""
    one_order = count_same_span(sentence.entities) == 0
    labels: dict[str, Counter[Label]] = {}
    for order, ledgers in books.items():
        tree = None if labels and one_order else Tree.from_entities(len(sentence), sentence.annotated, order)
        for ledger in ledgers:
            if tree:
                labels[ledger.encoding.name] = Counter(ledger.encoding.encode(tree))
            ledger.see(sentence, labels[ledger.encoding.name], split)


@dataclass
class _CoverageCounts:
    """What a ledger counts in one split."""

    sentences: int = 0
    labels: int = 0
    absolute: int = 0
    absolute_sentences: int = 0
    covered: int = 0
    entities: int = 0
    found: int = 0


@dataclass
class _Parts:
    """Distinct parts of labels."""

    n: set[object] = field(default_factory=set)
    c: set[Name] = field(default_factory=set)
    u: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, label: Label) -> None:
        """Add the parts of a label."""
        self.n.add(label.n)
        self.c.add(label.c)
        self.u.add(label.u)

    def has(self, label: Label) -> bool:
        """Whether every part of a label is there."""
        return label.n in self.n and label.c in self.c and label.u in self.u

    def sizes(self, known: _Parts) -> Sizes:
        """How many parts there are that are not known."""
        return Sizes(len(self.n - known.n), len(self.c - known.c), len(self.u - known.u))


class _CoverageLedger:
    """Counts for one encoding and one order of same-span types; the training split comes first."""

    def __init__(self, encoding: Encoding, order: Order) -> None:
        self.encoding = encoding
        self.order = order
        self.seen = _Parts()
        self.needed = _Parts()
        self.tallies: dict[str, _CoverageCounts] = {}
        self.covered: dict[tuple[bool, Types], int] = {}

    def see(self, sentence: Sentence, labels: Counter[Label], split: str) -> None:
        """Count a sentence and its labels."""
        tally = self.tallies.setdefault(split, _CoverageCounts())
        absolute = sum(count for label, count in labels.items() if isinstance(label.n, Absolute))
        tally.sentences += 1
        tally.labels += len(sentence)
        tally.absolute += absolute
        tally.absolute_sentences += absolute > 0
        parts = self.seen if split == TRAIN else self.needed
        for label in labels:
            parts.add(label)
        if split != TRAIN:
            tally.covered += sum(count for label, count in labels.items() if self.seen.has(label))
            tally.entities += len(sentence.entities)
            tally.found += self._recoverable(sentence)

    def _recoverable(self, sentence: Sentence) -> int:
        """How many entities seen chains can still name, each span by the best of them."""
        types: dict[tuple[int, int], set[str]] = {}
        for start, end, kind in sentence.entities:
            types.setdefault((start, end), set()).add(kind)
        return sum(self._most_covered(end - start == 1, frozenset(chain)) for (start, end), chain in types.items())

    def _most_covered(self, token: bool, types: Types) -> int:
        """The most types of one span, a token or more, that a single seen chain names."""
        if (token, types) not in self.covered:
            names = (name.types for name in self.seen.c if not name.prime)
            chains = self.seen.u if token else names
            self.covered[token, types] = max((len(types.intersection(chain)) for chain in chains), default=0)
        return self.covered[token, types]

    def row(self) -> Coverage:
        """The counts as a row of the table."""
        tallies = self.tallies.values()
        chooses = self.encoding.name == "dyn"
        labels, sentences = sum(t.labels for t in tallies), sum(t.sentences for t in tallies)
        return Coverage(
            self.encoding.name,
            self.order is None,
            self.seen.sizes(_Parts()),
            self.needed.sizes(self.seen),
            {
                name: Reach(percentage(t.covered, t.labels), percentage(t.found, t.entities))
                for name, t in self.tallies.items()
                if name != TRAIN
            },
            percentage(sum(t.absolute for t in tallies), labels) if chooses else None,
            percentage(sum(t.absolute_sentences for t in tallies), sentences) if chooses else None,
        )
