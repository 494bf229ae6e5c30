"""Scores and evaluations: strict precision, recall and F1 over sets of (span, type); stored as JSON.

Every entity belongs to one class of each breakdown, so the classes of a breakdown add up to the whole:

    types      by type
    depths     by the number of entities that contain it, as in statistics.depths_of; 0 is in no other
    lengths    by the number of tokens
    nesting    flat: alone · outer: contains another and is in none · inner: in another, or over the same tokens
    familiar   seen: train has an entity of that type with the same words · unseen: it does not

Depth and nesting depend on the other entities of the same side: gold for gold entities, the prediction for predicted
ones. Precision is the share of the predicted entities of a class that are in gold, and recall the share of the gold
entities of a class that were predicted, in both cases at any depth.

`same_depth` are depths as the paper scores them: for precision, an entity is correct only if gold has it at the same
depth. For several depths together, recall asks for the same depth too (`Group.score_as_paper`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from nestag.data.sentence import Entity
from nestag.inspect.table_forms import Tabular
from nestag.inspect.tables import Table


class Score(NamedTuple):
    """The counts of a group of entities, with precision, recall and F1; a share of nothing is 0.

    `correct` counts predicted entities and `found` gold entities. They differ only in groups that depend on the other
    entities: an entity may be at depth 1 in the prediction and at depth 0 in gold.

    >>> Score.of(correct=3, predicted=4, gold=6).f1
    0.6
    """

    correct: int = 0  # predicted entities that are in gold
    predicted: int = 0
    gold: int = 0
    found: int = 0  # gold entities that were predicted

    @classmethod
    def of(cls, correct: int, predicted: int, gold: int) -> Score:
        """Return the score of a group that does not depend on other entities."""
        return cls(correct, predicted, gold, correct)

    @property
    def precision(self) -> float:
        """The share of the predicted entities that are correct."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold entities that were predicted."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, computed with a single rounding."""
        both = self.correct * self.gold + self.found * self.predicted
        return 2 * self.correct * self.found / both if both else 0.0


def total(scores: Iterable[Score]) -> Score:
    """Return the score of several groups together.

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
    """Return the means over all types, in gold or only predicted.

    >>> macro({"A": Score.of(1, 1, 1), "B": Score.of(0, 1, 1)}).f1
    0.5
    """
    scores = types.values() or (Score(),)
    return Means(fmean(s.precision for s in scores), fmean(s.recall for s in scores), fmean(s.f1 for s in scores))


def score(gold: Iterable[Collection[Entity]], predicted: Iterable[Collection[Entity]]) -> Score:
    """Return the score of all types together; order and duplicates within a sentence do not matter.

    >>> score([[Entity(0, 1, "A"), Entity(0, 2, "B")]], [[Entity(0, 2, "B")]]).recall
    0.5
    """
    pairs = zip(map(set, gold), map(set, predicted), strict=True)
    return total(Score.of(len(truth & guess), len(guess), len(truth)) for truth, guess in pairs)


ALL, MACRO = "all", "macro"
FLAT, OUTER, INNER = "flat", "outer", "inner"
SEEN, UNSEEN = "seen", "unseen"


class Group(NamedTuple):
    """A range of depths or lengths that are shown together."""

    name: str
    least: int
    most: int | None = None

    def holds(self, number: int) -> bool:
        """Return whether a depth or length is in the range."""
        return self.least <= number and (self.most is None or number <= self.most)

    def score(self, classes: Mapping[int, Score]) -> Score:
        """Return the score of all classes in the range."""
        return total(score for number, score in classes.items() if self.holds(number))

    def score_as_paper(self, classes: Mapping[int, Score]) -> Score:
        """Return the score of depths as the paper counts them: for several depths, recall asks for the same depth."""
        score = self.score(classes)
        return score if self.least == self.most else score._replace(found=score.correct)


