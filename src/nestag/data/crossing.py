"""Crossing entities: drop as few as possible so that the rest nest.

Spans are chords between their two ends, and two chords that meet are two spans that cross. The largest set of chords
of which no two meet is found exactly, by dynamic programming over pairs of ends (Supowit 1987), one cluster of crossing
entities at a time. Entities that cross no other are never dropped.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nestag.data.sentence import Entity, outermost_first
from nestag.data.tree import Span
from nestag.errors import CrossingError

MOST_CROSSING = 1_000
"""The largest cluster of crossing spans; the search is quadratic in it."""


class Nesting(NamedTuple):
    """Entities split into those that nest and those dropped, both in canonical order."""

    nested: tuple[Entity, ...]
    dropped: tuple[Entity, ...]


def drop_crossing(entities: Iterable[Entity]) -> Nesting:
    """Drop as few entities as possible so that the rest nest; of several ways, keep those that cover the most tokens.

    >>> drop_crossing([Entity(0, 3, "ORG"), Entity(2, 5, "LOC"), Entity(4, 6, "PER")]).dropped
    (Entity(start=2, end=5, type='LOC'),)
    """
    unique = sorted(set(entities), key=outermost_first)
    clusters = _clusters(unique)
    if not clusters:
        return Nesting(tuple(unique), ())
    weights = Counter((start, end) for start, end, _ in unique)
    dropped = {span for cluster in clusters for span in cluster - _largest_nesting(cluster, weights)}
    nested = tuple(e for e in unique if (e.start, e.end) not in dropped)
    return Nesting(nested, tuple(e for e in unique if (e.start, e.end) in dropped))


def crossing_pairs(entities: Iterable[Entity]) -> Iterator[tuple[Entity, Entity]]:
    """Yield every pair of entities that cross, the one that starts first named first.

    >>> [(a.type, b.type) for a, b in crossing_pairs([Entity(2, 5, "LOC"), Entity(0, 3, "ORG")])]
    [('ORG', 'LOC')]
    """
    ordered = sorted(set(entities), key=outermost_first)
    for entity, ends, crossed in _open_spans(ordered):
        yield from ((ordered[place], entity) for place in sorted(place for _, place in ends[:crossed]))


def count_crossing(entities: Iterable[Entity]) -> int:
    """Count the pairs of entities that cross without visiting each; there may be far more pairs than entities.

    >>> count_crossing([Entity(0, 3, "ORG"), Entity(2, 5, "LOC"), Entity(4, 6, "PER"), Entity(4, 5, "PER")])
    2
    """
    return sum(crossed for _, _, crossed in _open_spans(sorted(set(entities), key=outermost_first)))


def _open_spans(ordered: Iterable[Entity]) -> Iterator[tuple[Entity, list[tuple[int, int]], int]]:
    """Yield each entity, the ends and places of the spans that are open at its start, and how many of them it crosses.

    The open spans are sorted by their ends, and the entity crosses the first of them.
    """
    ends: list[tuple[int, int]] = []
    for place, entity in enumerate(ordered):
        del ends[: bisect_left(ends, (entity.start + 1, -1))]
        yield entity, ends, bisect_left(ends, (entity.end, -1))
        insort(ends, (entity.end, place))


def _clusters(entities: Iterable[Entity]) -> list[set[Span]]:
    """Return the groups of spans that are connected by crossing."""
    cluster: dict[Span, set[Span]] = {}  # spans of one cluster share one set
    for pair in crossing_pairs(entities):
        a, b = ((start, end) for start, end, _ in pair)
        small, large = sorted((cluster.setdefault(a, {a}), cluster.setdefault(b, {b})), key=len)
        if small is not large:
            large |= small
            cluster.update(dict.fromkeys(small, large))
        if len(large) > MOST_CROSSING:
            raise CrossingError(
                f"more than {MOST_CROSSING:,} entities up to token {b[1]} cross each other, directly or through others;"
                " split the sentence or correct its annotation"
            )
    return list({id(spans): spans for spans in cluster.values()}.values())


def _largest_nesting(cluster: set[Span], weights: Mapping[Span, int]) -> set[Span]:
    """Return the heaviest set of spans of a cluster in which no two cross.

    `best[i][j]` is the value of the chords inside the ends i to j, and `partner[j]` the left end of the chord that
    ends at j. A value counts entities first and tokens second.
    """
    partner, chord = _chords(cluster)
    size = len(partner)
    unit = 1 + sum((end - start) * weights[start, end] for start, end in cluster)
    value = [weights[span] * (unit + span[1] - span[0]) for span in chord]
    best = [[0] * (size + 1) for _ in range(size + 2)]
    for i in range(size - 1, -1, -1):
        row = best[i]
        for j in range(i + 1, size):
            k = partner[j]
            skip = row[j - 1]
            take = (row[k - 1] if k > i else 0) + value[j] + best[k + 1][j - 1] if i <= k < j else -1
            row[j] = max(take, skip)
    chosen: set[Span] = set()
    pending = [(0, size - 1)]
    while pending:
        i, j = pending.pop()
        if j <= i:
            continue
        k = partner[j]
        if best[i][j] == best[i][j - 1]:
            pending.append((i, j - 1))
        else:
            chosen.add(chord[j])
            pending += [(i, k - 1), (k + 1, j - 1)]
    return chosen


def _chords(cluster: Iterable[Span]) -> tuple[list[int], list[Span]]:
    """Return, for each end from left to right, the left end of its chord and its span; touching spans do not meet."""
    ends = sorted(
        [(start, 1, -end, (start, end)) for start, end in cluster]
        + [(end, 0, -start, (start, end)) for start, end in cluster]
    )
    left: dict[Span, int] = {}
    partner, chord = [], []
    for place, (_, opens, _, span) in enumerate(ends):
        if opens:
            left[span] = place
        partner.append(left[span] if not opens else len(ends))
        chord.append(span)
    return partner, chord
