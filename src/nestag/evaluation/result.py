"""Scores and all that an evaluation finds: strict precision, recall and F1 over sets of (span, type), stored as JSON.

Every entity belongs to one class of each breakdown, so the classes of a breakdown add up to the whole:

    types      by type
    depths     by how many entities contain it, counted as in statistics.depths_of: 0 is in no other
    lengths    by its number of tokens
    nesting    flat: alone · outer: holds another and is in none · inner: in another, or over the same tokens
    familiar   seen: train has an entity of that type with the same words · unseen: it has not

Depth and nesting depend on the other entities of the same set: a predicted entity has those of the prediction, a gold
one those of gold. Precision is the share of the predicted entities of a class that are gold, at any depth, and recall
the share of the gold entities of a class that were predicted, at any depth.

`same_depth` are the depths as the paper scores them: for precision, an entity is right only if it is gold at the depth
it is predicted at. Those do not add up to the whole. Over several depths together the paper's recall asks for the same
depth as well (`Group.score_as_paper`); its printed figures fit no other reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, pstdev, stdev
from typing import NamedTuple

from nestag.data.sentence import Entity


class Score(NamedTuple):
    """Counts of a group of entities, and what follows from them; a share of nothing is 0.

    `correct` counts on the side of the prediction and `found` on the side of gold. They differ only in groups that an
    entity belongs to by what stands around it: it may lie at depth 1 in the prediction and at 0 in gold.

    >>> Score.of(correct=3, predicted=4, gold=6).f1
    0.6
    """

    correct: int = 0  # entities predicted in the group that are gold
    predicted: int = 0  # entities predicted in the group
    gold: int = 0  # entities of the group
    found: int = 0  # entities of the group that were predicted

    @classmethod
    def of(cls, correct: int, predicted: int, gold: int) -> Score:
        """The score of a group that an entity belongs to wherever it stands."""
        return cls(correct, predicted, gold, correct)

    @property
    def precision(self) -> float:
        """Of the entities predicted, the share that is right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Of the entities there are, the share that was found."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, rounded once, so that equal ones are equal."""
        both = self.correct * self.gold + self.found * self.predicted
        return 2 * self.correct * self.found / both if both else 0.0


def total(scores: Iterable[Score]) -> Score:
    """Groups put together.

    >>> total([Score.of(1, 2, 3), Score.of(4, 5, 6)])
    Score(correct=5, predicted=7, gold=9, found=5)
    """
    return Score(*map(sum, zip(Score(), *scores, strict=True)))


class Means(NamedTuple):
    """Precision, recall and F1 as means over types (macro averages)."""

    precision: float
    recall: float
    f1: float


def macro(types: Mapping[str, Score]) -> Means:
    """The mean over all types, whether of gold or only predicted.

    >>> macro({"A": Score.of(1, 1, 1), "B": Score.of(0, 1, 1)}).f1
    0.5
    """
    scores = types.values() or (Score(),)
    return Means(fmean(s.precision for s in scores), fmean(s.recall for s in scores), fmean(s.f1 for s in scores))


class Spread(NamedTuple):
    """How F1 differs between types, as the paper's table of types says it."""

    best_type: str
    worst_type: str
    mean: float
    deviation: float  # of all types, not of a sample


def spread(types: Mapping[str, Score]) -> Spread | None:
    """The best and worst type, and mean and deviation of F1 over the gold types; None if there are none.

    >>> spread({"A": Score.of(1, 1, 1), "B": Score.of(0, 1, 1), "C": Score.of(0, 1, 0)})
    Spread(best_type='A', worst_type='B', mean=0.5, deviation=0.5)
    """
    found = {kind: types[kind].f1 for kind in sorted(types) if types[kind].gold}
    if not found:
        return None
    values = found.values()
    return Spread(max(found, key=found.__getitem__), min(found, key=found.__getitem__), fmean(values), pstdev(values))


