"""Differences between models and ways of decoding, over seeds and documents together, corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nestag.evaluation.counts import FEWEST_DOCUMENTS
from nestag.inspect.tables import Figure, Row, Section, Table
from nestag_lab.experiment.pack import Pack
from nestag_lab.experiment.result import Key
from nestag_lab.experiment.spec import GREEDY, WAYS
from nestag_lab.paper.paired import Difference, UnitCounts, difference, holm
from nestag_lab.paper.runs import in_order

COLUMNS = ("first", "second", "of", "seeds", "drawn", "difference", "low", "high", "p", "p corrected")


class ComparedModel(NamedTuple):
    """What is compared: a model and the way it is decoded."""

    corpus: str
    encoder: str
    recipe: str
    encoding: str
    way: str


class Compared(NamedTuple):
    """Two of them, and what was found."""

    first: ComparedModel
    second: ComparedModel
    found: Difference
    documents: bool  # whether documents were drawn


def differences_table(pack: Pack) -> Table:
    """Constrained less greedy decoding of the same models, and dyn less rel decoded alike."""
    compared = list(comparisons(pack))
    corrected = holm([one.found.p for one in compared])
    sections: dict[str, list[Row]] = {}
    for one, p in zip(compared, corrected, strict=True):
        sections.setdefault(f"{one.first.corpus}: {one.first.encoder}, {one.first.recipe}", []).append(_row(one, p))
    parts = tuple(Section(title, tuple(rows)) for title, rows in sections.items())
    return Table("Differences in F1 on test", COLUMNS, parts, NOTE)


NOTE = (
    "F1 of the first less that of the second, in points: the mean over seeds ± sample deviation, with the 95 % interval"
    " of drawing seeds and documents (sentences, where there are fewer than five documents) with replacement. p is of"
    " approximate randomization over the same documents or sentences, never 0; p corrected is Holm's over all rows of"
    " this table. A large p does not say that two are equal; the interval says how far apart they may be."
)


def comparisons(pack: Pack) -> Iterator[Compared]:
    """Everything that is compared, in a fixed order."""
    setups = sorted({(key.corpus, key.encoder, key.recipe) for key in pack.counts})
    for setup in setups:
        keys = [key for key in pack.counts if (key.corpus, key.encoder, key.recipe) == setup]
        encodings = in_order(key.encoding for key in keys)
        for encoding in encodings:
            for over in GREEDY:
                yield from _compared(
                    pack, ComparedModel(*setup, encoding, "constrained"), ComparedModel(*setup, encoding, over)
                )
        for way in WAYS:
            yield from _compared(pack, ComparedModel(*setup, "dyn", way), ComparedModel(*setup, "rel", way))


def _compared(pack: Pack, first: ComparedModel, second: ComparedModel) -> Iterator[Compared]:
    """The two compared, if there are runs of both with equal seeds."""
    seeds = sorted(_seeds(pack, first) & _seeds(pack, second))
    if not seeds:
        return
    gold = pack.gold[first.corpus]
    counts = [_counts(pack, side, seeds) for side in (first, second)]
    documents = len(np.unique(gold.documents)) >= FEWEST_DOCUMENTS
    if documents:
        counts = [one.by_document(gold.documents) for one in counts]
    yield Compared(first, second, difference(*counts), documents)


def _seeds(pack: Pack, side: ComparedModel) -> set[int]:
    model = (side.corpus, side.encoder, side.encoding, side.recipe)
    return {key.seed for key, ways in pack.counts.items() if key[:4] == model and side.way in ways}


def _counts(pack: Pack, side: ComparedModel, seeds: Sequence[int]) -> UnitCounts:
    """The counts of a side, one row a seed."""
    keys = [Key(side.corpus, side.encoder, side.encoding, side.recipe, seed) for seed in seeds]
    found = [pack.counts[key][side.way] for key in keys]
    correct, predicted = (np.stack([one[part] for one in found]) for part in range(2))
    return UnitCounts(correct, predicted, pack.gold[side.corpus].gold)


def _row(one: Compared, corrected: float) -> Row:
    first, second, found = one.first, one.second, one.found
    ways = first.way != second.way
    names = (first.way, second.way, first.encoding) if ways else (first.encoding, second.encoding, first.way)
    drawn = f"{found.units:,} {'documents' if one.documents else 'sentences'}"
    deviation = None if found.deviation is None else 100 * found.deviation
    mean = Figure(100 * found.mean, deviation, found.seeds, "+.2f")
    ends = (Figure(100 * end, form="+.2f") for end in found.interval)
    return (*names, found.seeds, drawn, mean, *ends, Figure(found.p, form=".4f"), Figure(corrected, form=".4f"))
