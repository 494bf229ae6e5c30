"""Label coverage: how many labels a training split teaches, and what the other splits need beyond them.

This is the paper's table 1 for every encoding, counted twice: with types over the same tokens in the order they were
annotated in (as the paper counts), and in the order that a vocabulary learns (as training uses them).

    labels    distinct n, c and u in the training split, including the empty u
    missing   distinct n, c and u of the other splits that the training split lacks
    covered   percentage of a split's labels whose n, c and u are all in the training split
    recall    percentage of a split's entities that decoding can still find if every c and u that the training split
              lacks is replaced by the best one that it has

Decoding gives each span one chain of types: the u of its token, or the c of its node, which may be any c of the
training split but a helper's. So the entities of a span that can still be found are those that it shares with the best
chain, whatever other types that chain adds. All n count as available, so the recall is an upper bound.

Crossing entities have no labels. They are dropped first, counted, and not part of the recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nestag.data.crossing import drop_crossing
from nestag.data.sentence import Sentence
from nestag.data.tree import Tree
from nestag.encodings import available
from nestag.encodings.base import Absolute, Encoding, Label
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, either
from nestag.formats.corpus import CorpusSource, reread, splits_of
from nestag.inspect.statistics import TRAIN, count_same_span
from nestag.inspect.tables import Percent, Row, Section, Table, percentage

ENCODINGS = ("abs", "rel", "dyn", "4tg")
WAYS = {True: "same-span types as annotated", False: "same-span types in the learned order"}
Types = frozenset[str]
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


@dataclass(frozen=True)
class Covered:
    """The whole table, and what could not be counted in it."""

    rows: tuple[Coverage, ...]
    crossing: dict[str, int]  # entities of each split that were dropped because they cross others


def coverage(
    *files: CorpusSource,
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
) -> Covered:
    """Count the labels of a training split in each encoding, and those that other splits need beyond them.

    Give paths, a folder with train, dev and test, or sentences.
    """
    splits = splits_of(files, train, dev, test, reread)
    if TRAIN not in splits:
        name_it = either("give train=...", "name it with --train")
        place = either("arguments", "command line")
        raise InputError(f"no training split; {name_it}, or give a folder with a train file", place)
    return count_coverage(splits.pop(TRAIN), splits)


def count_coverage(train: Iterable[Sentence], others: Mapping[str, Iterable[Sentence]]) -> Covered:
    """Count the table; the training split is read twice, the others once."""
    order = Vocabulary.learn((nested for nested, _ in map(nesting, train)), "abs").order
    ledgers = [
        _CoverageLedger(encoding, way) for way in (None, order) for encoding in map(available().__getitem__, ENCODINGS)
    ]
    crossing: Counter[str] = Counter()
    for split, sentences in {TRAIN: train, **others}.items():
        for sentence, dropped in map(nesting, sentences):
            crossing[split] += dropped
            for ledger, labels in zip(ledgers, _labels(sentence, ledgers), strict=True):
                ledger.add(sentence, labels, split)
    return Covered(tuple(ledger.row() for ledger in ledgers), {split: crossing[split] for split in (TRAIN, *others)})


def nesting(sentence: Sentence) -> tuple[Sentence, int]:
    """Return the sentence without as few crossing entities as possible, and how many were dropped."""
    dropped = set(drop_crossing(sentence.entities).dropped)
    if not dropped:
        return sentence, 0
    return sentence.with_entities(entity for entity in sentence.annotated if entity not in dropped), len(dropped)


def _labels(sentence: Sentence, ledgers: Iterable[_CoverageLedger]) -> Iterable[Counter[Label]]:
    """Yield the labels for each ledger; their orders matter only where entities share a span."""
    one_order = count_same_span(sentence.entities) == 0
    known: dict[tuple[str, Order], Counter[Label]] = {}
    for ledger in ledgers:
        order = None if one_order else ledger.order
        key = ledger.encoding.name, order
        if key not in known:
            tree = Tree.from_entities(len(sentence), sentence.annotated, order)
            known[key] = Counter(ledger.encoding.encode(tree))
        yield known[key]


@dataclass
class _SplitCounts:
    """The counts of one split in a ledger."""

    sentences: int = 0
    labels: int = 0
    absolute: int = 0
    absolute_sentences: int = 0
    covered: int = 0
    entities: int = 0
    recoverable: int = 0


class _CoverageLedger:
    """Counts for one encoding and one order of same-span types; the training split comes first."""

    def __init__(self, encoding: Encoding, order: Order) -> None:
        self.encoding = encoding
        self.order = order
        self.seen: list[set[Any]] = [set(), set(), set()]  # the n, c and u of the training split
        self.needed: list[set[Any]] = [set(), set(), set()]  # those of the other splits
        self.counts: dict[str, _SplitCounts] = {}
        self.best: dict[tuple[bool, Types], int] = {}

    def add(self, sentence: Sentence, labels: Counter[Label], split: str) -> None:
        """Count a sentence and its labels."""
        counts = self.counts.setdefault(split, _SplitCounts())
        absolute = sum(count for label, count in labels.items() if isinstance(label.n, Absolute))
        counts.sentences += 1
        counts.labels += len(sentence)
        counts.absolute += absolute
        counts.absolute_sentences += absolute > 0
        for label, count in labels.items():
            for part, value in zip(self.seen if split == TRAIN else self.needed, label, strict=True):
                part.add(value)
            if split != TRAIN and all(value in part for part, value in zip(self.seen, label, strict=True)):
                counts.covered += count
        if split != TRAIN:
            counts.entities += len(sentence.entities)
            counts.recoverable += self._recoverable(sentence)

    def _recoverable(self, sentence: Sentence) -> int:
        """Return how many entities seen chains can still name, each span by the best of them."""
        types: dict[tuple[int, int], set[str]] = {}
        for start, end, kind in sentence.entities:
            types.setdefault((start, end), set()).add(kind)
        return sum(self._best_chain(end - start == 1, frozenset(chain)) for (start, end), chain in types.items())

    def _best_chain(self, is_token: bool, types: Types) -> int:
        """Return the most types of a span that a single seen chain names."""
        if (is_token, types) not in self.best:
            _, names, chains = self.seen
            seen = chains if is_token else (name.entities for name in names)
            self.best[is_token, types] = max((len(types.intersection(chain)) for chain in seen), default=0)
        return self.best[is_token, types]

    def row(self) -> Coverage:
        """Return the counts as a row of the table."""
        counts = self.counts.values()
        chooses = self.encoding.name == "dyn"
        labels, sentences = sum(one.labels for one in counts), sum(one.sentences for one in counts)
        return Coverage(
            self.encoding.name,
            self.order is None,
            Sizes(*map(len, self.seen)),
            Sizes(*(len(needed - seen) for needed, seen in zip(self.needed, self.seen, strict=True))),
            {
                split: Reach(percentage(one.covered, one.labels), percentage(one.recoverable, one.entities))
                for split, one in self.counts.items()
                if split != TRAIN
            },
            percentage(sum(one.absolute for one in counts), labels) if chooses else None,
            percentage(sum(one.absolute_sentences for one in counts), sentences) if chooses else None,
        )


def coverage_table(coverage: Covered, others: Sequence[str]) -> Table:
    """Return the table of one corpus, with both orders of types over the same tokens."""
    return Table("Label coverage", coverage_columns(others), tuple(coverage_sections(coverage, others)))


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