def by_type(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> dict[str, Score]:
    """The score of each type, sentence by sentence; order and duplicates do not matter."""
    correct: Counter[str] = Counter()
    guesses: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for right, guessed in zip(map(set, gold), map(set, predicted), strict=True):
        correct.update(entity.type for entity in right & guessed)
        guesses.update(entity.type for entity in guessed)
        wanted.update(entity.type for entity in right)
    return {kind: Score.of(correct[kind], guesses[kind], wanted[kind]) for kind in sorted(wanted | guesses)}


def score(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> Score:
    """The score of all types together.

    >>> score([[Entity(0, 1, "A"), Entity(0, 2, "B")]], [[Entity(0, 2, "B")]]).recall
    0.5
    """
    return total(by_type(gold, predicted).values())


class OverSeeds(NamedTuple):
    """The values of several runs, at least one, with their mean and deviation."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean."""
        return fmean(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation, None with a single run."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(self.values)

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ± {self.deviation:.2f}"


def over_seeds(values: Iterable[float]) -> OverSeeds | None:
    """A value over seeds, None if there are no runs.

    >>> print(over_seeds([75, 76]), over_seeds([75]), over_seeds([]))
    75.50 ± 0.71 75.00 None
    """
    known = tuple(values)
    return OverSeeds(known) if known else None


ALL, MACRO = "all", "macro"
FLAT, OUTER, INNER = "flat", "outer", "inner"
SEEN, UNSEEN = "seen", "unseen"


class Group(NamedTuple):
    """Depths or lengths that are shown together, from and to."""

    name: str
    least: int
    most: int | None = None

    def holds(self, number: int) -> bool:
        """Whether a depth or length belongs to it."""
        return self.least <= number and (self.most is None or number <= self.most)

    @property
    def single(self) -> bool:
        """Whether it is one depth or length."""
        return self.least == self.most

    def score(self, classes: Mapping[int, Score]) -> Score:
        """The score of all classes of the group."""
        return total(found for number, found in classes.items() if self.holds(number))

    def score_as_paper(self, classes: Mapping[int, Score]) -> Score:
        """The same of depths as the paper scores them: of several together, recall too asks for the same depth."""
        found = self.score(classes)
        return found if self.single else found._replace(found=found.correct)


SAME_DEPTH = "same depth"
DEPTHS = (Group("0", 0, 0), Group("1", 1, 1), Group("≥ 1", 1), Group("≥ 2", 2))
"""The depths that the paper's table shows."""

LENGTHS = (Group("1", 1, 1), Group("2–4", 2, 4), Group("≥ 2", 2), Group("5–9", 5, 9), Group("≥ 10", 10))
"""The lengths that the paper's table shows."""

PAPER_LENGTH = "paper length"
PAPER_LENGTHS = tuple(Group(one.name, one.least + 1, None if one.most is None else one.most + 1) for one in LENGTHS)
"""The same as the authors' code counts them: each class is one token longer than its heading."""

_GROUPED = {
    "depths": (("depth", DEPTHS),),
    "lengths": (("length", LENGTHS), (PAPER_LENGTH, PAPER_LENGTHS)),
    "same_depth": ((SAME_DEPTH, DEPTHS),),
}


class Interval(NamedTuple):
    """Where a figure would lie in 95 of 100 test sets like this one."""

    low: float
    high: float


class Intervals(NamedTuple):
    """Those of precision, recall and F1."""

    precision: Interval
    recall: Interval
    f1: Interval


class Comparison(NamedTuple):
    """How much better one system is than another on the same sentences, in F1."""

    first: float
    second: float
    difference: float  # first minus second
    interval: Interval  # of the difference
    bootstrap: float  # twice the share of draws on the other side of 0, never 0
    randomization: float  # the share of random swaps with a difference as large


class Confused(NamedTuple):
    """How often a span of one type in gold has another in the prediction; None is no entity there."""

    gold: str | None
    predicted: str | None
    times: int


@dataclass(frozen=True)
class Shown:
    """A sentence with its gold and predicted entities, to be looked at."""

    id: str | None
    tokens: tuple[str, ...]
    gold: tuple[Entity, ...]
    predicted: tuple[Entity, ...]


KINDS = ("type", "boundary", "boundary and type", "missed", "spurious")
"""What is wrong with an entity; mistakes.py says how each is told."""


@dataclass(frozen=True)
class Mistakes:
    """What went wrong.

    Predicted entities are correct, or one of `type`, `boundary`, `boundary and type` and `spurious`; gold entities are
    found, or one of `type`, `boundary`, `boundary and type` and `missed`.
    """

    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    nesting: int = 0  # entities with the right span and type that lie at another depth than in gold
    confusion: tuple[Confused, ...] = ()  # of types over the same span, the right ones included
    worst: tuple[Shown, ...] = ()  # sentences with the most mistakes, the worst first


@dataclass(frozen=True)
class Evaluation:
    """All that is known of a prediction."""

    sentences: int
    overall: Score
    types: dict[str, Score]
    depths: dict[int, Score]
    lengths: dict[int, Score]
    nesting: dict[str, Score]  # FLAT, OUTER, INNER
    familiar: dict[str, Score]  # SEEN, UNSEEN; empty if no training corpus was given
    same_depth: dict[int, Score]
    mistakes: Mistakes
    intervals: dict[str, Intervals]  # of each of `figures`, and of MACRO
    documents: int = 0  # how many were drawn for the intervals; 0 if sentences were
    comparison: Comparison | None = None  # with another prediction, if one was given

    def figures(self) -> dict[str, Score]:
        """Every score that is shown, by name: `all`, `type PER`, `depth ≥ 1`, `length 2–4`, `flat`, `seen`."""
        return {
            ALL: self.overall,
            **{f"type {kind}": found for kind, found in self.types.items()},
            **{f"depth {group.name}": group.score(self.depths) for group in DEPTHS},
            **{f"length {group.name}": group.score(self.lengths) for group in LENGTHS},
            **{f"{PAPER_LENGTH} {group.name}": group.score(self.lengths) for group in PAPER_LENGTHS},
            **{f"{SAME_DEPTH} {group.name}": group.score_as_paper(self.same_depth) for group in DEPTHS},
            **self.nesting,
            **self.familiar,
        }


def figures_of(breakdown: str, member: str | int) -> tuple[str, ...]:
    """The names of the figures that a class counts in.

    >>> figures_of("depths", 2), figures_of("types", "PER")
    (('depth ≥ 1', 'depth ≥ 2'), ('type PER',))
    """
    if breakdown == "types":
        return (f"type {member}",)
    if breakdown in _GROUPED:
        named = ((word, group) for word, groups in _GROUPED[breakdown] for group in groups)
        return tuple(f"{word} {group.name}" for word, group in named if group.holds(int(member)))
    return (ALL,) if breakdown == "overall" else (str(member),)
