"""Stratified splits: a corpus is divided into train, dev and test by document, with every type in proportion.

Documents are placed one by one, those with the rarest type first and among them the fullest, each into the split where
it brings the counts of sentences and of every type closest to its share (the smallest chi-square). Then single
documents move while that brings the counts closer still. The seed decides among equals, so that the same corpus and
seed always give the same splits.
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
from nestag.formats.folders import SPLITS, role_of
from nestag.formats.registry import Format, format_named
from nestag.inspect.statistics import ALL, by_frequency
from nestag.inspect.table_forms import Tabular
from nestag.inspect.tables import Row, Section, Table, percentage

_PIECE = re.compile(r"(?<=.)([@~]\d+)+\Z")
MOST_ROUNDS = 20  # attempts to move every document
NOISE = 1e-9  # smaller gains come from rounding
UnitName = Hashable
"""The name of a document, or the number of a sentence."""


@dataclass
class Load:
    """The contents of a document or a split."""

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


@dataclass(frozen=True, repr=False)
class Division(Tabular):
    """The contents of each split of a corpus, and what reading and writing changed."""

    splits: dict[str, Load]
    report: Report

    def table(self) -> Table:
        """Return what each split holds, and in percent."""
        loads, types = list(self.splits.values()), sum_of(self.splits.values()).types
        overview = (
            _split_row("documents", [load.documents for load in loads]),
            _split_row("sentences", [load.sentences for load in loads]),
            _split_row("tokens", [load.tokens for load in loads]),
            _split_row("entities", [load.types.total() for load in loads]),
        )
        by_type = tuple(_split_row(kind, [load.types[kind] for load in loads]) for kind in by_frequency(types))
        columns = ("", *self.splits, ALL, *(f"{name} %" for name in self.splits))
        return Table("Splits", columns, (Section("", overview), Section("entities of type", by_type)))


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
    sentences that are not a file are written as JSON Lines. A folder that has splits already is refused.
    """
    check_shares(shares, str(shares))
    corpus = reread(source)
    refuse_splits(Path(output))
    source_format = corpus.format if isinstance(corpus, CorpusFile) else format_named("jsonl")
    target_format = format_named(to) if to else source_format
    name = path_of(corpus, "source")
    unit = by_document if by == "document" else by_sentence
    loads = loads_of(corpus, unit)
    try:
        places = stratify(loads, shares, seed)
    except DataError as error:
        instead = f", or split by sentence ({named('by', 'sentence')})" if by == "document" else ""
        raise InputError(f"{error}{instead}", name) from None
    report = report_of(corpus)
    names = _file_names(name if isinstance(corpus, CorpusFile) else "", target_format, to is None)
    with writing_together(output) as folder:
        for number, file_name in enumerate(names):
            if shares[number]:
                sentences = (s for place, s in enumerate(corpus) if places[unit(s, place)] == number)
                target_format.write(sentences, folder / file_name, getattr(corpus, "options", DEFAULT), report)
    report.rename(str(folder), str(output))
    units = [[loads[key] for key, place in places.items() if place == number] for number in range(len(SPLITS))]
    return Division(dict(zip(SPLITS, map(sum_of, units), strict=True)), report)


def check_shares(shares: Sequence[float], shown: str) -> None:
    """Raise an InputError unless the shares are three numbers of 0 or more with a sum above 0."""
    if len(shares) != len(SPLITS) or not all(share >= 0 for share in shares) or not 0 < sum(shares) < inf:
        example = either("(70, 15, 15)", "70/15/15")
        raise InputError(f"{shown!r} is not three shares; write them like {example}", named("shares"))


def refuse_splits(folder: Path) -> None:
    """Raise an InputError if a folder has a train, dev or test file; none is overwritten or mixed with others."""
    names = sorted(child.name for child in folder.iterdir() if role_of(child)) if folder.is_dir() else []
    if names:
        remedy = f"choose an empty folder ({named('output')}) or delete these files first"
        raise InputError(f"the folder has splits already: {', '.join(names)}; {remedy}", str(folder))


def _file_names(source: str, format: Format, same: bool) -> list[str]:
    """Return the names of the files to write, which end like the source if its format is kept."""
    lower = source.lower()
    plain = lower.removesuffix(".gz")
    suffix = format.suffixes[0] if format.suffixes else ""
    if same:
        suffix = next((end for end in format.suffixes if plain.endswith(end)), suffix)
        if format.folder and source and Path(source).is_dir():
            return list(SPLITS)
    return [name + suffix + lower[len(plain) :] for name in SPLITS]


