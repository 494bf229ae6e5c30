"""Crossing entities: drop as few as possible so that the rest nest.

Spans are chords between their two ends, and two chords that meet are two spans that cross. The largest set of chords
of which no two meet is found exactly, by dynamic programming over pairs of ends (Supowit 1987), one cluster of crossing
entities at a time. Entities that cross no other are never dropped.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
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
    weights: dict[Span, int] = {}
    for start, end, _ in unique:
        weights[start, end] = weights.get((start, end), 0) + 1
    dropped: set[Span] = set()
    for cluster in () if _nest(weights) else _clusters(list(weights)):
        dropped.update(set(cluster) - _largest_nesting(cluster, weights))
    nested = tuple(e for e in unique if (e.start, e.end) not in dropped)
    return Nesting(nested, tuple(e for e in unique if (e.start, e.end) in dropped))


def crossing_pairs(entities: Iterable[Entity]) -> Iterator[tuple[Entity, Entity]]:
    """Yield every pair of entities that cross, the one that starts first named first.

    >>> [(a.type, b.type) for a, b in crossing_pairs([Entity(2, 5, "LOC"), Entity(0, 3, "ORG")])]
    [('ORG', 'LOC')]
    """
    ordered = sorted(set(entities), key=outermost_first)
    open_spans = _OpenSpans()
    for place, entity in enumerate(ordered):
        yield from ((ordered[other], entity) for other in sorted(open_spans.crossing(entity.start, entity.end)))
        open_spans.add(entity.end, place)


class _OpenSpans:
    """Spans that reach beyond a place, sorted by their ends, so that the spans that a new one crosses are a slice."""

    def __init__(self) -> None:
        self.ends: list[tuple[int, int]] = []  # the end of each, and which one it is

    def crossing(self, start: int, end: int) -> list[int]:
        """Return the spans that the next one in canonical order crosses; forget those that have ended."""
        del self.ends[: bisect_left(self.ends, (start + 1, -1))]
        return [place for _, place in self.ends[: bisect_left(self.ends, (end, -1))]]

    def add(self, end: int, place: int) -> None:
        insort(self.ends, (end, place))


def _nest(spans: Iterable[Span]) -> bool:
    """Return whether no two spans cross; they come in canonical order."""
    ends: list[int] = []  # of the spans around the current place, the innermost last
    for start, end in spans:
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and ends[-1] < end:
            return False
        ends.append(end)
    return True


def _clusters(spans: list[Span]) -> list[list[Span]]:
    """Return the groups of two or more spans that are connected by crossing; the spans come in canonical order."""
    cluster = {span: [span] for span in spans}  # spans of one cluster share one list
    open_spans = _OpenSpans()
    for place, span in enumerate(spans):
        start, end = span
        for other in open_spans.crossing(start, end):
            small, large = sorted((cluster[spans[other]], cluster[span]), key=len)
            if small is not large:
                large += small
                cluster.update(dict.fromkeys(small, large))
        if len(cluster[span]) > MOST_CROSSING:  # before there are too many pairs in it
            raise CrossingError(
                f"more than {MOST_CROSSING:,} entities up to token {end} cross each other, directly or through others;"
                " split the sentence or correct its annotation"
            )
        open_spans.add(end, place)
    return [members for members in {id(members): members for members in cluster.values()}.values() if len(members) > 1]


def _largest_nesting(cluster: list[Span], weights: dict[Span, int]) -> set[Span]:
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


def _chords(cluster: list[Span]) -> tuple[list[int], list[Span]]:
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
