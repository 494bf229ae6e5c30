"""What an evaluation finds: counts in all and in parts, intervals, mistakes. Plain values, kept as JSON.

Every entity belongs to one class of each breakdown, so the classes of a breakdown add up to the whole:

    types      by type
    depths     by how many entities contain it, counted as in statistics.depths_of: 0 is in no other
    lengths    by its number of tokens
    nesting    flat: alone · outer: holds another and is in none · inner: in another, or over the same tokens
    familiar   seen: train has an entity of that type with the same words · unseen: it has not

Depth and nesting depend on the other entities of the same set: a predicted entity has those of the prediction, a gold
one those of gold. So precision asks of the predicted entities of a class which are gold, at whatever depth, and recall
asks of the gold entities of a class which were predicted, at whatever depth.

`same_depth` are the depths as the paper scores them: for precision, an entity is right only if it is gold at the
very depth it is predicted at. Those do not add up to the whole. Of several depths together the paper's recall asks for
the same depth as well (`Group.score_as_paper`); its printed figures fit no other reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nestag.data import Entity
from nestag.evaluation.score import Score, total

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