SAME_DEPTH = "same depth"
DEPTHS = (Group("0", 0, 0), Group("1", 1, 1), Group("≥ 1", 1), Group("≥ 2", 2))
"""The groups of depths, as in the paper's table."""

LENGTHS = (Group("1", 1, 1), Group("2–4", 2, 4), Group("≥ 2", 2), Group("5–9", 5, 9), Group("≥ 10", 10))
"""The groups of lengths, as in the paper's table."""

PAPER_LENGTH = "paper length"
PAPER_LENGTHS = tuple(Group(name, least + 1, None if most is None else most + 1) for name, least, most in LENGTHS)
"""The same as the authors' code counts them: each group is one token longer than its name."""

_GROUPED = (
    ("depths", "depth", DEPTHS),
    ("lengths", "length", LENGTHS),
    ("lengths", PAPER_LENGTH, PAPER_LENGTHS),
    ("same_depth", SAME_DEPTH, DEPTHS),
)
"""Breakdowns by number, the first word of their figures, and the groups of these."""


class Interval(NamedTuple):
    """A 95% confidence interval."""

    low: float
    high: float


class Intervals(NamedTuple):
    """The intervals of precision, recall and F1."""

    precision: Interval
    recall: Interval
    f1: Interval


class Comparison(NamedTuple):
    """The F1 of two systems on the same sentences."""

    first: float
    second: float
    difference: float  # first minus second
    interval: Interval  # of the difference
    bootstrap: float  # twice the share of draws on the other side of 0, never 0
    randomization: float  # the share of random swaps with a difference as large


class Confused(NamedTuple):
    """How often spans of one type in gold have another type in the prediction; None means no entity."""

    gold: str | None
    predicted: str | None
    times: int


@dataclass(frozen=True)
class Shown:
    """A sentence with its gold and predicted entities."""

    id: str | None
    tokens: tuple[str, ...]
    gold: tuple[Entity, ...]
    predicted: tuple[Entity, ...]


KINDS = ("type", "boundary", "boundary and type", "missed", "spurious")
"""The kinds of mistakes, defined in mistakes.py."""


@dataclass(frozen=True)
class Mistakes:
    """Counts of mistakes by kind, confusions of types, and the worst sentences."""

    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    nesting: int = 0  # entities with the right span and type at another depth than in gold
    confusion: tuple[Confused, ...] = ()  # of types over the same span, including correct ones
    worst: tuple[Shown, ...] = ()  # sentences with the most mistakes, the worst first


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """The result of an evaluation."""

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
    documents: int = 0  # drawn for the intervals; 0 if sentences were drawn
    comparison: Comparison | None = None  # with another prediction, if there is one

    def table(self) -> Table:
        """Return the averages and the most frequent types."""
        from nestag.evaluation.display import summary  # which imports this module

        return summary(self)

    def figures(self) -> dict[str, Score]:
        """Return every score by name: `all`, `type PER`, `depth ≥ 1`, `length 2–4`, `flat`, `seen`."""
        figures = {ALL: self.overall, **{f"type {kind}": score for kind, score in self.types.items()}}
        for breakdown, word, groups in _GROUPED:
            for group in groups:
                score = group.score_as_paper if breakdown == "same_depth" else group.score
                figures[f"{word} {group.name}"] = score(getattr(self, breakdown))
        return figures | self.nesting | self.familiar


def figures_of(breakdown: str, member: str | int) -> tuple[str, ...]:
    """Return the names of the figures that a class counts in.

    >>> figures_of("depths", 2), figures_of("types", "PER")
    (('depth ≥ 1', 'depth ≥ 2'), ('type PER',))
    """
    if breakdown in ("overall", "types"):
        return (ALL if breakdown == "overall" else f"type {member}",)
    if isinstance(member, str):
        return (member,)
    named = ((word, group) for name, word, groups in _GROUPED if name == breakdown for group in groups)
    return tuple(f"{word} {group.name}" for word, group in named if group.holds(member))
