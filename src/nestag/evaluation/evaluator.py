"""The evaluator: a stream of gold and predicted sentences -> an Evaluation.

A chunk of sentences is evaluated at once, as arrays; memory stays the same however many there are. Neither the order of
entities nor that of sentences changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Ints
from nestag.data.document import document_of
from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.counts import (
    COLUMNS,
    Class,
    Counts,
    GroupCounts,
    Listed,
    SpanArrays,
    TypeNames,
    document_number,
    group_of,
    spans_of,
)
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import Ledger
from nestag.evaluation.result import (
    DEPTHS,
    FLAT,
    INNER,
    OUTER,
    SAME_DEPTH,
    SEEN,
    UNSEEN,
    Confused,
    Evaluation,
    Intervals,
    Mistakes,
    Score,
    figures_of,
)
from nestag.evaluation.significance import intervals

CHUNK = 1_024
"""Sentences evaluated at once; more cost time, as the garbage collector visits longer-lived objects more often."""

TOKENS = 2**19
"""Their tokens, unless one sentence alone has more."""

PLACES = (FLAT, OUTER, INNER)
FAMILIAR = (SEEN, UNSEEN)
SHOWN = ("overall", "types", "depths", "lengths", "nesting", "familiar", "same_depth")
CORRECT, PREDICTED, GOLD, FOUND = range(COLUMNS)
NONE: Ints = np.zeros(0, dtype=np.int64)


class _ChunkSide(NamedTuple):
    """The gold or the predicted entities of a chunk, and where they are counted."""

    spans: SpanArrays
    right: Bools  # whether the other side has an entity
    groups: Ints  # that of each entity's sentence
    all: int  # the column of all entities
    some: int  # the column of those that are right

    @property
    def depths(self) -> list[str | int]:
        """Every depth there is."""
        return list(range(int(self.spans.depth.max(initial=-1)) + 1))


def evaluate_pairs(pairs: Iterable[Pair], train: Iterable[Sentence] | None = None) -> Evaluation:
    """Evaluate a prediction; with the training corpus, seen and unseen entities separately.

    >>> gold = Sentence(["the", "USA"], [Entity(0, 2, "GPE")])
    >>> evaluate_pairs([Pair(gold, gold)]).overall.f1
    1.0
    """
    evaluator = Evaluator(train)
    evaluator.see(pairs)
    return evaluator.result()


class Evaluator:
    """What has been seen of a prediction so far."""

    def __init__(self, train: Iterable[Sentence] | None = None) -> None:
        self._known = None if train is None else {wording(one, entity) for one in train for entity in one.entities}
        self._names = TypeNames()
        self._tally = GroupCounts()
        self._whole = GroupCounts()  # of all entities together, in groups that are never put together
        self._whole.add("overall", [0], NONE, NONE, GOLD)
        self._ledger = Ledger()
        self._sentences = 0
        self._other_depth = 0

    def see(self, pairs: Iterable[Pair]) -> None:
        """Evaluate more sentences."""
        for chunk in chunks(pairs):
            self._see(chunk)

    def _see(self, chunk: Sequence[Pair]) -> None:
        starts = np.array([0, *accumulate([len(pair.gold.tokens) for pair in chunk])])
        groups = np.array([group_of(pair.gold.tokens) for pair in chunk], dtype=np.int64)
        documents = np.array([document_number(document_of(pair.gold)) for pair in chunk], dtype=np.int64)
        sets = [pair.gold.entities for pair in chunk], [pair.predicted.entities for pair in chunk]
        listed = [Listed.of(side, self._names) for side in sets]  # both before any keys, so that all types are known
        gold, predicted = (spans_of(one, starts, self._names) for one in listed)
        found, correct = gold.also_in(predicted), predicted.also_in(gold)
        sides = (
            _ChunkSide(gold, found, groups[gold.sentence], GOLD, FOUND),
            _ChunkSide(predicted, correct, groups[predicted.sentence], PREDICTED, CORRECT),
        )
        same = correct.copy()
        same[correct] = gold.depth[predicted.places_in(gold)[correct]] == predicted.depth[correct]
        self._other_depth += int(correct.sum() - same.sum())
        for side, right in zip(sides, (found, same), strict=True):
            self._count(side, chunk)
            self._add(side._replace(right=right), "same_depth", side.depths, side.spans.depth)
        self._tally.see(groups, documents)
        self._whole.see(groups, documents)
        self._sentences += len(chunk)
        for place in np.union1d(gold.sentence[~found], predicted.sentence[~correct]):
            self._ledger.see(chunk[place])

    def _count(self, side: _ChunkSide, chunk: Sequence[Pair]) -> None:
        """Count one side in every breakdown."""
        spans = side.spans
        lengths, length = np.unique(spans.length, return_inverse=True)
        self._add(side, "overall", [0], np.zeros_like(spans.key))
        self._add(side, "types", list(self._names.numbers), spans.type)
        self._add(side, "depths", side.depths, spans.depth)
        self._add(side, "lengths", lengths.tolist(), length)
        self._add(side, "nesting", PLACES, np.where(spans.depth > 0, 2, spans.outer))
        if self._known is not None:
            self._add(side, "familiar", FAMILIAR, self._familiar(chunk, spans))

    def _add(self, side: _ChunkSide, breakdown: str, members: Sequence[str | int], numbers: Ints) -> None:
        """Count one side in a breakdown: all of it, and what is right of it."""
        right = side.right
        for tally in (self._tally, self._whole) if breakdown == "overall" else (self._tally,):
            tally.add(breakdown, members, numbers, side.groups, side.all)
            tally.add(breakdown, members, numbers[right], side.groups[right], side.some)

    def _familiar(self, chunk: Sequence[Pair], spans: SpanArrays) -> Ints:
        """0 for entities whose words and type train has, 1 for others."""
        known = self._known or set()
        pairs = zip(spans.order.tolist(), spans.sentence.tolist(), strict=True)
        return np.array(
            [wording(chunk[sentence].gold, spans.entities[place]) not in known for place, sentence in pairs],
            dtype=np.int64,
        )

    def counts(self) -> Counts:
        """The counts over all entities by document or group of sentences, for significance.compare."""
        return self._whole.classes()["overall", 0]

    def result(self) -> Evaluation:
        """The evaluation of all sentences seen so far."""
        classes = self._tally.classes()
        parts: dict[str, dict[Any, Score]] = {name: {} for name in SHOWN}
        for breakdown, member in sorted(classes):
            parts[breakdown][member] = Score(*classes[breakdown, member].sums())
        return Evaluation(
            sentences=self._sentences,
            overall=parts["overall"].get(0, Score()),
            types=parts["types"],
            depths=parts["depths"],
            lengths=parts["lengths"],
            nesting=dict.fromkeys(PLACES, Score()) | parts["nesting"],
            familiar=parts["familiar"],
            same_depth=parts["same_depth"],
            mistakes=self._mistakes(parts["types"]),
            intervals=_intervals(classes),
            documents=self._tally.documents,
        )

    def _mistakes(self, types: dict[str, Score]) -> Mistakes:
        right = [Confused(kind, kind, found.correct) for kind, found in types.items() if found.correct]
        wrong = [Confused(gold, predicted, times) for (gold, predicted), times in self._ledger.confusion.items()]
        confusion = sorted([*right, *wrong], key=lambda one: (one.gold is None, one.gold or "", one.predicted or ""))
        kinds = Mistakes().kinds | dict(self._ledger.kinds)
        return Mistakes(kinds, self._other_depth, tuple(confusion), self._ledger.worst())


def _intervals(classes: Mapping[Class, Counts]) -> dict[str, Intervals]:
    """Those of every figure that is shown."""
    figures: dict[str, Ints] = {}
    types: set[str] = set()
    groups = 0
    for breakdown, member in sorted(classes):  # in one order, for sums of fractions depend on it
        counts = classes[breakdown, member]
        groups = len(counts.groups)
        for name in figures_of(breakdown, member):
            figures[name] = figures.get(name, 0) + counts.rows
            types.update([name] if breakdown == "types" else [])
    for group in DEPTHS:
        counts_of_group = figures.get(f"{SAME_DEPTH} {group.name}")
        if counts_of_group is not None and not group.single:  # as in Group.score_as_paper
            counts_of_group[:, FOUND] = counts_of_group[:, CORRECT]
    return intervals(figures, types, groups)


def wording(sentence: Sentence, entity: Entity) -> int:
    """A hash of an entity's type and words."""
    words = repr((entity.type, sentence.tokens[entity.start : entity.end]))
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest())


def chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Pairs that are evaluated at once."""
    chunk: list[Pair] = []
    tokens = 0
    for pair in pairs:
        length = len(pair.gold.tokens)
        if chunk and (len(chunk) == CHUNK or tokens + length > TOKENS):
            yield chunk
            chunk, tokens = [], 0
        chunk.append(pair)
        tokens += length
    if chunk:
        yield chunk
