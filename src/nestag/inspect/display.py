"""Corpus statistics, label coverage and splits as tables; corpora in notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nestag.data.sentence import Sentence
from nestag.inspect.coverage import Coverage, Covered
from nestag.inspect.rendering import Drawing, Html, render
from nestag.inspect.splitting import Load, sum_of
from nestag.inspect.statistics import SPANS, TRAIN, Statistics
from nestag.inspect.table_forms import to_html
from nestag.inspect.tables import Cell, Percent, Row, Section, Table, percent

ALL = "all"
SHOWN_TYPES = 10  # of a corpus in a notebook
SHOWN_SENTENCES = 5
AT_DEPTH = "% of entities at depth"
OF_LENGTH = "% of entities of length"
DEPTH_NOTE = "Depth counts from 0: an entity at depth 0 is in no other entity, at depth 1 in one other."
WAYS = {True: "same-span types as annotated", False: "same-span types in the learned order"}


def summary_table(sentences: Sequence[Sentence]) -> Table:
    """Return the size of a corpus, with a row for each of its most frequent types.

    >>> from nestag.data.sentence import Entity
    >>> from nestag.inspect.table_forms import to_text
    >>> print(to_text(summary_table([Sentence(["the", "USA"], [Entity(0, 2, "GPE")])])))
    corpus     count
    ────────────────
    sentences      1
    tokens         2
    entities       1
    <BLANKLINE>
    entities of type
    GPE            1
    <BLANKLINE>
    """
    types = Counter(entity.type for sentence in sentences for entity in sentence.entities)
    rows: list[Row] = list(types.most_common(SHOWN_TYPES))
    if len(types) > SHOWN_TYPES:
        rest = types.total() - sum(count for _, count in types.most_common(SHOWN_TYPES))
        rows.append((f"{len(types) - SHOWN_TYPES} other types", rest))
    sizes = ("sentences", len(sentences)), ("tokens", sum(map(len, sentences))), ("entities", types.total())
    sections = [Section("", sizes), *([Section("entities of type", tuple(rows))] if rows else [])]
    return Table("", ("corpus", "count"), tuple(sections))


def draw_corpus(sentences: Sequence[Sentence]) -> Drawing:
    """Draw the size of a corpus and its first sentences as HTML, for a notebook."""
    first = "".join(render(sentence).html for sentence in sentences[:SHOWN_SENTENCES])
    return Drawing(Html(to_html(summary_table(sentences)) + first))


def corpus_table(statistics: Mapping[str, Statistics], types: bool = False) -> Table:
    """Return a column for each split of a corpus and one for all of them."""
    columns = dict(statistics)
    if len(statistics) > 1:
        columns[ALL] = sum(statistics.values(), Statistics())
    splits = list(columns.values())
    sections = [*statistics_sections(splits), Section("worth a look", _worth_a_look(columns))]
    if types:
        in_all = splits[-1]
        by_count = sorted(in_all.types, key=lambda kind: (-in_all.types[kind], kind))
        sections.append(
            Section("entities of type", tuple((kind, *(s.types[kind] for s in splits)) for kind in by_count))
        )
    return Table("Corpus statistics", ("characteristic", *columns), tuple(sections), DEPTH_NOTE)


def statistics_sections(columns: Sequence[Statistics], deepest: int = 0, first_depth: int = 0) -> list[Section]:
    """Return the figures of the paper's table, a column for each of some statistics, down to `deepest` at least.

    The paper counts the mean, median and largest depth from 1: `first_depth` does the same.
    """
    deepest = max([deepest, *(depth for s in columns for depth in s.depths)])
    return [
        Section("", _overview(columns, first_depth)),
        Section(AT_DEPTH, _shares_by_depth(columns, deepest)),
        Section(OF_LENGTH, _shares_by_length(columns)),
    ]


def _overview(columns: Sequence[Statistics], first_depth: int) -> tuple[Row, ...]:
    def depth(name: str, depths: Iterable[float | None]) -> Row:
        start = f"depth from {first_depth}" if first_depth else "depth"
        return f"{start}, {name}", *(None if depth is None else depth + first_depth for depth in depths)

    return (
        ("sentences", *(s.sentences for s in columns)),
        ("tokens", *(s.tokens for s in columns)),
        ("sentence length, mean", *(s.mean_length for s in columns)),
        ("sentence length, deviation", *(s.length_deviation for s in columns)),
        ("entity types", *(len(s.types) for s in columns)),
        ("entities", *(s.entities for s in columns)),
        depth("mean", (s.mean_depth for s in columns)),
        depth("median", (whole(s.median_depth) for s in columns)),
        depth("largest", (s.largest_depth for s in columns)),
    )


def _shares_by_depth(columns: Sequence[Statistics], deepest: int) -> tuple[Row, ...]:
    return tuple((str(depth), *(percent(s.share_at(depth)) for s in columns)) for depth in range(deepest + 1))


def _shares_by_length(columns: Sequence[Statistics]) -> tuple[Row, ...]:
    return tuple((span_name(*span), *(percent(s.share_of(*span)) for s in columns)) for span in SPANS)


def span_name(least: int, most: int | None) -> str:
    """Return a range of lengths in words.

    >>> span_name(1, 1), span_name(2, 4), span_name(10, None)
    ('1 token', '2 to 4 tokens', '≥ 10 tokens')
    """
    if least == most:
        return f"{least} token{'s' * (least > 1)}"
    return f"≥ {least} tokens" if most is None else f"{least} to {most} tokens"


def _worth_a_look(columns: Mapping[str, Statistics]) -> tuple[Row, ...]:
    splits = columns.values()
    seen = [None if name == TRAIN or TRAIN not in columns else s.in_train for name, s in columns.items()]
    return (
        ("crossing pairs", *(s.crossing for s in splits)),
        ("entities that share their span", *(s.same_span for s in splits)),
        ("duplicate entities merged", *(s.duplicates for s in splits)),
        ("sentences repeated in the split", *(s.repeated for s in splits)),
        ("sentences that train has too", *seen),
    )


def whole(number: float | None) -> float | int | None:
    """Return a whole number as an integer."""
    return int(number) if number is not None and number == int(number) else number


def coverage_table(coverage: Covered, others: Sequence[str]) -> Table:
    """Return the table of one corpus, with both orders of types over the same tokens."""
    return Table("Label coverage", coverage_columns(others), tuple(coverage_sections(coverage, others)))


def coverage_columns(others: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table of label coverage."""
    shares = [f"{name} %" for name in others] + [f"{name} recall %" for name in others]
    return ("encoding", "n", "c", "u", "new n", "new c", "new u", *shares, "absolute %", "absolute sentences %")


