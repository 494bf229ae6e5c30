"""Corpus statistics: what the paper's table of datasets says of a corpus, counted in one pass over it.

Depth follows the paper. The entities of a sentence are visited from the outside in, and each lies one deeper than the
deepest of those that contain it or have its span; those not visited yet stand at 0:

    Lincoln was president of the USA    0  nothing contains it
    ─ PER ─     ─────── PER ────────    0  nothing contains it
                             ─ GPE ─    1  in PER

    the USA     1  GPE: ORG, not visited yet, has the same span
    ─ GPE ─     2  ORG: it has the span of GPE, which is at 1
    ─ ORG ─

So entities over the same tokens are in each other, and none of them is at 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import sqrt
from statistics import fmean, median

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence, outermost_first
from nestag.formats.corpus import CorpusSource, report_of, splits_of
from nestag.inspect.plotting import check_suffix, plot_statistics

TRAIN = "train"  # the name of the split that the others are compared with
SPANS = ((1, 1), (2, 4), (5, 9), (10, None))  # the paper's groups of entities by their tokens, from and to


@dataclass(frozen=True)
class Statistics:
    """Counts of a split; supports `+`.

    >>> one = describe({"train": [Sentence(["the", "USA"], [Entity(0, 2, "GPE"), Entity(1, 2, "GPE")])]})["train"]
    >>> one.tokens, one.entities, one.mean_depth, (one + one).sentences
    (2, 2, 1.5, 2)
    """

    lengths: Counter[int] = field(default_factory=Counter)  # sentences by their number of tokens
    types: Counter[str] = field(default_factory=Counter)  # entities by type
    depths: Counter[int] = field(default_factory=Counter)  # entities by depth, counted from 0
    spans: Counter[int] = field(default_factory=Counter)  # entities by their number of tokens
    crossing: int = 0  # pairs of entities that overlap without nesting
    same_span: int = 0  # entities that share their tokens with another one
    duplicates: int = 0  # entities given more than once, which readers merge and count
    repeated: int = 0  # sentences that stood in the split before
    in_train: int = 0  # sentences that stand in the training split

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return self.lengths.total()

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return sum(length * count for length, count in self.lengths.items())

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return self.types.total()

    @property
    def mean_length(self) -> float | None:
        """Tokens a sentence."""
        return mean(self.lengths)

    @property
    def length_deviation(self) -> float | None:
        """The standard deviation of the number of tokens a sentence."""
        return deviation(self.lengths)

    @property
    def mean_depth(self) -> float | None:
        """The mean depth, counted from 1 as in the paper's table."""
        found = mean(self.depths)
        return None if found is None else 1 + found

    @property
    def median_depth(self) -> float | None:
        """The median depth, counted from 1."""
        return 1 + median(self.depths.elements()) if self.depths else None

    @property
    def largest_depth(self) -> int | None:
        """The largest depth, counted from 1."""
        return 1 + max(self.depths) if self.depths else None

    def share_at(self, depth: int) -> float | None:
        """The percentage of entities at a depth, counted from 0."""
        return percentage(self.depths[depth], self.entities)

    def share_of(self, least: int, most: int | None) -> float | None:
        """The percentage of entities that have so many tokens."""
        return percentage(
            sum(n for length, n in self.spans.items() if least <= length and (most is None or length <= most)),
            self.entities,
        )


@dataclass(frozen=True)
class CorpusStatistics:
    """The statistics of each split, and what its reader had to change."""

    splits: dict[str, Statistics]
    reports: dict[str, Report]


def stats(
    *files: CorpusSource,
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    plot: str | None = None,
) -> CorpusStatistics:
    """Count what a corpus holds, split by split; `plot` is a .png or .svg file to draw depths and lengths in.

    A file is a path, a folder with train, dev and test in it, or sentences.

    >>> stats([Sentence(["the", "USA"], [Entity(0, 2, "GPE")])]).splits["corpus"].entities
    1
    """
    splits = splits_of(files, train, dev, test)
    if plot is not None:
        check_suffix(plot)  # before anything is read
    found = describe(splits)
    reports = {name: report_of(corpus) for name, corpus in splits.items()}
    for name, report in reports.items():
        found[name] = replace(found[name], duplicates=report.counts["duplicate entity merged"])
    if plot is not None:
        plot_statistics(found, plot)
    return CorpusStatistics(found, reports)


