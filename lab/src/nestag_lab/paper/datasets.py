"""The paper's tables of datasets and of label coverage, each corpus followed by the paper's own figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nestag.inspect.statistics import AT_DEPTH, OF_LENGTH, SPANS, Statistics, span_name, statistics_sections, whole
from nestag.inspect.tables import Cell, Figure, Percent, Row, Section, Table
from nestag_lab.corpora.coverage import Covered, coverage_columns, coverage_sections
from nestag_lab.paper.published import Dataset, LabelFigures, published, published_name


def datasets_table(corpora: Mapping[str, Mapping[str, Statistics]]) -> Table:
    """Return the table of corpora, all splits of each together, with the paper's figures."""
    ours = [sum(splits.values(), Statistics()) for splits in corpora.values()]
    theirs = [published_name(corpus, words=False) for corpus in corpora]
    columns = ["characteristic"]
    for corpus, name in zip(corpora, theirs, strict=True):
        columns += [corpus] if name is None else [corpus, f"{corpus}, paper"]
    known = [None if name is None else published().datasets[name] for name in theirs]
    reported = [None if one is None else reported_cells(one) for one in known]
    deepest = max((len(one.depths) - 1 for one in known if one), default=0)
    sections = tuple(
        Section(title, tuple(_beside(_from_1(row), title, reported) for row in rows))
        for title, rows in statistics_sections(ours, deepest)
    )
    return Table("Corpora (table 8 of the paper)", tuple(columns), sections, STATISTICS_NOTE)


STATISTICS_NOTE = (
    "All splits of a corpus together. As in the paper, the depth of an entity is the number of entities that contain it"
    " or have the same span. Mean, median and largest depth are counted from 1. The paper's shares of lengths are close"
    " to those of the test split alone, with each entity counted as one token shorter and without entities of one"
    " token: on GENIA 1,819, 1,469, 164 and 13 of 3,465. All deviations are population deviations."
)
ReportedCells = Mapping[tuple[str, str], Cell]


def _from_1(row: Row) -> Row:
    """Count depths from 1, as the paper does."""
    name, *depths = row
    if not str(name).startswith("depth, "):
        return row
    return (f"depth from 1, {str(name)[7:]}", *(d + 1 if isinstance(d, int | float) else d for d in depths))


def _beside(row: Row, section: str, reported: Sequence[ReportedCells | None]) -> Row:
    """Return a row with the paper's cells after ours."""
    name = str(row[0])
    cells: list[Cell] = [name]
    for cell, theirs in zip(row[1:], reported, strict=True):
        cells += [cell] if theirs is None else [cell, theirs.get((section, name))]
    return tuple(cells)


def reported_cells(dataset: Dataset) -> ReportedCells:
    """Return the paper's figures for a corpus, by section and characteristic."""
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


def labels_table(corpora: Mapping[str, Covered]) -> Table:
    """Return the table of label coverage, with the paper's figures after each corpus."""
    others = tuple(dict.fromkeys(split for found in corpora.values() for row in found.rows for split in row.reach))
    sections: list[Section] = []
    for corpus, found in corpora.items():
        sections += [Section(f"{corpus}: {title}", rows) for title, rows in coverage_sections(found, others)]
        name = published_name(corpus, words=False)
        if name is not None:
            rows = tuple(_reported_row(by, labels, others) for by, labels in published().labels[name].items())
            sections.append(Section(f"{corpus}: paper", rows))
    return Table("Label coverage (table 1 of the paper)", coverage_columns(others), tuple(sections), COVERAGE_NOTE)


COVERAGE_NOTE = (
    "n, c and u: number of distinct values in the training split, including the empty u. New: values that only other"
    " splits have. %: labels of a split that the training split covers. Recall %: entities that decoding can still"
    " find. Absolute: share of labels and sentences for which dyn writes n absolutely. The counts of n agree with the"
    " paper for abs, rel and dyn. The paper counts more values of c and u, because its files keep duplicate entities"
    " (33 in GENIA) and because it joins types of the same span (14% of NNE's entities) in the order of annotation. n"
    " of 4tg can have at most six values. We do not know why the paper counts 8 and 13 on ACE and NNE."
)


def _reported_row(encoding: str, labels: LabelFigures, others: Sequence[str]) -> Row:
    covered: dict[str, Cell] = {"dev": _printed(labels.dev), "test": _printed(labels.test)}
    shares: list[Cell] = [covered.get(name) for name in others]
    absolute = labels.absolute_labels, labels.absolute_sentences
    return (encoding, *labels.labels, *labels.missing, *shares, *[None] * len(others), *absolute)


def _printed(share: float | str) -> Percent:
    """Return a share as the paper prints it; `>99.99` becomes 99.995."""
    return Percent(99.995 if share == ">99.99" else share)
