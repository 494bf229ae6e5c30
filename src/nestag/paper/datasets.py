"""The paper's table of datasets: of one corpus split by split, and of several side by side with the paper's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nestag.diagnosis.statistics import SPANS, TRAIN, Statistics
from nestag.paper.published import Dataset, published, published_name
from nestag.tables import Cell, Figure, Row, Section, Table, percent

ALL = "all"


def corpus_table(found: Mapping[str, Statistics], types: bool = False) -> Table:
    """A column for each split of a corpus and one for all of them."""
    columns = dict(found)
    if len(found) > 1:
        columns[ALL] = sum(found.values(), Statistics())
    every = list(columns.values())
    sections = [*_sections(every), Section("worth a look", _worth_a_look(columns))]
    if types:
        in_all = every[-1]
        by_count = sorted(in_all.types, key=lambda kind: (-in_all.types[kind], kind))
        sections.append(
            Section("entities of type", tuple((kind, *(s.types[kind] for s in every)) for kind in by_count))
        )
    return Table("Corpus statistics", ("characteristic", *columns), tuple(sections))


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
        Section(title, tuple(_beside(row, title, reported) for row in rows)) for title, rows in _sections(ours, deepest)
    )
    return Table("Corpora (table 8 of the paper)", tuple(columns), sections, NOTE)


NOTE = (
    "All splits of a corpus together. Depth is the number of entities that contain an entity or have its span, as the"
    " paper counts it; mean, median and largest are counted from 1."
)
Reported = Mapping[tuple[str, str], Cell]


def _beside(row: Row, section: str, reported: Sequence[Reported | None]) -> Row:
    """A row with the paper's cell after each of ours that it has one for."""
    name = str(row[0])
    cells: list[Cell] = [name]
    for cell, theirs in zip(row[1:], reported, strict=True):
        cells += [cell] if theirs is None else [cell, theirs.get((section, name))]
    return tuple(cells)


AT_DEPTH = "% of entities at depth"
OF_LENGTH = "% of entities of length"


def reported_cells(dataset: Dataset) -> Reported:
    """What the paper says of a corpus, by section and characteristic."""
    depth, length = dataset.depth, dataset.length
    plain: dict[str, Cell] = {
        "sentences": dataset.sentences,
        "sentence length, mean": Figure(length.mean, form=".1f"),
        "sentence length, deviation": None if length.deviation is None else Figure(length.deviation, form=".1f"),
        "entity types": dataset.types,
        "entities": dataset.entities,
        "depth from 1, mean": depth.mean,
        "depth from 1, median": _whole(depth.median),
        "depth from 1, largest": depth.largest,
    }
    return {
        **{("", name): cell for name, cell in plain.items()},
        **{(AT_DEPTH, str(depth)): share for depth, share in enumerate(dataset.depths)},
        **{(OF_LENGTH, span_name(*span)): share for span, share in zip(SPANS, dataset.lengths, strict=True)},
    }


def _sections(columns: Sequence[Statistics], deepest: int = 0) -> list[Section]:
    """What the paper's table has, a column for each of some statistics, down to some depth or what there is."""
    deepest = max([deepest, *(depth for s in columns for depth in s.depths)])
    return [
        Section("", _overview(columns)),
        Section(AT_DEPTH, _shares_by_depth(columns, deepest)),
        Section(OF_LENGTH, _shares_by_length(columns)),
    ]


def _overview(columns: Sequence[Statistics]) -> tuple[Row, ...]:
    return (
        ("sentences", *(s.sentences for s in columns)),
        ("tokens", *(s.tokens for s in columns)),
        ("sentence length, mean", *(s.mean_length for s in columns)),
        ("sentence length, deviation", *(s.length_deviation for s in columns)),
        ("entity types", *(len(s.types) for s in columns)),
        ("entities", *(s.entities for s in columns)),
        ("depth from 1, mean", *(s.mean_depth for s in columns)),
        ("depth from 1, median", *(_whole(s.median_depth) for s in columns)),
        ("depth from 1, largest", *(s.largest_depth for s in columns)),
    )


def _shares_by_depth(columns: Sequence[Statistics], deepest: int) -> tuple[Row, ...]:
    return tuple((str(depth), *(percent(s.share_at(depth)) for s in columns)) for depth in range(deepest + 1))


def _shares_by_length(columns: Sequence[Statistics]) -> tuple[Row, ...]:
    return tuple((span_name(*span), *(percent(s.share_of(*span)) for s in columns)) for span in SPANS)


def span_name(least: int, most: int | None) -> str:
    """A group of lengths in words.

    >>> span_name(1, 1), span_name(2, 4), span_name(10, None)
    ('1 token', '2 to 4 tokens', '≥ 10 tokens')
    """
    if least == most:
        return f"{least} token{'s' * (least > 1)}"
    return f"≥ {least} tokens" if most is None else f"{least} to {most} tokens"


def _worth_a_look(columns: Mapping[str, Statistics]) -> tuple[Row, ...]:
    splits = columns.values()
    seen = [None if name == TRAIN or TRAIN not in columns else one.in_train for name, one in columns.items()]
    return (
        ("crossing pairs", *(s.crossing for s in splits)),
        ("entities that share their span", *(s.same_span for s in splits)),
        ("duplicate entities merged", *(s.duplicates for s in splits)),
        ("sentences repeated in the split", *(s.repeated for s in splits)),
        ("sentences that train has too", *seen),
    )


def _whole(number: float | None) -> float | int | None:
    """A whole number without its zeros."""
    return int(number) if number is not None and number == int(number) else number
