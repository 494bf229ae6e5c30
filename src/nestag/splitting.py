"""A corpus into training, development and test splits: whole documents, and every type in its share.

Documents are placed one by one, those with the rarest type first and among them the fullest, each into the split where
it brings the counts of sentences and of every type nearest to what its share asks for (the smallest chi-square). The
seed decides among equals, so that the same corpus and seed always give the same splits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random

from nestag.corpora.document import document_of
from nestag.data import Sentence
from nestag.errors import DataError

SPLITS = ("train", "dev", "test")
Key = Hashable
"""What stays together: the name of a document, or the number of a sentence."""


@dataclass
class Load:
    """What a document, or a split, holds."""

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    types: Counter[str] = field(default_factory=Counter)

    def see(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.tokens += len(sentence)
        self.types.update(entity.type for entity in sentence.entities)

    def add(self, other: Load) -> None:
        """Take in what another one holds."""
        self.documents += other.documents
        self.sentences += other.sentences
        self.tokens += other.tokens
        self.types.update(other.types)


def by_document(sentence: Sentence, number: int) -> Key:
    """The document of a sentence; one without a document is taken by itself."""
    return document_of(sentence) or number


def by_sentence(sentence: Sentence, number: int) -> Key:
    """Every sentence by itself."""
    return number


def loads_of(sentences: Iterable[Sentence], key: Callable[[Sentence, int], Key]) -> dict[Key, Load]:
    """What each document holds, in the order they first appear."""
    loads: dict[Key, Load] = {}
    for number, sentence in enumerate(sentences):
        loads.setdefault(key(sentence, number), Load(documents=1)).see(sentence)
    return loads


def stratified(loads: Mapping[Key, Load], shares: Sequence[float], seed: int = 0) -> dict[Key, int]:
    """The number of the split that each document goes into; a DataError if a split would stay empty.

    >>> loads = {name: Load(1, 10, 100, Counter(PER=4)) for name in "abcd"}
    >>> sorted(stratified(loads, [50, 25, 25]).values())
    [0, 0, 1, 2]
    """
    total = sum_of(loads.values())
    placed = [Load() for _ in shares]
    found: dict[Key, int] = {}
    wholes = [share / sum(shares) for share in shares]
    for key in _rarest_first(loads, total, seed):
        load = loads[key]
        costs = [_cost(load, held, total, share) for held, share in zip(placed, wholes, strict=True)]
        found[key] = costs.index(min(costs))
        placed[found[key]].add(load)
    empty = [place for place, share in enumerate(wholes) if share and not placed[place].documents]
    if empty:
        raise DataError(
            f"the corpus has {len(loads):,} document(s), too few or too uneven for the shares"
            f" {'/'.join(f'{share:g}' for share in shares)}; split by sentence instead, or ask for fewer splits"
        )
    return {key: found[key] for key in loads}


def sum_of(loads: Iterable[Load]) -> Load:
    """All of them together."""
    total = Load()
    for load in loads:
        total.add(load)
    return total


def _rarest_first(loads: Mapping[Key, Load], total: Load, seed: int) -> list[Key]:
    """Documents by their rarest type, then by how much of it they hold; those without entities last."""
    keys = list(loads)
    Random(seed).shuffle(keys)  # noqa: S311 - for splits, not for secrets

    def rank(key: Key) -> tuple[float, str, int]:
        load = loads[key]
        if not load.types:
            return inf, "", -load.sentences
        rarest = min(load.types, key=lambda kind: (total.types[kind], kind))
        return total.types[rarest], rarest, -load.types[rarest]

    return sorted(keys, key=rank)


def _cost(load: Load, held: Load, total: Load, share: float) -> float:
    """How much further from its share a split gets by taking a document; less than zero where it gets nearer."""
    if not share:
        return inf
    cost = _chi_square(load.sentences, held.sentences, total.sentences * share)
    return cost + sum(_chi_square(n, held.types[kind], total.types[kind] * share) for kind, n in load.types.items())


def _chi_square(added: int, held: int, wanted: float) -> float:
    """By how much (held - wanted)² / wanted grows when something is added."""
    return added * (added + 2 * (held - wanted)) / wanted
