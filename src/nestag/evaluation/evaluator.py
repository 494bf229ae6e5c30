"""The evaluator: a stream of gold and predicted sentences -> an Evaluation.

Every entity belongs to one class of each breakdown. The counts of each class are kept by group of sentences, because
confidence intervals draw groups. Neither the order of the entities nor that of the sentences matters.

Confidence intervals come from drawing documents if there are at least `FEWEST_DOCUMENTS`, and sentences otherwise.
Sentences are put into `GROUPS` groups by their words, so that memory does not grow with the corpus. A corpus of a few
thousand sentences has nearly one group per sentence. A group with sentences of two documents counts for one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Ints
from nestag.data.document import document_of
from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.matching import Pair
from nestag.evaluation.mistakes import MistakeCounter
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
    Mistakes,
    Score,
    figures_of,
)
from nestag.evaluation.significance import COLUMNS, Counts, intervals
from nestag.inspect.statistics import depths_of

GROUPS = 2**14

UNNAMED = 2**32
"""The number of a document without a name."""

FEWEST_DOCUMENTS = 5
"""With fewer documents, sentences are drawn."""

CORRECT, PREDICTED, GOLD, FOUND = range(COLUMNS)
"""What is counted: the fields of Score."""

Class = tuple[str, str | int]
"""A breakdown and one of its classes."""


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
        self._counts: dict[Class, NDArray[np.int32]] = defaultdict(lambda: np.zeros((GROUPS, COLUMNS), np.int32))
        self._documents: dict[int, int] = {}  # of each group
        self._mistakes = MistakeCounter()
        self._sentences = 0
        self._other_depth = 0  # correct entities at another depth than in gold

    def see(self, pairs: Iterable[Pair]) -> None:
        """Evaluate more sentences."""
        for pair in pairs:
            group, name = group_of(pair.gold.tokens), document_of(pair.gold)
            document = crc32(name.encode("utf-8", "surrogatepass")) if name else UNNAMED
            self._documents[group] = min(document, self._documents.get(group, UNNAMED))
            self._sentences += 1
            gold, predicted = self._classes(pair.gold), self._classes(pair.predicted)
            for entity, classes in gold.items():
                self._count(classes, group, (GOLD, FOUND) if entity in predicted else (GOLD,))
            for entity, (*classes, same_depth) in predicted.items():
                is_correct = entity in gold
                has_same_depth = is_correct and gold[entity][-1] == same_depth
                self._count(classes, group, (PREDICTED, CORRECT) if is_correct else (PREDICTED,))
                self._count([same_depth], group, (PREDICTED, CORRECT) if has_same_depth else (PREDICTED,))
                self._other_depth += is_correct and not has_same_depth
            if gold.keys() != predicted.keys():
                self._mistakes.see(pair)

    def _count(self, classes: Iterable[Class], group: int, columns: Iterable[int]) -> None:
        for member in classes:
            for column in columns:
                self._counts[member][group, column] += 1

    def _classes(self, sentence: Sentence) -> dict[Entity, list[Class]]:
        """Return the classes of each entity, one of each breakdown and `same_depth` last."""
        entities = sentence.entities
        classes: dict[Entity, list[Class]] = {}
        for entity, depth, is_container in zip(entities, depths_of(entities), _containers(entities), strict=True):
            classes[entity] = [
                ("overall", 0),
                ("types", entity.type),
                ("depths", depth),
                ("lengths", entity.end - entity.start),
                ("nesting", INNER if depth else OUTER if is_container else FLAT),
            ]
            if self._known is not None:
                classes[entity].append(("familiar", SEEN if wording(sentence, entity) in self._known else UNSEEN))
            classes[entity].append(("same_depth", depth))
        return classes

    @property
    def documents(self) -> int:
        """The number of documents to draw; 0 if sentences are drawn."""
        count = len(set(self._documents.values()) - {UNNAMED})
        return count if count >= FEWEST_DOCUMENTS else 0

    def counts(self) -> Counts:
        """Return the counts over all entities by document or group of sentences, for significance.compare."""
        return self._counts_of([("overall", 0)])

    def _counts_of(self, classes: Iterable[Class]) -> Counts:
        """Return the counts of some classes together, by document or group of sentences."""
        groups = sorted(self._documents)
        units = np.array(groups, np.int64)
        if self.documents:
            documents = (self._documents[group] for group in groups)
            units = np.array([UNNAMED + 1 + g if d == UNNAMED else d for g, d in zip(groups, documents, strict=True)])
        units, rows_of = np.unique(units, return_inverse=True)
        rows = np.zeros((len(units), COLUMNS), np.int64)
        for member in classes:
            if member in self._counts:
                np.add.at(rows, rows_of, self._counts[member][groups])
        return Counts(units, rows)

    def result(self) -> Evaluation:
        """Return the evaluation of all sentences seen so far."""
        scores: dict[str, dict[Any, Score]] = defaultdict(dict)
        figures: dict[str, list[Class]] = {ALL: []}
        for breakdown, member in sorted(self._counts):  # a fixed order, for sums of fractions depend on it
            scores[breakdown][member] = Score(*self._counts[breakdown, member].sum(axis=0).tolist())
            for name in figures_of(breakdown, member):
                figures.setdefault(name, []).append((breakdown, member))
        types = {name for name, classes in figures.items() if classes and classes[0][0] == "types"}
        return Evaluation(
            sentences=self._sentences,
            overall=scores["overall"].get(0, Score()),
            types=scores["types"],
            depths=scores["depths"],
            lengths=scores["lengths"],
            nesting=dict.fromkeys((FLAT, OUTER, INNER), Score()) | scores["nesting"],
            familiar=({} if self._known is None else dict.fromkeys((SEEN, UNSEEN), Score())) | scores["familiar"],
            same_depth=scores["same_depth"],
            mistakes=self._all_mistakes(scores["types"]),
            intervals=intervals(self._rows(figures), types, len(self._counts_of([]).units)),
            documents=self.documents,
        )

    def _rows(self, figures: Mapping[str, Sequence[Class]]) -> Iterator[tuple[str, Ints]]:
        """Yield the counts of each figure, units x columns."""
        several = {f"{SAME_DEPTH} {group.name}" for group in DEPTHS if group.least != group.most}
        for name, classes in figures.items():
            rows = self._counts_of(classes).rows
            if name in several:  # as in Group.score_as_paper
                rows[:, FOUND] = rows[:, CORRECT]
            yield name, rows

    def _all_mistakes(self, types: Mapping[str, Score]) -> Mistakes:
        right = [Confused(kind, kind, score.correct) for kind, score in types.items() if score.correct]
        wrong = [Confused(*kinds, times) for kinds, times in self._mistakes.confusion.items()]
        confusion = sorted([*right, *wrong], key=lambda row: (row.gold is None, row.gold or "", row.predicted or ""))
        return Mistakes(dict(self._mistakes.kinds), self._other_depth, tuple(confusion), self._mistakes.worst())


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
