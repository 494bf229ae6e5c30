"""Mistakes: what is wrong with the entities of a sentence that are only in gold or only predicted.

Missed gold entities and wrong predicted ones are paired, each with at most one other:

    type                 the same span, another type
    boundary             the same type, another span that overlaps
    boundary and type    another type, another span that overlaps
    missed               a gold entity without a partner
    spurious             a predicted entity without a partner

Kinds are paired in this order. Within a kind, the pair with the largest overlap (intersection over union) comes first,
then the first in the sentence. The order of the input does not matter.

The confusion matrix of types counts entities over the same span; all others count as confused with no entity.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from nestag.data.sentence import Entity, outermost_first
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import KINDS, Shown

MOST_KEPT = 30
"""Maximum number of sentences to keep for display."""

TYPE, BOUNDARY, BOTH, MISSED, SPURIOUS = range(len(KINDS))


class Mistake(NamedTuple):
    """One of KINDS, and its entities; a missed entity has no prediction, a spurious one no gold."""

    kind: str
    gold: Entity | None
    predicted: Entity | None


class MistakeCounter:
    """Counts of the mistakes in all sentences seen.

    >>> from nestag.data.sentence import Sentence
    >>> gold, counter = Sentence(["the", "USA"], [Entity(0, 2, "GPE")]), MistakeCounter()
    >>> counter.see(Pair(gold, gold.with_entities([Entity(0, 2, "ORG"), Entity(1, 2, "GPE")])))
    >>> +counter.kinds, counter.confusion["GPE", "ORG"], counter.confusion[None, "GPE"]
    (Counter({'type': 1, 'spurious': 1}), 1, 1)
    """

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.confusion: Counter[tuple[str | None, str | None]] = Counter()
        self._worst: list[tuple[int, Shown]] = []  # with the number of mistakes, as `_rank` orders them

    def see(self, pair: Pair) -> None:
        """Count the mistakes of a sentence, and keep it if it is among the worst."""
        mistakes = mistakes_of(pair.gold.entities, pair.predicted.entities)
        for kind, gold, predicted in mistakes:
            self.kinds[kind] += 1
            if kind == KINDS[TYPE] and gold and predicted:
                self.confusion[gold.type, predicted.type] += 1
                continue
            if gold:
                self.confusion[gold.type, None] += 1
            if predicted:
                self.confusion[None, predicted.type] += 1
        if mistakes and (len(self._worst) < MOST_KEPT or len(mistakes) >= self._worst[-1][0]):
            shown = Shown(pair.gold.id or None, pair.gold.tokens, pair.gold.entities, pair.predicted.entities)
            insort(self._worst, (len(mistakes), shown), key=_rank)
            del self._worst[MOST_KEPT:]

    def worst(self) -> tuple[Shown, ...]:
        """Return the sentences with the most mistakes, the worst first."""
        return tuple(shown for _, shown in self._worst)


def _rank(bad: tuple[int, Shown]) -> tuple[Any, ...]:
    """Order sentences by their number of mistakes, most first, then by content."""
    mistakes, shown = bad
    return -mistakes, shown.tokens, shown.gold, shown.predicted, shown.id or ""


def mistakes_of(gold: Collection[Entity], predicted: Collection[Entity]) -> list[Mistake]:
    """Return the mistakes of one sentence, in the order of the sentence.

    >>> for mistake in mistakes_of([Entity(0, 3, "PER"), Entity(4, 6, "GPE")], [Entity(1, 3, "PER")]):
    ...     print(mistake.kind, mistake.gold)
    boundary Entity(start=0, end=3, type='PER')
    missed Entity(start=4, end=6, type='GPE')
    """
    shared = {*gold} & {*predicted}
    missed: list[Entity] = sorted({*gold} - shared, key=outermost_first)
    wrong: list[Entity] = sorted({*predicted} - shared, key=outermost_first)
    pairs: dict[int, Mistake] = {}
    taken: set[int] = set()
    for kind, _, first, second in sorted(_candidates(missed, wrong)):
        if first not in pairs and second not in taken:
            pairs[first] = Mistake(KINDS[kind], missed[first], wrong[second])
            taken.add(second)
    mistakes = [pairs.get(i, Mistake(KINDS[MISSED], entity, None)) for i, entity in enumerate(missed)]
    return mistakes + [Mistake(KINDS[SPURIOUS], None, entity) for i, entity in enumerate(wrong) if i not in taken]


class _Candidate(NamedTuple):
    """Two entities that could be partners, by their places; the best pair sorts first."""

    kind: int
    overlap: float  # intersection over union, negated
    gold: int
    predicted: int


def _candidates(missed: Sequence[Entity], wrong: Sequence[Entity]) -> Iterator[_Candidate]:
    """Yield all overlapping pairs, by a sweep over the starts of entities."""
    sides = missed, wrong
    opened: list[list[int]] = [[], []]
    for start, own, place in sorted((entity.start, side, i) for side in (0, 1) for i, entity in enumerate(sides[side])):
        other = 1 - own
        opened[other] = [i for i in opened[other] if sides[other][i].end > start]
        opened[own].append(place)
        for i in opened[other]:
            gold, predicted = (i, place) if own else (place, i)
            first, second = missed[gold], wrong[predicted]
            shared = min(first.end, second.end) - max(first.start, second.start)
            union = max(first.end, second.end) - min(first.start, second.start)
            kind = TYPE if shared == union else BOUNDARY if first.type == second.type else BOTH
            yield _Candidate(kind, -shared / union, gold, predicted)