def describe(splits: Mapping[str, Iterable[Sentence]]) -> dict[str, Statistics]:
    """The statistics of each split, the training split read first, every split once."""
    found: dict[str, Statistics] = {}
    train: set[int] = set()
    for name in sorted(splits, key=lambda name: name != TRAIN):
        own: set[int] = set()
        found[name] = _describe(splits[name], own, train)
        if name == TRAIN:
            train = own
    return {name: found[name] for name in splits}


def _describe(sentences: Iterable[Sentence], own: set[int], train: Container[int]) -> Statistics:
    """Count one split; `own` becomes the fingerprints of its sentences."""
    lengths: Counter[int] = Counter()
    types: Counter[str] = Counter()
    depths: Counter[int] = Counter()
    spans: Counter[int] = Counter()
    crossing = same_span = repeated = in_train = 0
    for sentence in sentences:
        entities = sentence.entities
        lengths[len(sentence)] += 1
        types.update(entity.type for entity in entities)
        depths.update(depths_of(entities))
        spans.update(entity.end - entity.start for entity in entities)
        crossing += count_crossing(entities)
        same_span += count_same_span(entities)
        fingerprint = hash(sentence.tokens)
        repeated += fingerprint in own
        in_train += fingerprint in train
        own.add(fingerprint)
    return Statistics(lengths, types, depths, spans, crossing, same_span, 0, repeated, in_train)


def depths_of(entities: Iterable[Entity]) -> list[int]:
    """How deep each entity lies, in canonical order; crossing ones too, in n log n steps.

    `reach[k]` is the furthest end of what was visited at depth k or deeper. It never rises with k, and what was
    visited does not start later, so the depths that reach the end of an entity are those that contain it.

    >>> depths_of([Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")])
    [0, 0, 1]
    >>> depths_of([Entity(0, 2, "GPE"), Entity(0, 2, "ORG")])
    [1, 2]
    """
    ordered = sorted(entities, key=outermost_first)
    found: list[int] = []
    reach: list[int] = []  # negated, so that it can be searched
    for place, entity in enumerate(ordered):
        depth = bisect_right(reach, -entity.end)
        if depth == 0 and place + 1 < len(ordered) and ordered[place + 1][:2] == entity[:2]:
            reach[:1] = [-entity.end]
            depth = 1
        reach[depth : depth + 1] = [-entity.end]
        found.append(depth)
    return found


def count_crossing(entities: Sequence[Entity]) -> int:
    """How many pairs overlap without nesting.

    >>> count_crossing([Entity(0, 3, "ORG"), Entity(2, 5, "LOC"), Entity(4, 6, "PER"), Entity(4, 5, "PER")])
    2
    """
    count = 0
    ends: list[int] = []  # of entities that start before the one at hand
    waiting: list[Entity] = []  # those that start where it starts
    for entity in sorted(entities, key=outermost_first):
        if waiting and waiting[0].start < entity.start:
            for other in waiting:
                insort(ends, other.end)
            waiting = []
        count += max(0, bisect_left(ends, entity.end) - bisect_right(ends, entity.start))
        waiting.append(entity)
    return count


def count_same_span(entities: Iterable[Entity]) -> int:
    """How many entities share their tokens with another one.

    >>> count_same_span([Entity(0, 2, "GPE"), Entity(0, 2, "ORG"), Entity(1, 2, "ORG")])
    2
    """
    counts = Counter((entity.start, entity.end) for entity in entities)
    return sum(count for count in counts.values() if count > 1)


def mean(counts: Counter[int]) -> float | None:
    """The mean of a histogram, None if it is empty."""
    return fmean(counts, counts.values()) if counts else None


def deviation(counts: Mapping[int, int]) -> float | None:
    """The population standard deviation of a histogram, None if it is empty.

    >>> deviation({1: 1, 3: 1})
    1.0
    """
    total = sum(counts.values())
    if not total:
        return None
    first = sum(value * count for value, count in counts.items())
    second = sum(value * value * count for value, count in counts.items())
    return sqrt(total * second - first * first) / total  # integers below the root, so nothing is lost


def percentage(part: int, whole: int) -> float | None:
    """A share in percent, None if the whole is 0."""
    return 100 * part / whole if whole else None
