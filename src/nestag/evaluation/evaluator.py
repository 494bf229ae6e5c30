"""The evaluator: a stream of gold and predicted sentences -> an Evaluation.

Each entity is counted once by its *profile*: its class in every breakdown, and the group of its sentence. Scores are
sums over profiles. Neither the order of the entities nor that of the sentences matters.

Confidence intervals come from drawing documents if there are at least `FEWEST_DOCUMENTS`, and sentences otherwise.
Sentences are put into `GROUPS` groups by their words and groups are drawn, so that memory does not grow with the
corpus. A corpus of a few thousand sentences has nearly one group per sentence. A group with sentences of two documents
counts for one of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from nestag.data.arrays import Ints
from nestag.data.document import document_of
from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import Ledger
from nestag.evaluation.result import (
    ALL,
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
from nestag.evaluation.significance import COLUMNS, Counts, intervals
from nestag.inspect.statistics import depths_of

GROUPS = 2**14
PROFILES = 2**19
"""Maximum number of distinct profiles; beyond it, groups are merged in pairs."""

UNNAMED = 2**32
"""The number of a document without a name."""

FEWEST_DOCUMENTS = 5
"""With fewer documents, sentences are drawn."""

CORRECT, PREDICTED, GOLD, FOUND, SAME = range(COLUMNS + 1)
"""What is counted: the fields of Score, and correct entities at the same depth in gold and prediction."""

BREAKDOWNS = ("overall", "types", "depths", "lengths", "nesting", "familiar", "same_depth")
Class = tuple[str, str | int]
"""A breakdown and one of its classes."""


class Profile(NamedTuple):
    """The class of an entity in every breakdown, and the group of its sentence."""

    group: int
    type: str
    depth: int
    length: int
    nesting: str
    familiar: str  # empty without a training corpus

    def classes(self, column: int) -> Iterator[Class]:
        """Yield the classes in which an entity counts."""
        if column != SAME:
            yield from (("overall", 0), ("types", self.type), ("depths", self.depth), ("lengths", self.length))
            yield "nesting", self.nesting
            if self.familiar:
                yield "familiar", self.familiar
        if column != CORRECT:
            yield "same_depth", self.depth


def evaluate_pairs(pairs: Iterable[Pair], train: Iterable[Sentence] | None = None) -> Evaluation:
    """Evaluate a prediction; with the training corpus, score seen and unseen entities separately.

    >>> gold = Sentence(["the", "USA"], [Entity(0, 2, "GPE")])
    >>> evaluate_pairs([Pair(gold, gold)]).overall.f1
    1.0
    """
    evaluator = Evaluator(train)
    evaluator.see(pairs)
    return evaluator.result()


class Evaluator:
    """Counts of the sentences seen so far."""

    def __init__(self, train: Iterable[Sentence] | None = None) -> None:
        """Collect the entities of the training corpus, if there is one."""
        self._known = (
            None if train is None else {wording(sentence, entity) for sentence in train for entity in sentence.entities}
        )
        self._counters: list[Counter[Profile]] = [Counter() for _ in range(COLUMNS + 1)]
        self._documents: dict[int, int] = {}  # of each group
        self._groups = GROUPS
        self._ledger = Ledger()
        self._sentences = 0

    def see(self, pairs: Iterable[Pair]) -> None:
        """Evaluate more sentences."""
        for pair in pairs:
            self._see(pair)
            while sum(map(len, self._counters)) > PROFILES and self._groups > 1:
                self._merge_groups()

    def _see(self, pair: Pair) -> None:
        group, document = group_of(pair.gold.tokens) % self._groups, document_number(document_of(pair.gold))
        self._documents[group] = min(document, self._documents.get(group, UNNAMED))
        self._sentences += 1
        gold, predicted = self._profiles(pair.gold, group), self._profiles(pair.predicted, group)
        shared = gold.keys() & predicted.keys()
        columns = {
            CORRECT: [predicted[entity] for entity in shared],
            PREDICTED: predicted.values(),
            GOLD: gold.values(),
            FOUND: [gold[entity] for entity in shared],
            SAME: [predicted[entity] for entity in shared if predicted[entity].depth == gold[entity].depth],
        }
        for column, profiles in columns.items():
            self._counters[column].update(profiles)
        if len(shared) < max(len(gold), len(predicted)):
            self._ledger.see(pair)

    def _profiles(self, sentence: Sentence, group: int) -> dict[Entity, Profile]:
        """Return the profile of each entity, in canonical order."""
        entities, profiles = sentence.entities, {}
        rows = zip(entities, depths_of(entities), _containers(entities), strict=True)
        for entity, depth, is_container in rows:
            nesting = INNER if depth else OUTER if is_container else FLAT
            familiar = "" if self._known is None else SEEN if wording(sentence, entity) in self._known else UNSEEN
            profiles[entity] = Profile(group, entity.type, depth, entity.end - entity.start, nesting, familiar)
        return profiles

    def _merge_groups(self) -> None:
        """Halve the number of groups."""
        self._groups //= 2
        for column, counter in enumerate(self._counters):
            merged: Counter[Profile] = Counter()
            for profile, times in counter.items():
                merged[profile._replace(group=profile.group % self._groups)] += times
            self._counters[column] = merged
        documents = self._documents
        self._documents = {}
        for group, document in documents.items():
            group %= self._groups
            self._documents[group] = min(document, self._documents.get(group, UNNAMED))

    @property
    def documents(self) -> int:
        """The number of documents to draw; 0 if sentences are drawn."""
        count = len(set(self._documents.values()) - {UNNAMED})
        return count if count >= FEWEST_DOCUMENTS else 0

    def counts(self) -> Counts:
        """Return the counts over all entities by document or group of sentences, for significance.compare."""
        table = self._table()
        return Counts(table.units, table.rows(table.places.get(("overall", 0), np.zeros(0, np.int64))))

    def result(self) -> Evaluation:
        """Return the evaluation of all sentences seen so far."""
        table = self._table()
        scores: dict[str, dict[Any, Score]] = {name: {} for name in BREAKDOWNS}
        for breakdown, member in sorted(table.places):
            scores[breakdown][member] = table.score(table.places[breakdown, member])
        return Evaluation(
            sentences=self._sentences,
            overall=scores["overall"].get(0, Score()),
            types=scores["types"],
            depths=scores["depths"],
            lengths=scores["lengths"],
            nesting=dict.fromkeys((FLAT, OUTER, INNER), Score()) | scores["nesting"],
            familiar=({} if self._known is None else dict.fromkeys((SEEN, UNSEEN), Score())) | scores["familiar"],
            same_depth=scores["same_depth"],
            mistakes=self._mistakes(scores["types"]),
            intervals=_intervals(table),
            documents=self.documents,
        )

    def _table(self) -> _CountTable:
        documents = self._documents
        drawn = {
            group: document if document != UNNAMED else UNNAMED + 1 + group for group, document in documents.items()
        }
        unit_of = drawn if self.documents else {group: group for group in documents}
        units = sorted(set(unit_of.values()))
        row_of = {unit: row for row, unit in enumerate(units)}
        cells: list[int] = []
        times: list[int] = []
        places: dict[Class, list[int]] = defaultdict(list)
        for column, counter in enumerate(self._counters):
            for profile, count in counter.items():
                for member in profile.classes(column):
                    places[member].append(len(cells))
                cells.append(row_of[unit_of[profile.group]] * COLUMNS + column % SAME)
                times.append(count)
        arrays = {member: np.array(entries, np.int64) for member, entries in places.items()}
        return _CountTable(np.array(units, np.int64), np.array(cells, np.int64), np.array(times, np.int64), arrays)

    def _mistakes(self, types: Mapping[str, Score]) -> Mistakes:
        other_depth = self._counters[CORRECT].total() - self._counters[SAME].total()
        right = [Confused(kind, kind, score.correct) for kind, score in types.items() if score.correct]
        wrong = [Confused(gold, predicted, times) for (gold, predicted), times in self._ledger.confusion.items()]
        confusion = sorted(
            [*right, *wrong], key=lambda cell: (cell.gold is None, cell.gold or "", cell.predicted or "")
        )
        kinds = Mistakes().kinds | dict(self._ledger.kinds)
        return Mistakes(kinds, other_depth, tuple(confusion), self._ledger.worst())


class _CountTable(NamedTuple):
    """All counts as arrays: cell (unit and column) and number of each entry, and the entries of each class."""

    units: Ints
    cells: Ints
    times: Ints
    places: Mapping[Class, Ints]

    def rows(self, places: Ints) -> Ints:
        """Return the counts of some entries: units x columns."""
        counts = np.zeros(len(self.units) * COLUMNS, dtype=np.int64)
        np.add.at(counts, self.cells[places], self.times[places])
        return counts.reshape(-1, COLUMNS)

    def score(self, places: Ints) -> Score:
        """Return the score of some entries."""
        counts = np.bincount(self.cells[places] % COLUMNS, self.times[places], COLUMNS)
        return Score(*map(int, counts.tolist()))


def _intervals(table: _CountTable) -> dict[str, Intervals]:
    """Return the confidence intervals of every figure."""
    entries: dict[str, list[Ints]] = {ALL: [np.zeros(0, np.int64)]}
    types: set[str] = set()
    for breakdown, member in sorted(table.places):  # a fixed order, for sums of fractions depend on it
        for name in figures_of(breakdown, member):
            entries.setdefault(name, []).append(table.places[breakdown, member])
            types.update([name] if breakdown == "types" else [])
    several = {f"{SAME_DEPTH} {group.name}" for group in DEPTHS if not group.single}

    def counts() -> Iterator[tuple[str, Ints]]:
        for name, places in entries.items():
            rows = table.rows(np.concatenate(places))
            if name in several:  # as in Group.score_as_paper
                rows[:, FOUND] = rows[:, CORRECT]
            yield name, rows

    return intervals(counts(), types, len(table.units))


def _containers(entities: Sequence[Entity]) -> list[bool]:
    """Return whether each entity contains a later one; entities are in canonical order.

    >>> _containers([Entity(0, 3, "A"), Entity(1, 2, "B"), Entity(4, 5, "C")])
    [True, False, False]
    """
    flags: list[bool] = []
    first_end: float = float("inf")  # of the entities behind
    for entity in reversed(entities):
        flags.append(first_end <= entity.end)
        first_end = min(first_end, entity.end)
    return flags[::-1]


def wording(sentence: Sentence, entity: Entity) -> tuple[str, tuple[str, ...]]:
    """Return the type and the words of an entity."""
    return entity.type, sentence.tokens[entity.start : entity.end]


def group_of(tokens: Sequence[str]) -> int:
    """Return the group of a sentence, which depends on its words alone.

    >>> group_of(["the", "USA"]) == group_of(("the", "USA")) != group_of(["the", "UK"])
    True
    """
    return crc32("\x1f".join(tokens).encode("utf-8", "surrogatepass")) % GROUPS


def document_number(name: str) -> int:
    """Return a number for a document; `UNNAMED` without a name."""
    return crc32(name.encode("utf-8", "surrogatepass")) if name else UNNAMED
