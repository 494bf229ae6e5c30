"""The paper's table of datasets: several corpora side by side, each with the paper's own figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nestag.diagnosis.display import AT_DEPTH, OF_LENGTH, span_name, statistics_sections, whole
from nestag.diagnosis.statistics import SPANS, Statistics
from nestag.lab.paper.published import Dataset, published, published_name
from nestag.tables import Cell, Figure, Row, Section, Table


def datasets_table(corpora: Mapping[str, Mapping[str, Statistics]]) -> Table:
    """A column for each corpus, all its splits together, and beside it what the paper says of it."""
    ours = [sum(splits.values(), Statistics()) for splits in corpora.values()]
    theirs = [published_name(corpus, words=False) for corpus in corpora]
    columns = ["characteristic"]
    for corpus, name in zip(corpora, theirs, strict=True):
        columns += [corpus] if name is None else [corpus, f"{corpus}, paper"]
    known = [None if name is None else published().datasets[name] for name in theirs]
    reported = [None if one is None else reported_cells(one) for one in known]
    deepest = max((len(one.depths) - 1 for one in known if one), default=0)
    sections = tuple(
        Section(title, tuple(_beside(row, title, reported) for row in rows))
        for title, rows in statistics_sections(ours, deepest)
    )
    return Table("Corpora (table 8 of the paper)", tuple(columns), sections, NOTE)


NOTE = (
    "All splits of a corpus together. Depth is the number of entities that contain an entity or have its span, as the"
    " paper counts it; mean, median and largest are counted from 1. The paper's shares of lengths are near those of the"
    " test split alone, counted one token short and with entities of one token left out: on GENIA 1,819, 1,469, 164 and"
    " 13 of 3,465. Deviations are of a population, the paper's and ours."
)
ReportedCells = Mapping[tuple[str, str], Cell]


def _beside(row: Row, section: str, reported: Sequence[ReportedCells | None]) -> Row:
    """A row with the paper's cell after each of ours that it has one for."""
    name = str(row[0])
    cells: list[Cell] = [name]
    for cell, theirs in zip(row[1:], reported, strict=True):
        cells += [cell] if theirs is None else [cell, theirs.get((section, name))]
    return tuple(cells)


def reported_cells(dataset: Dataset) -> ReportedCells:
    """What the paper says of a corpus, by section and characteristic."""
    depth, length = dataset.depth, dataset.length
    plain: dict[str, Cell] = {
        "sentences": dataset.sentences,
        "sentence length, mean": Figure(length.mean, form=".1f"),
        "sentence length, deviation": None if length.deviation is None else Figure(length.deviation, form=".1f"),
        "entity types": dataset.types,
        "entities": dataset.entities,
        "depth from 1, mean": depth.mean,
        "depth from 1, median": whole(depth.median),
        "depth from 1, largest": depth.largest,
    }
    return {
        **{("", name): cell for name, cell in plain.items()},
        **{(AT_DEPTH, str(depth)): share for depth, share in enumerate(dataset.depths)},
        **{(OF_LENGTH, span_name(*span)): share for span, share in zip(SPANS, dataset.lengths, strict=True)},
    }
