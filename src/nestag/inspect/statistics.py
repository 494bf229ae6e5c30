"""Corpus statistics: the figures of the paper's table of datasets, counted in one pass over a corpus.

Depth follows the paper and counts from 0. The entities of a sentence are visited from the outside in, and each lies one
deeper than the deepest of those that contain it or have its span; those not visited yet count as 0:

    Lincoln was president of the USA    0  nothing contains it
    ─ PER ─     ─────── PER ────────    0  nothing contains it
                             ─ GPE ─    1  in PER

    the USA     1  GPE: ORG, not visited yet, has the same span
    ─ GPE ─     2  ORG: it has the span of GPE, which is at 1
    ─ ORG ─

So entities over the same tokens are in each other, and none of them is at 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean, median, pstdev

from nestag.data.crossing import count_crossing
from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence, outermost_first
from nestag.formats.corpus import CorpusSource, report_of, splits_of
from nestag.inspect.table_forms import Tabular
from nestag.inspect.tables import Percent, Row, Section, Table, percentage

TRAIN = "train"  # the name of the split that the others are compared with
SPANS = ((1, 1), (2, 4), (5, 9), (10, None))  # the paper's groups of entities by their tokens, from and to
ALL = "all"
AT_DEPTH = "% of entities at depth"
OF_LENGTH = "% of entities of length"
DEPTH_NOTE = "Depth counts from 0: an entity at depth 0 is in no other entity, at depth 1 in one other."


@dataclass
class Statistics:
    """Counts of a split; supports `+`.

    >>> one = describe({"train": [Sentence(["the", "USA"], [Entity(0, 2, "GPE"), Entity(1, 2, "GPE")])]})["train"]
    >>> one.tokens, one.entities, one.mean_depth, (one + one).sentences
    (2, 2, 0.5, 2)
    """

    lengths: Counter[int] = field(default_factory=Counter)  # sentences by their number of tokens
    types: Counter[str] = field(default_factory=Counter)  # entities by type
    depths: Counter[int] = field(default_factory=Counter)  # entities by depth
    spans: Counter[int] = field(default_factory=Counter)  # entities by their number of tokens
    crossing: int = 0  # pairs of entities that overlap without nesting
    same_span: int = 0  # entities that share their tokens with another one
    duplicates: int = 0  # entities annotated more than once, which readers merge and count
    repeated: int = 0  # sentences that repeat earlier ones of the split
    in_train: int = 0  # sentences that are in the training split too

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, count.name) + getattr(other, count.name) for count in fields(self)))

    def add(self, sentence: Sentence) -> None:
        """Count a sentence, except for repetitions."""
        entities = sentence.entities
        self.lengths[len(sentence)] += 1
        self.types.update(entity.type for entity in entities)
        self.depths.update(depths_of(entities))
        self.spans.update(entity.end - entity.start for entity in entities)
        self.crossing += count_crossing(entities)
        self.same_span += count_same_span(entities)

    @property
    def sentences(self) -> int:
        """Return the number of sentences."""
        return self.lengths.total()

    @property
    def tokens(self) -> int:
        """Return the number of tokens."""
        return sum(length * count for length, count in self.lengths.items())

    @property
    def entities(self) -> int:
        """Return the number of entities."""
        return self.types.total()

    @property
    def mean_length(self) -> float | None:
        """Return the mean number of tokens of a sentence."""
        return fmean(self.lengths, self.lengths.values()) if self.lengths else None

    @property
    def length_deviation(self) -> float | None:
        """Return the population standard deviation of the number of tokens of a sentence."""
        return pstdev(self.lengths.elements()) if self.lengths else None

    @property
    def mean_depth(self) -> float | None:
        """Return the mean depth of an entity."""
        return fmean(self.depths, self.depths.values()) if self.depths else None

    @property
    def median_depth(self) -> float | None:
        """Return the median depth of an entity."""
        return median(self.depths.elements()) if self.depths else None

    @property
    def largest_depth(self) -> int | None:
        """Return the largest depth of an entity."""
        return max(self.depths, default=None)

    def share_at(self, depth: int) -> Percent | None:
        """Return the percentage of entities at a depth."""
        return percentage(self.depths[depth], self.entities)

    def share_of(self, least: int, most: int | None) -> Percent | None:
        """Return the percentage of entities with this many tokens; without `most`, there is no upper limit."""
        count = sum(n for length, n in self.spans.items() if least <= length and (most is None or length <= most))
        return percentage(count, self.entities)


@dataclass(frozen=True, repr=False)
class CorpusStatistics(Tabular):
    """The statistics of each split, and what its reader had to change."""

    splits: dict[str, Statistics]
    reports: dict[str, Report]

    def table(self, types: bool = False) -> Table:
        """Return a column for each split and one for all of them; `types` adds a row for each type."""
        columns = dict(self.splits)
        if len(columns) > 1:
            columns[ALL] = sum(columns.values(), Statistics())
        splits = list(columns.values())
        sections = [*statistics_sections(splits), Section("worth a look", _worth_a_look(columns))]
        if types:
            kinds = by_frequency(splits[-1].types)
            rows: tuple[Row, ...] = tuple((kind, *(split.types[kind] for split in splits)) for kind in kinds)
            sections.append(Section("entities of type", rows))
        return Table("Corpus statistics", ("characteristic", *columns), tuple(sections), DEPTH_NOTE)


def stats(
    *files: CorpusSource,
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    plot: str | None = None,
) -> CorpusStatistics:
    """Count the sentences, types, depths and lengths of a corpus; `plot` is a .png or .svg file to draw them in.

    Give paths, a folder with train, dev and test, or sentences.

    >>> stats([Sentence(["the", "USA"], [Entity(0, 2, "GPE")])]).splits["corpus"].entities
    1
    """
    from nestag.inspect import plotting  # which draws evaluations too, and they need this module

    splits = splits_of(files, train, dev, test)
    if plot is not None:
        plotting.check_suffix(plot)  # before anything is read
    statistics = describe(splits)
    reports = {name: report_of(corpus) for name, corpus in splits.items()}
    for name, report in reports.items():
        statistics[name].duplicates = report.counts["duplicate entity merged"]
    if plot is not None:
        plotting.plot_statistics(statistics, plot)
    return CorpusStatistics(statistics, reports)


def describe(splits: Mapping[str, Iterable[Sentence]]) -> dict[str, Statistics]:
    """Return the statistics of each split; the training split is read first, every split once."""
    statistics = {name: Statistics() for name in splits}
    train: set[int] = set()
    for name in sorted(splits, key=lambda name: name != TRAIN):
        seen: set[int] = set()
        for sentence in splits[name]:
            fingerprint = hash(sentence.tokens)
            statistics[name].add(sentence)
            statistics[name].repeated += fingerprint in seen
            statistics[name].in_train += fingerprint in train
            seen.add(fingerprint)
        if name == TRAIN:
            train = seen
    return statistics


def depths_of(entities: Iterable[Entity]) -> list[int]:
    """Return the depth of each entity, in canonical order; crossing ones too, in n log n steps.

    `reach[k]` is the furthest end of the entities visited at depth k or deeper. It never rises with k, and no visited
    entity starts later, so the depths that reach the end of an entity are those that contain it.

    >>> depths_of([Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")])
    [0, 0, 1]
    >>> depths_of([Entity(0, 2, "GPE"), Entity(0, 2, "ORG")])
    [1, 2]
    """
    ordered = sorted(entities, key=outermost_first)
    depths: list[int] = []
    reach: list[int] = []  # negated, so that it can be searched
    for place, entity in enumerate(ordered):
        depth = bisect_right(reach, -entity.end)
        if depth == 0 and place + 1 < len(ordered) and ordered[place + 1][:2] == entity[:2]:
            reach[:1] = [-entity.end]
            depth = 1
        reach[depth : depth + 1] = [-entity.end]
        depths.append(depth)
    return depths


def count_same_span(entities: Iterable[Entity]) -> int:
    """Return how many entities share their tokens with another one.

    >>> count_same_span([Entity(0, 2, "GPE"), Entity(0, 2, "ORG"), Entity(1, 2, "ORG")])
    2
    """
    counts = Counter((entity.start, entity.end) for entity in entities)
    return sum(count for count in counts.values() if count > 1)


def by_frequency(types: Mapping[str, int]) -> list[str]:
    """Return the types, the most frequent first.

    >>> by_frequency({"B": 1, "A": 1, "C": 2})
    ['C', 'A', 'B']
    """
    return sorted(types, key=lambda kind: (-types[kind], kind))


def statistics_sections(columns: Sequence[Statistics], deepest: int = 0) -> list[Section]:
    """Return the figures of the paper's table, a column for each of some statistics, down to `deepest` at least."""
    deepest = max([deepest, *(depth for s in columns for depth in s.depths)])
    depths = ((str(depth), *(s.share_at(depth) for s in columns)) for depth in range(deepest + 1))
    lengths = ((span_name(*span), *(s.share_of(*span) for s in columns)) for span in SPANS)
    overview: tuple[Row, ...] = (
        ("sentences", *(s.sentences for s in columns)),
        ("tokens", *(s.tokens for s in columns)),
        ("sentence length, mean", *(s.mean_length for s in columns)),
        ("sentence length, deviation", *(s.length_deviation for s in columns)),
        ("entity types", *(len(s.types) for s in columns)),
        ("entities", *(s.entities for s in columns)),
        ("depth, mean", *(s.mean_depth for s in columns)),
        ("depth, median", *(whole(s.median_depth) for s in columns)),
        ("depth, largest", *(s.largest_depth for s in columns)),
    )
    return [Section("", overview), Section(AT_DEPTH, tuple(depths)), Section(OF_LENGTH, tuple(lengths))]


def span_name(least: int, most: int | None) -> str:
    """Return a range of lengths in words.

    >>> span_name(1, 1), span_name(2, 4), span_name(10, None)
    ('1 token', '2 to 4 tokens', '≥ 10 tokens')
    """
    if least == most:
        return f"{least} token{'s' * (least > 1)}"
    return f"≥ {least} tokens" if most is None else f"{least} to {most} tokens"


def _worth_a_look(columns: Mapping[str, Statistics]) -> tuple[Row, ...]:
    splits = columns.values()
    seen = [None if name == TRAIN or TRAIN not in columns else s.in_train for name, s in columns.items()]
    return (
        ("crossing pairs", *(s.crossing for s in splits)),
        ("entities that share their span", *(s.same_span for s in splits)),
        ("duplicate entities merged", *(s.duplicates for s in splits)),
        ("sentences repeated in the split", *(s.repeated for s in splits)),
        ("sentences that train has too", *seen),
    )


def whole(number: float | None) -> float | int | None:
    """Return a whole number as an integer."""
    return int(number) if number is not None and number == int(number) else number