def by_document(sentence: Sentence, number: int) -> UnitName:
    """Return the document of a sentence, or the sentence's number if it has none.

    Pieces and copies of one document that nestag renamed (`x@2`, `x~2`) stay together.

    >>> by_document(Sentence(["a"], id="MEDLINE:931-4@2"), 0)
    'MEDLINE:931'
    """
    return _PIECE.sub("", document_of(sentence)) or number


def by_sentence(sentence: Sentence, number: int) -> UnitName:
    """Return the number of a sentence."""
    return number


def loads_of(sentences: Iterable[Sentence], key: Callable[[Sentence, int], UnitName]) -> dict[UnitName, Load]:
    """Return the contents of each document, in the order they first appear."""
    loads: dict[UnitName, Load] = {}
    for number, sentence in enumerate(sentences):
        loads.setdefault(key(sentence, number), Load(documents=1)).see(sentence)
    return loads


def stratify(loads: Mapping[UnitName, Load], shares: Sequence[float], seed: int = 0) -> dict[UnitName, int]:
    """Return the number of the split for each document, or raise a DataError if a split would stay empty.

    >>> loads = {name: Load(1, 10, 100, Counter(PER=4)) for name in "abcd"}
    >>> sorted(stratify(loads, [50, 25, 25]).values())
    [0, 0, 1, 2]
    """
    total = sum_of(loads.values())
    wholes = [share / fsum(shares) for share in shares]
    splits = [Load() for _ in shares]
    places: dict[UnitName, int] = {}
    keys = _rarest_first(loads, total, seed)
    for key in keys:
        costs = [_cost(loads[key], split, total, share) for split, share in zip(splits, wholes, strict=True)]
        places[key] = costs.index(min(costs))
        splits[places[key]].add(loads[key])
    for _ in range(MOST_ROUNDS):
        if not sum(_move(key, loads[key], places, splits, total, wholes) for key in keys):
            break
    if any(share and not split.documents for share, split in zip(wholes, splits, strict=True)):
        raise DataError(
            f"the corpus has {len(loads):,} document(s) or sentence(s), too few or too uneven for the shares"
            f" {'/'.join(f'{share:g}' for share in shares)}; ask for fewer splits"
        )
    return {key: places[key] for key in loads}


def _move(
    key: UnitName, load: Load, places: dict[UnitName, int], splits: list[Load], total: Load, wholes: Sequence[float]
) -> bool:
    """Move a document to a split where it brings the counts closer to the shares; return whether there is one."""
    old = places[key]
    if splits[old].documents == 1:
        return False
    leaving = _cost(load, splits[old], total, wholes[old], sign=-1)
    costs = [_cost(load, split, total, share) for split, share in zip(splits, wholes, strict=True)]
    costs[old] = -leaving
    new = costs.index(min(costs))
    if leaving + costs[new] > -NOISE:
        return False
    splits[old].add(load, sign=-1)
    splits[new].add(load)
    places[key] = new
    return True


def sum_of(loads: Iterable[Load]) -> Load:
    """Return the sum of several loads."""
    total = Load()
    for load in loads:
        total.add(load)
    return total


def _rarest_first(loads: Mapping[UnitName, Load], total: Load, seed: int) -> list[UnitName]:
    """Sort documents by their rarest type, then by how much of it they hold; those without entities come last."""
    keys = list(loads)
    Random(seed).shuffle(keys)  # noqa: S311 - for splits, not for secrets

    def rank(key: UnitName) -> tuple[float, str, int]:
        load = loads[key]
        if not load.types.total():
            return inf, "", -load.sentences
        rarest = min(+load.types, key=lambda kind: (total.types[kind], kind))
        return total.types[rarest], rarest, -load.types[rarest]

    return sorted(keys, key=rank)


def _cost(load: Load, split: Load, total: Load, share: float, sign: int = 1) -> float:
    """Return how much further from its share a split gets by taking a document, or losing it (`sign` -1)."""
    if not share:
        return inf
    cost = _chi_square(sign * load.sentences, split.sentences, total.sentences * share)
    for kind, count in load.types.items():
        cost += _chi_square(sign * count, split.types[kind], total.types[kind] * share)
    return cost


def _chi_square(added: int, count: int, wanted: float) -> float:
    """Return by how much (count - wanted)² / wanted grows when something is added."""
    return added * (added + 2 * (count - wanted)) / wanted if added else 0.0


def _split_row(name: str, counts: Sequence[int]) -> Row:
    total = sum(counts)
    return (name, *counts, total, *(percentage(count, total) for count in counts))
