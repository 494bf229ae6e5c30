"""Stratified splits: a corpus is divided into train, dev and test by document, with every type in proportion.

Documents are placed one by one, those with the rarest type first and among them the fullest, each into the split where
it brings the counts of sentences and of every type nearest to what its share asks for (the smallest chi-square); then
single documents move while that brings the counts nearer still. The seed decides among equals, so that the same corpus
and seed always give the same splits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, inf
from pathlib import Path
from random import Random
from typing import Literal

from nestag.data.document import document_of
from nestag.data.report import Report
from nestag.data.segment import DEFAULT
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError, either, named
from nestag.formats.corpus import CorpusFile, CorpusSource, path_of, report_of, reread
from nestag.formats.files import writing_together
from nestag.formats.folders import SPLITS
from nestag.formats.format import Format
from nestag.formats.registry import format_named

_PIECE = re.compile(r"(?<=.)([@~]\d+)+\Z")
MOST_ROUNDS = 20  # how often all documents are tried in another split
NOISE = 1e-9  # gains below this are those of rounding
UnitName = Hashable
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

    def add(self, other: Load, sign: int = 1) -> None:
        """Add another load, or subtract it (-1)."""
        self.documents += sign * other.documents
        self.sentences += sign * other.sentences
        self.tokens += sign * other.tokens
        for kind, count in other.types.items():
            self.types[kind] += sign * count


@dataclass(frozen=True)
class Division:
    """What each split of a corpus holds, and what reading and writing changed."""

    splits: dict[str, Load]
    report: Report


def split(
    source: CorpusSource,
    output: str | Path,
    *,
    shares: Sequence[float] = (70, 15, 15),
    seed: int = 0,
    by: Literal["document", "sentence"] = "document",
    to: str | None = None,
) -> Division:
    """Split a corpus into train, dev and test with every type in proportion, and write them into a folder.

    A document stays whole unless you split `by` sentence. The format is the source's, or the one named by `to`;
    sentences that are not a file are written as JSON Lines.
    """
    check_shares(shares, str(shares))
    corpus = reread(source)
    kept = corpus.format if isinstance(corpus, CorpusFile) else format_named("jsonl")
    goal = format_named(to) if to else kept
    name = path_of(corpus, "source")
    unit = by_document if by == "document" else by_sentence
    loads = loads_of(corpus, unit)
    try:
        places = stratified(loads, shares, seed)
    except DataError as error:
        instead = f", or split by sentence ({named('by', 'sentence')})" if by == "document" else ""
        raise InputError(f"{error}{instead}", name) from None
    report = report_of(corpus)
    targets = _targets(Path(output), name if isinstance(corpus, CorpusFile) else "", goal, to is None)
    with writing_together(output) as folder:
        for number, target in enumerate(targets):
            if shares[number]:
                part = (s for place, s in enumerate(corpus) if places[unit(s, place)] == number)
                goal.write(part, folder / target.name, getattr(corpus, "options", DEFAULT), report)
    report.rename(str(folder), str(output))
    splits: dict[str, Load] = {
        name: sum_of(loads[key] for key, place in places.items() if place == number)
        for number, name in enumerate(SPLITS)
    }
    return Division(splits, report)


def check_shares(shares: Sequence[float], shown: str) -> None:
    """Refuse shares that are not three numbers of 0 or more, with a sum above 0."""
    if len(shares) != len(SPLITS) or not all(share >= 0 for share in shares) or not 0 < sum(shares) < inf:
        example = either("(70, 15, 15)", "70/15/15")
        raise InputError(f"{shown!r} is not three shares; write them like {example}", named("shares"))


def _targets(folder: Path, source: str, format: Format, same: bool) -> list[Path]:
    """The files to write, named like the source if its format is kept."""
    lower = source.lower()
    packed = ".gz" if lower.endswith(".gz") else ""
    plain = lower.removesuffix(".gz")
    default = format.suffixes[0] if format.suffixes else ""
    suffix = next((end for end in format.suffixes if plain.endswith(end)), default) if same else default
    is_folder = bool(format.folder) and bool(source) and Path(source).is_dir()
    targets = [folder / (name if same and is_folder else f"{name}{suffix}{packed}") for name in SPLITS]
    for target in targets:
        if source and target.exists() and target.samefile(source):
            raise InputError(f"a split of it would overwrite it; choose another folder ({named('output')})", source)
    return targets


def by_document(sentence: Sentence, number: int) -> UnitName:
    """The document of a sentence; one without a document is taken by itself.

    Where nestag had to tell pieces or copies of one document apart (`x@2`, `x~2`), they stay together.

    >>> by_document(Sentence(["a"], id="MEDLINE:931-4@2"), 0)
    'MEDLINE:931'
    """
    return _PIECE.sub("", document_of(sentence)) or number


def by_sentence(sentence: Sentence, number: int) -> UnitName:
    """Every sentence by itself."""
    return number


def loads_of(sentences: Iterable[Sentence], key: Callable[[Sentence, int], UnitName]) -> dict[UnitName, Load]:
    """What each document holds, in the order they first appear."""
    loads: dict[UnitName, Load] = {}
    for number, sentence in enumerate(sentences):
        loads.setdefault(key(sentence, number), Load(documents=1)).see(sentence)
    return loads


def stratified(loads: Mapping[UnitName, Load], shares: Sequence[float], seed: int = 0) -> dict[UnitName, int]:
    """The number of the split that each document goes into; a DataError if a split would stay empty.

    >>> loads = {name: Load(1, 10, 100, Counter(PER=4)) for name in "abcd"}
    >>> sorted(stratified(loads, [50, 25, 25]).values())
    [0, 0, 1, 2]
    """
    total = sum_of(loads.values())
    wholes = [share / fsum(shares) for share in shares]
    splits = [Load() for _ in shares]
    found: dict[UnitName, int] = {}
    keys = _rarest_first(loads, total, seed)
    for key in keys:
        costs = [_cost(loads[key], held, total, share) for held, share in zip(splits, wholes, strict=True)]
        found[key] = costs.index(min(costs))
        splits[found[key]].add(loads[key])
    for _ in range(MOST_ROUNDS):
        if not sum(_moved(key, loads[key], found, splits, total, wholes) for key in keys):
            break
    if any(share and not held.documents for share, held in zip(wholes, splits, strict=True)):
        raise DataError(
            f"the corpus has {len(loads):,} document(s) or sentence(s), too few or too uneven for the shares"
            f" {'/'.join(f'{share:g}' for share in shares)}; ask for fewer splits"
        )
    return {key: found[key] for key in loads}


def _moved(
    key: UnitName, load: Load, found: dict[UnitName, int], splits: list[Load], total: Load, wholes: Sequence[float]
) -> bool:
    """Try to move a document to a split where it brings the counts closer to the shares; true if it moved."""
    old = found[key]
    if splits[old].documents == 1:
        return False
    leaving = _cost(load, splits[old], total, wholes[old], sign=-1)
    costs = [_cost(load, held, total, share) for held, share in zip(splits, wholes, strict=True)]
    costs[old] = -leaving
    new = costs.index(min(costs))
    if leaving + costs[new] > -NOISE:
        return False
    splits[old].add(load, sign=-1)
    splits[new].add(load)
    found[key] = new
    return True


def sum_of(loads: Iterable[Load]) -> Load:
    """The sum of several loads."""
    total = Load()
    for load in loads:
        total.add(load)
    return total


def _rarest_first(loads: Mapping[UnitName, Load], total: Load, seed: int) -> list[UnitName]:
    """Documents by their rarest type, then by how much of it they hold; those without entities last."""
    keys = list(loads)
    Random(seed).shuffle(keys)  # noqa: S311 - for splits, not for secrets

    def rank(key: UnitName) -> tuple[float, str, int]:
        load = loads[key]
        if not load.types.total():
            return inf, "", -load.sentences
        rarest = min(+load.types, key=lambda kind: (total.types[kind], kind))
        return total.types[rarest], rarest, -load.types[rarest]

    return sorted(keys, key=rank)


def _cost(load: Load, held: Load, total: Load, share: float, sign: int = 1) -> float:
    """How much further from its share a split gets by taking a document, or losing it; below zero it gets nearer."""
    if not share:
        return inf
    cost = _chi_square(sign * load.sentences, held.sentences, total.sentences * share)
    for kind, count in load.types.items():
        cost += _chi_square(sign * count, held.types[kind], total.types[kind] * share)
    return cost


def _chi_square(added: int, held: int, wanted: float) -> float:
    """By how much (held - wanted)² / wanted grows when something is added."""
    return added * (added + 2 * (held - wanted)) / wanted if added else 0.0