def coverage_sections(coverage: Covered, others: Sequence[str]) -> list[Section]:
    """Return the coverage of one corpus, a section for each order of same-span types."""
    return [
        Section(title, tuple(_coverage_row(row, others) for row in coverage.rows if row.annotated is annotated))
        for annotated, title in WAYS.items()
    ]


def _coverage_row(row: Coverage, others: Sequence[str]) -> Row:
    shares: list[Cell] = [percent(row.reach[name].covered) if name in row.reach else None for name in others]
    shares += [percent(row.reach[name].recall) if name in row.reach else None for name in others]
    absolute = percent(row.absolute_labels), percent(row.absolute_sentences)
    return (row.encoding, *row.labels, *row.missing, *shares, *absolute)


def split_table(splits: Mapping[str, Load]) -> Table:
    """Return what each split holds, and in percent."""
    loads, total = list(splits.values()), sum_of(splits.values())
    kinds = sorted(total.types, key=lambda kind: (-total.types[kind], kind))
    overview = (
        _split_row("documents", [load.documents for load in loads]),
        _split_row("sentences", [load.sentences for load in loads]),
        _split_row("tokens", [load.tokens for load in loads]),
        _split_row("entities", [load.types.total() for load in loads]),
    )
    by_type = tuple(_split_row(kind, [load.types[kind] for load in loads]) for kind in kinds)
    columns = ("", *splits, ALL, *(f"{name} %" for name in splits))
    return Table("Splits", columns, (Section("", overview), Section("entities of type", by_type)))


def _split_row(name: str, counts: Sequence[int]) -> Row:
    total = sum(counts)
    shares = (Percent(100 * count / total) if total else None for count in counts)
    return (name, *counts, total, *shares)
