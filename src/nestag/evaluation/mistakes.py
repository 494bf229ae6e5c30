"""Mistakes: what is wrong with the entities of a sentence that are not both predicted and gold.

Wrong predicted entities and unfound gold ones are paired, each with at most one other:

    type                 over the same tokens, of another type
    boundary             of the same type, over other tokens of which they share some
    boundary and type    of another type, over other tokens of which they share some
    missed               a gold entity without a partner
    spurious             a predicted entity without a partner

The kinds are paired in this order, so none takes a partner that an earlier one could have had. Within a kind, those
that share the most tokens, of all that one or the other covers, are paired first; then those that stand first in
the sentence (the longer first, then by type), gold before predicted. So nothing depends on the order given.

The confusion of types asks only which types stand over the same tokens: entities with a boundary mistake have no
partner there, like those missed and spurious. Entities that are right are left to the judge, who counts them.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from nestag.data.sentence import Entity, outermost_first
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import KINDS, Shown

MOST_KEPT = 30
"""Sentences that are kept to be shown."""

TYPE, BOUNDARY, BOTH, MISSED, SPURIOUS = range(len(KINDS))


class Mistake(NamedTuple):
    """One of KINDS, and the entities it is about; a missed one has none predicted, a spurious one none of gold."""

    kind: str
    gold: Entity | None
    predicted: Entity | None


class _Bad(NamedTuple):
    """A sentence that sorts before those with fewer mistakes; between equals, its content decides."""

    mistakes: int  # negated
    tokens: tuple[str, ...]
    gold: tuple[Entity, ...]
    predicted: tuple[Entity, ...]
    id: str  # empty if there is none


class Ledger:
    """What went wrong in all sentences seen.

    >>> from nestag.data.sentence import Sentence
    >>> gold, ledger = Sentence(["the", "USA"], [Entity(0, 2, "GPE")]), Ledger()
    >>> ledger.see(Pair(gold, gold.with_entities([Entity(0, 2, "ORG"), Entity(1, 2, "GPE")])))
    >>> +ledger.kinds, ledger.confusion["GPE", "ORG"], ledger.confusion[None, "GPE"]
    (Counter({'type': 1, 'spurious': 1}), 1, 1)
    """

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.confusion: Counter[tuple[str | None, str | None]] = Counter()
        self._worst: list[_Bad] = []

    def see(self, pair: Pair) -> None:
        """Count the mistakes of a sentence, and keep it if few have more."""
        found = mistakes_of(pair.gold.entities, pair.predicted.entities)
        if not found:
            return
        kinds, confusion = self.kinds, self.confusion
        for kind, gold, predicted in found:
            kinds[kind] += 1
            if kind == KINDS[TYPE] and gold and predicted:
                confusion[gold.type, predicted.type] += 1
                continue
            if gold:
                confusion[gold.type, None] += 1
            if predicted:
                confusion[None, predicted.type] += 1
        self._keep(pair, len(found))

    def worst(self) -> tuple[Shown, ...]:
        """The sentences with the most mistakes, the worst first; at most MOST_KEPT."""
        return tuple(Shown(bad.id or None, bad.tokens, bad.gold, bad.predicted) for bad in self._worst)

    def _keep(self, pair: Pair, mistakes: int) -> None:
        worst = self._worst
        full = len(worst) == MOST_KEPT
        if full and -mistakes > worst[-1].mistakes:
            return
        gold, predicted = pair
        insort(worst, _Bad(-mistakes, gold.tokens, gold.entities, predicted.entities, gold.id or ""))
        if full:
            worst.pop()


def mistakes_of(gold: Collection[Entity], predicted: Collection[Entity]) -> list[Mistake]:
    """The mistakes of one sentence, in the order of the sentence; the order given does not matter.

    >>> for mistake in mistakes_of([Entity(0, 3, "PER"), Entity(4, 6, "GPE")], [Entity(1, 3, "PER")]):
    ...     print(mistake.kind, mistake.gold)
    boundary Entity(start=0, end=3, type='PER')
    missed Entity(start=4, end=6, type='GPE')
    """
    right, guessed = set(gold), set(predicted)
    unfound: list[Entity] = sorted(right - guessed, key=outermost_first)
    wrong: list[Entity] = sorted(guessed - right, key=outermost_first)
    partner: dict[int, _PossiblePartners] = {}
    taken: set[int] = set()
    for candidate in sorted(_candidates(unfound, wrong)) if unfound and wrong else ():
        if candidate.gold not in partner and candidate.predicted not in taken:
            partner[candidate.gold] = candidate
            taken.add(candidate.predicted)
    found = [
        Mistake(KINDS[partner[i].kind], entity, wrong[partner[i].predicted])
        if i in partner
        else Mistake(KINDS[MISSED], entity, None)
        for i, entity in enumerate(unfound)
    ]
    return found + [Mistake(KINDS[SPURIOUS], None, entity) for i, entity in enumerate(wrong) if i not in taken]


class _PossiblePartners(NamedTuple):
    """Entities that could be partners, by their places; the best sort first."""

    kind: int
    share: float  # of the tokens of both, negated
    gold: int
    predicted: int


def _candidates(unfound: Sequence[Entity], wrong: Sequence[Entity]) -> Iterator[_PossiblePartners]:
    """All that share tokens: visited by their starts, each meets those of the other side that have not ended."""
    sides = unfound, wrong
    opened: list[list[int]] = [[], []]
    for start, own, place in sorted((one.start, side, i) for side in (0, 1) for i, one in enumerate(sides[side])):
        other = 1 - own
        opened[other] = [i for i in opened[other] if sides[other][i].end > start]
        for met in opened[other]:
            yield _candidate(unfound, wrong, *((met, place) if own else (place, met)))
        opened[own].append(place)


def _candidate(unfound: Sequence[Entity], wrong: Sequence[Entity], gold: int, predicted: int) -> _PossiblePartners:
    one, two = unfound[gold], wrong[predicted]
    shared = min(one.end, two.end) - max(one.start, two.start)
    union = max(one.end, two.end) - min(one.start, two.start)
    kind = TYPE if shared == union else BOUNDARY if one.type == two.type else BOTH
    return _PossiblePartners(kind, -shared / union, gold, predicted)
