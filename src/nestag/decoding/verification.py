"""Verification: the tagger proposes spans, a head that sees whole spans judges them, and what is probable stays.

    propose_entities  the best valid labels, plain and with labels that speak for entities lowered or raised, and the
                      near misses of the plain ones -> spans
    JudgeSpans        spans -> a logit for each type, from the vectors of the same reading (somebody else's work)
    probabilities     logits, and which of the decodings found an entity -> how probable it is
    verify_entities   entities that are probable enough; of two that cross, the more probable one stays

Every step is linear. The weights of a `Verification` are found on held-out sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.data.arrays import Bools, Floats, Floats32, Ints
from nestag.data.sentence import Sentence
from nestag.data.validation import setting
from nestag.decoding.decoder import decoder_of
from nestag.decoding.entities import EntityTable, as_table, join_entities
from nestag.decoding.scores import Scores, Search
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import SettingError

BIASES = (0.0, -1.5)
"""How much less the labels of a word outside all entities count in each decoding that proposes; the first is plain."""

NEAR_MISSES = np.array(
    [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1), (-1, 1), (1, -1), (-2, 0), (0, 2), (2, 0), (0, -2)]
)
"""How far the ends of a near miss are from those of a span; the first is the span itself."""


@dataclass(frozen=True)
class Verification:
    """How probable a proposed entity is: a logistic model of its logit and of the decodings that found it."""

    threshold: float = setting(minimum=0, maximum=1, help="minimum probability of an entity")
    bias: float = setting(help="intercept of the logistic model")
    logit: float = setting(help="weight of the head's logit")
    biases: tuple[float, ...] = setting(help="biases of the decodings that propose entities")
    found: tuple[float, ...] = setting(help="weight of each of these decodings that found the entity")

    def __post_init__(self) -> None:
        """Refuse decodings without weights."""
        if len(self.biases) != len(self.found) or not self.biases:
            raise SettingError(
                f"biases are {self.biases} and found is {self.found}; give as many, one at least", "verification"
            )

    def probabilities(self, logits: Floats32, found: Bools) -> Floats:
        """How probable entities are: spans x types."""
        votes = np.tensordot(np.array(self.found), found, axes=1)
        return 1 / (1 + np.exp(-np.clip(self.bias + self.logit * logits.astype(np.float64) + votes, -500, 500)))


class SpanPlaces(NamedTuple):
    """Spans among words that stand one after the other, as a head for spans takes them."""

    first: Ints  # words
    last: Ints
    opens: Bools  # whether a span begins its sentence
    closes: Bools  # whether it ends its sentence


JudgeSpans = Callable[[SpanPlaces], Floats32]
"""Gives the logits of spans, of which there is one at least: spans x types."""


class Proposals(NamedTuple):
    """Different spans of a batch, by their place, and the decodings that found entities there."""

    start: Ints  # of the words of all sentences
    end: Ints
    found: Bools  # decodings x spans x types
    lengths: Ints
    types: tuple[str, ...]

    @property
    def places(self) -> SpanPlaces:
        """The spans for a judge."""
        ends = np.cumsum(self.lengths)
        begins = np.isin(self.start, ends - self.lengths)
        return SpanPlaces(self.start, self.end - 1, begins, np.isin(self.end, ends))


def propose_entities(
    vocabulary: Vocabulary, scores: Scores, search: Search, biases: Sequence[float] = BIASES
) -> Proposals:
    """The spans of the entities that some decoding finds, and the near misses of the first."""
    pieces = list(scores.pieces())
    tables = [join_entities([_found(vocabulary, piece, bias, search) for piece in pieces]) for bias in biases]
    first, longest = scores.first, int(scores.lengths.max(initial=0)) + 1
    keys = [(table.start + first[table.sentence]) * longest + table.end - table.start for table in tables]
    spans = np.unique(np.concatenate([*keys, _near_misses(tables[0], scores, longest)]))
    start, width = np.divmod(spans, longest)
    found = np.zeros((len(biases), len(spans), len(tables[0].types)), dtype=bool)
    for decoding, (table, key) in enumerate(zip(tables, keys, strict=True)):
        found[decoding, np.searchsorted(spans, key), table.type] = True
    return Proposals(start, start + width, found, scores.lengths, tables[0].types)


def _near_misses(table: EntityTable, scores: Scores, longest: int) -> Ints:
    """The spans beside those of a table that lie in the same sentence, as first word x longest + words."""
    start = np.add.outer(NEAR_MISSES[:, 0], table.start)  # misses x entities
    end = np.add.outer(NEAR_MISSES[:, 1], table.end)
    inside = (start >= 0) & (start < end) & (end <= scores.lengths[table.sentence])
    keys: Ints = ((start + scores.first[table.sentence]) * longest + end - start)[inside]
    return keys


def judged(proposals: Proposals, judge: JudgeSpans) -> Floats32:
    """The logits of proposed spans: spans x types."""
    if not len(proposals.start):
        return np.zeros((0, len(proposals.types)), dtype=np.float32)
    return judge(proposals.places)


def verify_entities(proposals: Proposals, logits: Floats32, by: Verification) -> EntityTable:
    """The entities that stay, with their probabilities; they are nested or disjoint."""
    table = likely_entities(proposals, logits, by, by.threshold)
    assert table.confidence is not None
    return table.at(without_crossing(table, table.confidence))


def likely_entities(proposals: Proposals, logits: Floats32, by: Verification, floor: float) -> EntityTable:
    """Every proposed entity that is at least as probable as the floor, in canonical order; some may cross."""
    probability = by.probabilities(logits, proposals.found)
    span, kind = np.nonzero(probability >= floor)
    lengths, confidence = proposals.lengths, probability[span, kind]
    return as_table(proposals.start[span], proposals.end[span], kind, proposals.types, lengths, confidence)


def without_crossing(table: EntityTable, value: Floats) -> Bools:
    """Return which entities stay if, from the highest value down, each one that stays drops those that it crosses."""
    crossed: dict[int, list[int]] = {}
    for one, other in zip(*(rows.tolist() for rows in _crossing(table)), strict=True):
        crossed.setdefault(one, []).append(other)
        crossed.setdefault(other, []).append(one)
    kept = np.ones(len(value), dtype=bool)
    for row in sorted(crossed, key=lambda row: (-value[row], row)):
        if kept[row]:
            kept[crossed[row]] = False
    return kept


def _crossing(table: EntityTable) -> tuple[Ints, Ints]:
    """The pairs of entities that cross, by their rows; the table is in canonical order."""
    rows = np.arange(len(table.start))
    pairs = [(rows[:0], rows[:0])]
    ahead = 0
    while True:  # an entity looks at those that begin inside it, one further in every round
        ahead += 1
        rows = rows[rows + ahead < len(table.start)]
        other = rows + ahead
        inside = (table.sentence[rows] == table.sentence[other]) & (table.start[other] < table.end[rows])
        rows, other = rows[inside], other[inside]
        if not rows.size:
            one, two = (np.concatenate(column) for column in zip(*pairs, strict=True))
            return one, two
        cross = (table.start[rows] < table.start[other]) & (table.end[rows] < table.end[other])
        pairs.append((rows[cross], other[cross]))


def _found(vocabulary: Vocabulary, scores: Scores, bias: float, search: Search) -> EntityTable:
    """The entities of the best labels where those outside all entities count less."""
    decoder = decoder_of(vocabulary)
    n, u = _outside(vocabulary)
    biased = scores._replace(n=scores.n - bias * n, u=scores.u - bias * u) if bias else scores
    table = decoder.search(biased, search)
    return decoder.repair(biased.chosen(), "first") if table is None else table


@lru_cache(maxsize=8)
def _outside(vocabulary: Vocabulary) -> tuple[Floats32, Floats32]:
    """1 at the n and u of a word in the middle of a sentence without entities, 0 at others."""
    label = vocabulary.encode(Sentence(["a", "b", "c"]))[1]
    n = np.array([one == label.n for one in vocabulary.n], dtype=np.float32)
    u = np.array([one == label.u for one in vocabulary.u], dtype=np.float32)
    return n, u
