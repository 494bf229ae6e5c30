"""Label coverage: how many labels a training split teaches, and what the other splits need beyond them.

This is the paper's table 1 for every encoding, counted twice: with types over the same tokens in the order they were
annotated in (as the paper counts), and in the order that a vocabulary learns (as training uses them).

    labels    distinct n, c and u in the training split, including the empty u
    missing   distinct n, c and u of the other splits that the training split lacks
    covered   percentage of a split's labels whose n, c and u are all in the training split
    recall    percentage of a split's entities that decoding can still find if every c and u that the training split
              lacks is replaced by the best one that it has

Decoding gives each span one chain of types: the u of its token, or the c of its node. So of the entities of a span,
those in the best chain can still be found. All n count as available, so the recall is an upper bound. Crossing entities
have no labels: they are dropped first, counted, and not part of the recall.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nestag.data.crossing import drop_crossing
from nestag.data.sentence import Sentence
from nestag.data.tree import Tree
from nestag.encodings import available
from nestag.encodings.base import Absolute, Encoding, Label
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError
from nestag.formats.corpus import CorpusSource, reread, splits_of
from nestag.inspect.statistics import TRAIN, count_same_span
from nestag.inspect.table_forms import Tabular
from nestag.inspect.tables import Percent, Row, Section, Table, percentage

ENCODINGS = ("abs", "rel", "dyn", "4tg")
WAYS = {True: "same-span types as annotated", False: "same-span types in the learned order"}
Order = tuple[str, ...] | None
"""The order of types over the same tokens; None is the order they were annotated in."""


class Sizes(NamedTuple):
    """The number of each part of labels."""

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
    absolute_labels: float | None  # percentage of all labels that write n absolutely; None if the encoding never does
    absolute_sentences: float | None  # percentage of all sentences with such labels


@dataclass(frozen=True, repr=False)
class Covered(Tabular):
    """The whole table, and what could not be counted in it."""

    rows: tuple[Coverage, ...]
    crossing: dict[str, int]  # entities of each split that were dropped because they cross others

    def table(self) -> Table:
        """Return the coverage, with both orders of types over the same tokens."""
        others = [split for split in self.crossing if split != TRAIN]
        return Table("Label coverage", coverage_columns(others), tuple(coverage_sections(self, others)))


def coverage_of(*files: CorpusSource) -> Covered:
    """Count the labels of a training split in each encoding, and those that other splits need beyond them."""
    splits = splits_of(files, None, None, None, reread)
    if TRAIN not in splits:
        raise InputError("no training split; name it with --train, or give a folder with a train file", "command line")
    return count_coverage(splits.pop(TRAIN), splits)


def count_coverage(train: Iterable[Sentence], others: Mapping[str, Iterable[Sentence]]) -> Covered:
    """Count the table; the training split is read twice, the others once."""
    order = Vocabulary.learn((nested for nested, _ in map(without_crossing, train)), "abs").order
    encodings = [available()[name] for name in ENCODINGS]
    counters = [(_LabelCounter(encoding, None), _LabelCounter(encoding, order)) for encoding in encodings]
    crossing = dict.fromkeys((TRAIN, *others), 0)
    for split, sentences in {TRAIN: train, **others}.items():
        for sentence, dropped in map(without_crossing, sentences):
            crossing[split] += dropped
            tree = Tree.from_entities(len(sentence), sentence.annotated, None)
            reordered = count_same_span(sentence.entities) > 0  # the order of types matters nowhere else
            learned = Tree.from_entities(len(sentence), sentence.annotated, order) if reordered else tree
            for as_annotated, as_learned in counters:
                labels = Counter(as_annotated.encoding.encode(tree))
                as_annotated.add(sentence, labels, split)
                as_learned.add(sentence, Counter(as_learned.encoding.encode(learned)) if reordered else labels, split)
    return Covered(tuple(pair[way].row() for way in (0, 1) for pair in counters), crossing)


def without_crossing(sentence: Sentence) -> tuple[Sentence, int]:
    """Return the sentence without as few crossing entities as possible, and how many were dropped."""
    dropped = set(drop_crossing(sentence.entities).dropped)
    if not dropped:
        return sentence, 0
    return sentence.with_entities(entity for entity in sentence.annotated if entity not in dropped), len(dropped)


class _LabelCounter:
    """Counts for one encoding and one order of same-span types; the training split comes first."""

    def __init__(self, encoding: Encoding, order: Order) -> None:
        self.encoding = encoding
        self.order = order
        self.seen: list[set[Any]] = [set(), set(), set()]  # the n, c and u of the training split
        self.needed: list[set[Any]] = [set(), set(), set()]  # those of the other splits
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)  # of each split
        self.best: dict[tuple[bool, frozenset[str]], int] = {}  # the most types of a span that one chain names

    def add(self, sentence: Sentence, labels: Counter[Label], split: str) -> None:
        """Count a sentence and its labels."""
        counts = self.counts[split]
        absolute = sum(count for label, count in labels.items() if isinstance(label.n, Absolute))
        counts["sentences"] += 1
        counts["labels"] += len(sentence)
        counts["absolute labels"] += absolute
        counts["absolute sentences"] += absolute > 0
        for label, count in labels.items():
            for part, value in zip(self.seen if split == TRAIN else self.needed, label, strict=True):
                part.add(value)
            if split != TRAIN and all(value in part for part, value in zip(self.seen, label, strict=True)):
                counts["covered"] += count
        if split != TRAIN:
            counts["entities"] += len(sentence.entities)
            counts["recoverable"] += self._recoverable(sentence)

    def _recoverable(self, sentence: Sentence) -> int:
        """Return how many entities seen chains can still name, each span by the best of them."""
        spans: dict[tuple[int, int], set[str]] = defaultdict(set)
        for start, end, kind in sentence.entities:
            spans[start, end].add(kind)
        recoverable = 0
        _, names, chains = self.seen
        for (start, end), types in spans.items():
            key = end - start == 1, frozenset(types)
            if key not in self.best:
                seen = chains if end - start == 1 else (name.entities for name in names)
                self.best[key] = max((len(types.intersection(chain)) for chain in seen), default=0)
            recoverable += self.best[key]
        return recoverable

    def row(self) -> Coverage:
        """Return the counts as a row of the table."""
        chooses = self.encoding.name == "dyn"
        counts = sum(self.counts.values(), Counter())
        return Coverage(
            self.encoding.name,
            self.order is None,
            Sizes(*map(len, self.seen)),
            Sizes(*(len(needed - seen) for needed, seen in zip(self.needed, self.seen, strict=True))),
            {
                split: Reach(
                    percentage(count["covered"], count["labels"]), percentage(count["recoverable"], count["entities"])
                )
                for split, count in self.counts.items()
                if split != TRAIN
            },
            percentage(counts["absolute labels"], counts["labels"]) if chooses else None,
            percentage(counts["absolute sentences"], counts["sentences"]) if chooses else None,
        )


def coverage_columns(others: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table of label coverage."""
    shares = [f"{name} %" for name in others] + [f"{name} recall %" for name in others]
    return ("encoding", "n", "c", "u", "new n", "new c", "new u", *shares, "absolute %", "absolute sentences %")


def coverage_sections(coverage: Covered, others: Sequence[str]) -> list[Section]:
    """Return the coverage of one corpus, a section for each order of same-span types."""
    return [
        Section(title, tuple(_coverage_row(row, others) for row in coverage.rows if row.annotated is annotated))
        for annotated, title in WAYS.items()
    ]


def _coverage_row(row: Coverage, others: Sequence[str]) -> Row:
    reaches = [row.reach.get(name) for name in others]
    shares = [reach and reach.covered for reach in reaches] + [reach and reach.recall for reach in reaches]
    cells = (
        None if share is None else Percent(share) for share in (*shares, row.absolute_labels, row.absolute_sentences)
    )
    return (row.encoding, *row.labels, *row.missing, *cells)
