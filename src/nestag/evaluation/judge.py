"""The judge: pairs of gold and predicted sentences, as they stream by -> an Evaluation.

A chunk of sentences is judged at once, as arrays; memory stays the same however many there are. Neither the order of
entities nor that of sentences changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from nestag.data import Entity, Sentence
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import Ledger
from nestag.evaluation.result import (
    FLAT,
    INNER,
    OUTER,
    SEEN,
    UNSEEN,
    Confused,
    Evaluation,
    Intervals,
    Mistakes,
    figures_of,
)
from nestag.evaluation.score import Score
from nestag.evaluation.significance import intervals
from nestag.evaluation.spans import Bools, Ints, Listed, Names, Spans, spans_of
from nestag.evaluation.tally import NOTHING, Class, Counts, Tally, group_of

CHUNK = 1_024
"""Sentences judged at once; more would cost time: what lives longer, the garbage collector looks at more often."""

TOKENS = 2**19
"""Their tokens, unless one sentence alone has more."""

WORST = 30
"""Sentences with the most mistakes that are kept to be shown."""

PLACES = (FLAT, OUTER, INNER)
FAMILIAR = (SEEN, UNSEEN)
SHOWN = ("overall", "types", "depths", "lengths", "nesting", "familiar", "same_depth")
BREAKDOWNS = (*SHOWN, "sentences")
CORRECT, PREDICTED, GOLD, FOUND = range(4)


def evaluate(pairs: Iterable[Pair], train: Iterable[Sentence] | None = None) -> Evaluation:
    """Judge a prediction; with the training corpus, seen and unseen entities apart.

    >>> gold = Sentence(["the", "USA"], [Entity(0, 2, "GPE")])
    >>> evaluate([Pair(gold, gold)]).overall.f1
    1.0
    """
    judge = Judge(train)
    judge.see(pairs)
    return judge.result()


class Judge:
    """What has been seen of a prediction so far."""

    def __init__(self, train: Iterable[Sentence] | None = None) -> None:
        self._known = None if train is None else {wording(one, entity) for one in train for entity in one.entities}
        self._names = Names()
        self._tally = Tally()
        self._ledger = Ledger()
        self._sentences = 0
        self._other_depth = 0

    def see(self, pairs: Iterable[Pair]) -> None:
        """Judge more sentences."""
        for chunk in chunks(pairs):
            self._see(chunk)

    def _see(self, chunk: Sequence[Pair]) -> None:
        starts = np.array([0, *accumulate([len(pair.gold.tokens) for pair in chunk])])
        groups = np.array([group_of(pair.gold.tokens) for pair in chunk], dtype=np.int64)
        sides = [pair.gold.entities for pair in chunk], [pair.predicted.entities for pair in chunk]
        listed = [Listed.of(side, self._names) for side in sides]  # both before any keys, so that all types are known
        gold, predicted = (spans_of(one, starts, self._names) for one in listed)
        found, correct = gold.also_in(predicted), predicted.also_in(gold)
        self._count(chunk, gold, groups, found, GOLD, FOUND)
        self._count(chunk, predicted, groups, correct, PREDICTED, CORRECT)
        same = correct.copy()
        same[correct] = gold.depth[predicted.places_in(gold)[correct]] == predicted.depth[correct]
        self._other_depth += int(correct.sum() - same.sum())
        self._count_depth("same_depth", gold, groups, found, GOLD, FOUND)
        self._count_depth("same_depth", predicted, groups, same, PREDICTED, CORRECT)
        self._tally.add("sentences", [0], np.zeros(len(chunk), dtype=np.int64), groups, GOLD)
        self._sentences += len(chunk)
        for place in np.union1d(gold.sentence[~found], predicted.sentence[~correct]):
            self._ledger.see(chunk[place])

    def _count(
        self, chunk: Sequence[Pair], spans: Spans, groups: Ints, right: Bools, column: int, right_column: int
    ) -> None:
        """Count one side in every breakdown."""
        lengths, length = np.unique(spans.length, return_inverse=True)
        place = np.where(spans.depth > 0, 2, spans.outer)
        breakdowns: list[tuple[str, Sequence[str | int], Ints]] = [
            ("overall", [0], np.zeros(len(spans.key), dtype=np.int64)),
            ("types", list(self._names.numbers), spans.type),
            ("lengths", lengths.tolist(), length),
            ("nesting", PLACES, place),
        ]
        if self._known is not None:
            breakdowns.append(("familiar", FAMILIAR, self._familiar(chunk, spans)))
        for breakdown, members, numbers in breakdowns:
            self._tally.add(breakdown, members, numbers, groups[spans.sentence], column)
            self._tally.add(breakdown, members, numbers[right], groups[spans.sentence[right]], right_column)
        self._count_depth("depths", spans, groups, right, column, right_column)

    def _count_depth(
        self, breakdown: str, spans: Spans, groups: Ints, right: Bools, column: int, right_column: int
    ) -> None:
        """Count one side by depth."""
        depths = list(range(int(spans.depth.max(initial=-1)) + 1))
        self._tally.add(breakdown, depths, spans.depth, groups[spans.sentence], column)
        self._tally.add(breakdown, depths, spans.depth[right], groups[spans.sentence[right]], right_column)

    def _familiar(self, chunk: Sequence[Pair], spans: Spans) -> Ints:
        """0 for entities whose words and type train has, 1 for others."""
        known = self._known or set()
        pairs = zip(spans.order.tolist(), spans.sentence.tolist(), strict=True)
        return np.array(
            [wording(chunk[sentence].gold, spans.entities[place]) not in known for place, sentence in pairs],
            dtype=np.int64,
        )

    def counts(self) -> Counts:
        """The counts over all entities by group of sentences, for significance.compare."""
        classes = self._tally.classes()
        sentences = classes.get(("sentences", 0), NOTHING)
        return Counts(sentences.groups, 0 * sentences.rows) + classes.get(("overall", 0), NOTHING)

    def result(self) -> Evaluation:
        """All that can be said of what was seen."""
        classes = self._tally.classes()
        parts: dict[str, dict[Any, Score]] = {name: {} for name in BREAKDOWNS}
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
        )

    def _mistakes(self, types: dict[str, Score]) -> Mistakes:
        right = [Confused(kind, kind, found.correct) for kind, found in types.items() if found.correct]
        wrong = [Confused(gold, predicted, times) for (gold, predicted), times in self._ledger.confusion.items()]
        confusion = sorted([*right, *wrong], key=lambda one: (one.gold is None, one.gold or "", one.predicted or ""))
        kinds = Mistakes().kinds | dict(self._ledger.kinds)
        return Mistakes(kinds, self._other_depth, tuple(confusion), self._ledger.worst(WORST))


def _intervals(classes: Mapping[Class, Counts]) -> dict[str, Intervals]:
    """Those of every figure that is shown."""
    figures: dict[str, Counts] = {}
    for (breakdown, member), counts in classes.items():
        for name in figures_of(breakdown, member) if breakdown in SHOWN else ():
            figures[name] = figures.get(name, NOTHING) + counts
    types = {name for breakdown, member in classes if breakdown == "types" for name in figures_of(breakdown, member)}
    return intervals(figures, types, classes.get(("sentences", 0), NOTHING))


def wording(sentence: Sentence, entity: Entity) -> int:
    """A number for an entity's type and words."""
    return hash((entity.type, sentence.tokens[entity.start : entity.end]))


def chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Pairs that are judged at once."""
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
